"""Whether a file can be written where it is wanted, asked before anything is computed."""

from __future__ import annotations

import os
from pathlib import Path

from tightcut.files.errors import InputError
from tightcut.utils.atomic import resolved, temporary_beside


def check_folder(path: Path) -> None:
    """Raise InputError if no file of this name can be written in its folder, existing or new.

    Permissions alone do not tell: a file system may be read-only, or the name too long. So a file is made, and removed.
    """
    target = resolved(path)
    folder = target.parent
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{path} cannot be written: {folder} is a file, not a folder. Choose another name.")
    if not folder.is_dir():
        raise InputError(f"The folder {folder} does not exist. Create it first: mkdir -p {folder}")
    try:
        handle, temporary = temporary_beside(target)
    except PermissionError:
        raise InputError(f"You have no permission to write to the folder {folder}; choose another one.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}. Choose another name or folder.") from error
    os.close(handle)
    temporary.unlink()
