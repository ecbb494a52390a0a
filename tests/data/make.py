"""What version 0.6.0 saved and answered: `python tests/data/make.py` made the files beside this one.

| folder | what is in it |
|---|---|
| inputs | tables to cluster, and pairs |
| models | files of `COSC.save` and `tightcut cluster --save`; of each, what it knew and predicted |
| journals | answers to `tightcut.ask.Session` and to a session of `resolve`; of each, what followed from them |
| outputs | what commands printed and wrote |

A file is written only where there is none: what is frozen is never replaced by what a later version makes. To freeze
something new, add it here; to freeze something anew, which a user would notice, delete its files and say why in the
changelog. `tests/contract/test_frozen.py` reads all of it with the present version.
"""

import csv
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from data.saved import (
    CANNOT,
    CLASSES,
    INPUTS,
    JOURNALS,
    MODELS,
    MUST,
    N_NEW,
    N_OLD,
    OUTPUTS,
    SAVED,
    WRITTEN,
    working_folder,
)  # fmt: skip
from data.seen import COMMANDS, of_command, seen_command, seen_journal, seen_model


def main():
    for folder in (INPUTS, MODELS, JOURNALS, OUTPUTS):
        folder.mkdir(exist_ok=True)
    make_inputs()
    for name, make in SAVED.items():
        if not (MODELS / f"{name}.tcut").exists():
            make().save(MODELS / f"{name}.tcut")
    save_by_command()
    for path in sorted(MODELS.glob("*.tcut")):
        write_once(path.with_suffix(".json"), lambda path=path: seen_model(path))
    for name, make in WRITTEN.items():
        if not (JOURNALS / f"{name}.jsonl").exists():
            make(JOURNALS / f"{name}.jsonl")
    for path in sorted(JOURNALS.glob("*.jsonl")):
        write_once(path.with_suffix(".json"), lambda path=path: seen_journal(path))
    for name in COMMANDS:
        write_once(OUTPUTS / f"{name}.json", lambda name=name: seen_command(name))


def write_once(path, make):
    if not path.exists():
        path.write_text(json.dumps(make(), ensure_ascii=False) + "\n", encoding="utf-8")
        print(path.parent.name, path.name, path.stat().st_size)


def make_inputs():
    """Three overlapping groups of points, decimals with two digits; everything else follows from them."""
    rng = np.random.default_rng(60)
    classes = np.concatenate([np.repeat([0, 1, 2], N_OLD // 3), np.repeat([0, 1, 2], N_NEW // 3)])
    centres = np.array([[0, 0, 0], [5, 1, 2], [1, 6, -1]])
    X = np.round(centres[classes] + rng.normal(size=(len(classes), 3)) * [1.8, 1.8, 1.4], 2)
    known = [CLASSES[c] if row % 8 == 0 else "" for row, c in enumerate(classes)]
    rows = [[f"tree {row:02d}", *map(str, X[row]), CLASSES[c], known[row]] for row, c in enumerate(classes)]
    header = ["name", "x", "y", "z", "class", "known"]
    write_table("points", header, rows[:N_OLD])
    write_table("new", header[:4], [row[:4] for row in rows[N_OLD:]])
    D = np.round(np.abs(X[:N_OLD, None] - X[:N_OLD]).sum(axis=2), 2)
    write_table("distances", None, D.tolist())
    pairs = [(i, j) for i in range(N_OLD) for j in np.argsort(D[i], kind="stable")[1:7].tolist()]
    pairs = sorted({(min(pair), max(pair)) for pair in pairs})
    write_table("graph", ["source", "target", "weight"], [[i, j, round(10 / (1 + D[i, j]), 2)] for i, j in pairs])
    make_pairs([row[0] for row in rows])
    topics = np.array([[6, 3, 1, 0, 0, 1, 0, 0], [0, 1, 0, 5, 4, 0, 1, 0], [0, 0, 1, 0, 1, 1, 4, 6]])
    write_table("counts", None, rng.poisson(topics[classes] + 0.1).tolist())
    make_records(rng)


def make_pairs(names):
    spelled = [[names[i], names[j], "must"] for i, j in MUST] + [[names[i], names[j], "cannot"] for i, j in CANNOT]
    write_table("pairs", ["a", "b", "type"], spelled)
    doubted = [[*row, belief] for row, belief in zip(spelled, (0.9, 0.5, 1, 0.7, 0.75, 0.6, 0.8, 0.85), strict=True)]
    doubted += [
        [names[0], names[16], "must", 0.4],
        [names[1], names[3], "cannot", 0.3],
        [names[0], names[4], "cannot", 0.2],
    ]
    write_table("doubted", ["a", "b", "type", "belief"], doubted)
    corners = (names[1], names[17], names[33])
    write_table("triangle", ["a", "b", "type"], [[a, b, "cannot"] for a in corners for b in corners if a < b])
    write_table(
        "unknown", ["a", "b", "type"], [*spelled, ["tree 99", names[0], "must"], [names[3], names[3], "cannot"]]
    )
    new = [[names[50], names[17], "must"], [names[52], names[2], "cannot"], [names[52], names[30], "cannot"]]
    write_table("more", ["a", "b", "type"], [*new, [names[52], names[45], "cannot"]])
    labels = [[name, (row // 16 + (row % 7 == 0)) % 3] for row, name in enumerate(names[:N_OLD])]
    write_table("labels", ["name", "cluster"], labels)


def make_records(rng):
    """Scored pairs of twelve people with four records each, from four sources."""
    rows = []
    for i in range(48):
        for j in range(i + 1, min(i + 9, 48)):
            if rng.random() < 0.6:
                odds = rng.normal(2.5 if i // 4 == j // 4 else -2.5, 2.5)
                rows.append([f"r{i:02d}", f"r{j:02d}", round(1 / (1 + np.exp(-odds)), 4), "abcd"[i % 4], "abcd"[j % 4]])
    write_table("edges", ["id_l", "id_r", "match_probability", "source_l", "source_r"], rows)
    write_table("same", ["a", "b", "type"], [["r00", "r01", "must"], ["r04", "r09", "cannot"], ["r20", "r23", "must"]])


def write_table(name, header, rows):
    path = INPUTS / f"{name}.csv"
    if path.exists():
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([*([] if header is None else [header]), *rows])


def save_by_command():
    path = MODELS / "command.tcut"
    if not path.exists():
        with working_folder():
            of_command("cluster points.csv -k 3 --id name --drop class,known --constraints pairs.csv --save m.tcut")
            shutil.copy("m.tcut", path)


if __name__ == "__main__":
    os.environ.pop("TIGHTCUT_TRACEBACK", None)
    main()
