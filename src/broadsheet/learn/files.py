"""Arrays in files that can be made again: written in one step, so that a reader finds the old ones or the new."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from broadsheet.errors import StoreError


def write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write arrays to a file by name (numpy's ``npz``, nothing pickled); its folder is made where it is missing.

    Raises StoreError where the file cannot be written; what was there stays.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}-", suffix=".new")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            Path(aside).replace(path)
        finally:
            Path(aside).unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error}; make room or correct the folder's permissions") from error
