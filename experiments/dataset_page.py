"""The page of one dataset: its figure, who wins, ties and loses, and why. Every number is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.compare import compare, cut_ratios, finished, verdicts
from experiments.words import counted, extent, listed, markdown, outcome_table, statement

EQUAL = 1e-6  # relative: two cuts of the same partition differ by rounding
ROUNDED = 1e-3


def write_dataset_page(folder: Path, name: str, own: Any, problem: dict[str, Any]) -> None:
    """`own` are the rows of one dataset, `problem` what `problems.Prepared.facts` says of it, if that is known."""
    dataset, outcomes = own["dataset"].iloc[0], compare(own)
    lines = [f"# {dataset}\n", f"{size(problem)}{extent(own)}\n"]
    if (folder / f"{name}_{dataset}.png").exists():
        lines += [f"![{dataset}: error, cut and violated fraction]({name}_{dataset}.png)\n"]
    lines += [f"**Who wins.** {statement(outcomes, 'error')} {statement(outcomes, 'cut_if_satisfied')}\n"]
    reasons = [against_classes(own, problem), losses(own, problem), labelling(own), balance(own, problem)]
    lines += [f"**Why.** {' '.join(filter(None, reasons))}\n", *beside_the_paper(own)]
    lines += ["Mean error over the trials:\n", *error_table(own)]
    lines += [*outcome_table(outcomes), f"[All results](index.md), the [table]({name}.csv).\n"]
    (folder / f"{name}_{dataset}.md").write_text("\n".join(lines))


def size(problem: dict[str, Any]) -> str:
    if not problem:
        return ""
    return (
        f"{problem['points']:,} points with {counted(problem['features'], 'feature')}, {problem['classes']} classes, of which "
        f"the smallest holds {100 * problem['smallest_class']:.2g} % of the points; "
    )


def against_classes(own: Any, problem: dict[str, Any]) -> str:
    """Whether an error is the objective's: the classes satisfy all pairs, so that a smaller cut is preferred to them."""
    fits = finished(own, "COSC")
    if not problem or len(fits) == 0:
        return ""
    ratio = fits["cut"].to_numpy(dtype=float) / problem["cut_of_classes"]
    smaller, larger = int((ratio < 1 - EQUAL).sum()), int((ratio > 1 + EQUAL).sum())
    text = (
        f"The classes satisfy every pair and have a normalized cut of {problem['cut_of_classes']:.3f}. Of "
        f"{counted(len(fits), 'fit')}, COSC finds a smaller cut in {smaller}, the same in {len(fits) - smaller - larger} and a "
        f"larger one in {larger}."
    )
    if smaller:
        text += " Wherever its cut is smaller, an error is the objective's and not the search's."
    return text


def losses(own: Any, problem: dict[str, Any]) -> str:
    """Where another method has the smaller error, and what the cuts say there."""
    found = verdicts(own)
    lost = found[(found["measure"] == "error") & (found["verdict"] == "loss")]
    if len(lost) == 0:
        return "Its error is nowhere larger than that of another method."
    clauses = [f"{rival} (with {listed(cells['n_pairs'])} pairs)" for rival, cells in lost.groupby("rival", sort=False)]
    text = f"Its error is larger than that of {listed(clauses)}"
    cuts = finished(own, "COSC").groupby("n_pairs")["cut"].mean()
    if not problem:
        return f"{text}."
    preferred = int((cuts[lost["n_pairs"]].to_numpy(dtype=float) < problem["cut_of_classes"] * (1 - EQUAL)).sum())
    where = "all" if preferred == len(lost) else f"{preferred} of"
    return f"{text}; in {where} these {counted(len(lost), 'comparison')} its mean cut is below that of the classes."


def labelling(own: Any) -> str:
    """From which number of pairs on they leave no other labelling, if they ever do."""
    worst = finished(own, "COSC").groupby("n_pairs")["error"].max()
    if len(worst) == 0:
        return ""
    wrong = [number for number, error in worst.items() if error > 0]
    if not wrong:
        return "No fit has an error."
    later = [number for number in worst.index if number > wrong[-1]]
    if later:
        return f"From {later[0]:,} pairs on every fit finds the classes."
    last = finished(own, "COSC").query(f"n_pairs == {wrong[-1]}")["error"].mean()
    return f"Even {wrong[-1]:,} pairs do not fix the labelling: the mean error is then {last:.4f}."


def balance(own: Any, problem: dict[str, Any]) -> str:
    """How even the clusters are with the fewest pairs."""
    shares = finished(own, "COSC").dropna(subset=["smallest"]).groupby("n_pairs")["smallest"].mean()
    if len(shares) == 0:
        return ""
    number, share = shares.index[0], float(shares.iloc[0])
    text = f"With {number:,} pairs the smallest cluster of COSC holds {100 * share:.1f} % of the points on average"
    if problem and share < 0.8 * problem["smallest_class"]:
        return f"{text}: the smallest cut splits off a part that is smaller than any class."
    return f"{text}."


def beside_the_paper(own: Any) -> list[str]:
    """The search and the paper's own algorithm minimise the same cut."""
    ratio = cut_ratios(own, "paper", "COSC")
    if len(ratio) == 0:
        return []
    equal, smaller = np.abs(ratio - 1) <= ROUNDED, ratio < 1 - ROUNDED
    text = (
        f"**The paper's algorithm.** Its cut is {np.exp(np.log(ratio).mean()):.3f} times COSC's in the geometric mean over "
        f"{counted(len(ratio), 'fit')}, {ratio.max():.2f} times at most; within a thousandth in {int(equal.sum())}, smaller in "
        f"{int(smaller.sum())}, larger in {int(len(ratio) - equal.sum() - smaller.sum())}."
    )
    missed = int((finished(own, "paper")["violated"] > 0).sum())
    return [f"{text} {counted(missed, 'fit')} of {len(ratio)} violate pairs.\n" if missed else f"{text}\n"]


def error_table(own: Any) -> list[str]:
    methods = list(dict.fromkeys(own["method"]))
    means = own[own["status"] == "ok"].pivot_table("error", "n_pairs", "method", "mean").reindex(columns=methods)
    rows = ([f"{n:,}", *("-" if error != error else f"{error:.3f}" for error in row)] for n, row in means.iterrows())
    return markdown(["pairs", *methods], rows)
