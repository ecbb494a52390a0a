"""Numbers of the README that are taken from tables are those of the tables."""

import csv
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
README, RESULTS = ROOT / "README.md", ROOT / "benchmarks" / "results"

pytestmark = pytest.mark.skipif(not RESULTS.exists(), reason="tests run outside the repository")


def rows(name):
    with (RESULTS / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def outcome(ratios):
    """Cuts over theirs, to a ten-thousandth."""
    smaller, larger = sum(ratio < 0.9999 for ratio in ratios), sum(ratio > 1.0001 for ratio in ratios)
    counts = {"smaller": smaller, "equal": len(ratios) - smaller - larger, "larger": larger}
    return {kind: count for kind, count in counts.items() if count}


def times_faster(own, column):
    return f"{sum(float(row['authors s']) for row in own) / sum(float(row[column]) for row in own):.0f} times"


def two_clusters():
    table = rows("two_clusters")
    full, fast = ([row for row in table if row["authors"] == mode] for mode in ("full", "fast"))
    ratios = [float(row["cut ratio (median)"]) for row in table]
    counts = outcome(ratios)
    words = [f"{counts['smaller']} cuts smaller, by up to {100 * (1 - min(ratios)):.0f} %"]
    words += [f"{counts['equal']} equal"]
    words += [f"{counts['larger']} larger, by {100 * (max(ratios) - 1):.1f} %"] if "larger" in counts else []
    return (
        f"| [{len(table)} problems](benchmarks/results/two_clusters.md) of two clusters | {', '.join(words)} | the authors' "
        f"program: {times_faster(full, 's')} slower on {len(full)} of them, {times_faster(fast, 's')} on the other "
        f"{len(fast)}, run in its fast setting |"
    )


def ten_clusters():
    table = rows("many_clusters_authors")
    counts = outcome([float(row["cut ratio"]) for row in table])
    words = [f"{counts['smaller']} cuts smaller", *(f"{n} {kind}" for kind, n in counts.items() if kind != "smaller")]
    full = [row for row in table if row["authors"] == "full"]
    ours, theirs = (sum(int(row[key]) for row in table) for key in ("violations, 5 seeds", "authors violations"))
    return (
        f"| [{len(table)} problems](benchmarks/results/many_clusters_authors.md) of ten clusters | {', '.join(words)}; "
        f"{'no' if ours == 0 else ours} pair violated | the authors' program: {times_faster(full, 's (median)')} slower on "
        f"{len(full)} of them, violates {theirs} pairs |"
    )


def scores(symmetrize, influence):
    own = [
        row for row in rows("many_clusters_peers") if (row["symmetrize"], row["influence"]) == (symmetrize, influence)
    ]
    return ", ".join(f"{float(row['ARI, seeds 100-119']):.2f}" for row in own)


def digits():
    first = [row for row in rows("many_clusters_peers") if (row["symmetrize"], row["influence"]) == ("maximum", "0")]
    best = [float(row["best others (ARI, runs)"].split(";")[0].split()[-2]) for row in first]
    return (
        "| digits, [200, 500 and 1000 pairs](benchmarks/results/many_clusters_peers.md) | adjusted Rand index "
        f"{scores('maximum', '0')}; [with `influence=1`](docs/howto/few_pairs.md) {scores('maximum', '1')} | best of "
        f"eighteen others: {', '.join(f'{score:.2f}' for score in best)} |"
    )


def proven():
    """The columns of names are bound over cut."""
    table = rows("certificates")
    own, authors = ([float(row[name]) for row in table if row[name]] for name in ("COSC", "authors"))
    return (
        f"| [{len(own)} problems](benchmarks/results/certificates.md) of two and three clusters | proven: the cut is at most "
        f"0.1 % above the smallest that respects the pairs on {sum(ratio >= 0.999 for ratio in own)}, at most "
        f"{100 * (1 / min(own) - 1):.1f} % on all | the authors' program: up to {100 * (1 / min(authors) - 1):.1f} % above the "
        f"bound on {len(authors)} of them |"
    )


def large_row(name, pairs):
    return next(row for row in rows("large") if (row["set"], row["pairs"]) == (name, str(pairs)))


def mnist():
    row = large_row("mnist", 10_000)
    two_threads = np.median([float(own["two threads s"]) for own in rows("threads") if own["set"] == "mnist"])
    return (
        f"| [MNIST](benchmarks/results/large.md), {int(row['n']):,} images, 10,000 pairs | {100 * float(row['error']):.1f} % "
        f"error; {row['neighbours s']} s for the graph, {row['cluster s']} s for ten clusters; "
        f"[two threads](benchmarks/results/threads.md) take {two_threads:.1f} s | |"
    )


def extended_mnist():
    row = large_row("extended_mnist", 10_000)
    return (
        f"| [extended MNIST](benchmarks/results/large.md), {int(row['n']):,} images, `influence=1` | "
        f"{100 * float(row['influence=1: error']):.1f} % error; {float(row['influence=1: s']):.0f} s and "
        f"{row['peak GiB']} GiB, given the graph | |"
    )


def on_a_gpu():
    own = [row for row in rows("gpu") if row["data"] == "extended_mnist" and row["measured"].endswith(", s")]
    seconds = {row["measured"]: float(row["result"]) for row in own}
    return (
        f"| the same [on one GPU](benchmarks/results/gpu.md) (H200), `influence=0` | {seconds['neighbour graph, s']:.1f} s for "
        f"the graph, {seconds['cluster, cuda, s']:.1f} s for ten clusters, at the same cut | 16 CPU cores: "
        f"{seconds['cluster, cpu, s']:.1f} s for the clusters |"
    )


def asking():
    index = {(row["method"], row["answers"]): float(row["ARI"]) for row in rows("asking") if row["set"] == "digits"}
    return (
        f"25 such\nanswers give an adjusted Rand index of {index['picks', '25']:.2f} and 100 give "
        f"{index['picks', '100']:.2f}, whereas 200 random pairs give {index['random pairs', '200']:.2f}."
    )


LINES = [two_clusters, ten_clusters, proven, digits, mnist, extended_mnist, on_a_gpu, asking]


@pytest.mark.parametrize("line", LINES)
def test_a_row_of_the_readme_is_what_its_table_says(line):
    assert line() in README.read_text(encoding="utf-8")


def test_the_page_on_few_pairs_has_the_same_digits():
    own = " | ".join(scores(*setting) for setting in (("maximum", "0"), ("maximum", "1"), ("mean", "1")))
    page = ROOT / "docs" / "howto" / "few_pairs.md"
    assert f"| digits, 20 draws | 1797 | 200, 500, 1000 | {own} |" in page.read_text(encoding="utf-8")


def test_words_of_outcomes():
    assert outcome(np.array([0.9, 1.0, 1.00005, 1.2])) == {"smaller": 1, "equal": 2, "larger": 1}
    assert outcome([1.0]) == {"equal": 1}
