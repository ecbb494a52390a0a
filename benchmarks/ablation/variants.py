"""Variants of the source: copies of the package in which a few lines are replaced."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

PACKAGE = "tightcut"


class StaleError(Exception):
    """Text that a variant replaces does not occur exactly once."""


@dataclass(frozen=True)
class Edit:
    """In a file of the package, named relative to it, the text `old`, which occurs once, becomes `new`."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Variant:
    """A branch switched off, a stage left out, or a constant changed; measured on some instances, or on all."""

    name: str
    edits: tuple[Edit, ...] = ()
    instances: tuple[str, ...] = ()


UNCHANGED = Variant("unchanged")


def replaced(name: str, file: str, old: str, new: str, instances: tuple[str, ...] = ()) -> Variant:
    """A variant of a single edit."""
    return Variant(name, (Edit(file, old, new),), instances)


def edited(source: Path, variant: Variant) -> dict[str, str]:
    """The files of the package that a variant changes, with their new text."""
    texts: dict[str, str] = {}
    for edit in variant.edits:
        path = source / PACKAGE / edit.file
        text = texts.get(edit.file) or (path.read_text() if path.exists() else "")
        if text.count(edit.old) != 1:
            raise StaleError(f"{edit.file} has {text.count(edit.old)} times: {edit.old!r}")
        texts[edit.file] = text.replace(edit.old, edit.new)
    return texts


def digest(source: Path, texts: dict[str, str], room: str = "") -> str:
    """Of all modules of the package or of one room, some of them with new text."""
    package = source / PACKAGE
    found = sha256()
    for path in sorted((package / room).rglob("*.py")):
        name = path.relative_to(package).as_posix()
        found.update(name.encode() + b"\0" + texts.get(name, path.read_text()).encode() + b"\0")
    return found.hexdigest()[:12]


def make_copy(source: Path, variant: Variant, folder: Path) -> Path:
    """A copy of the source with the edits of a variant, below a folder; made once.

    The kernels of a copy are a link to a folder that all copies with the same kernels share, as they share what is compiled.
    """
    texts = edited(source, variant)
    copy, kernels = folder / digest(source, texts), folder / f"kernels-{digest(source, texts, 'kernels')}"
    if copy.exists():
        return copy
    partial = copy.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(source / PACKAGE, partial / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in texts.items():
        (partial / PACKAGE / name).write_text(text)
    if not kernels.exists():
        shutil.copytree(partial / PACKAGE / "kernels", kernels)
    shutil.rmtree(partial / PACKAGE / "kernels")
    (partial / PACKAGE / "kernels").symlink_to(kernels)
    return partial.rename(copy)
