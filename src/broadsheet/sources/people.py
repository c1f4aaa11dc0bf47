"""Lists of names that a source keeps apart itself, so that nothing has to be divided."""

from __future__ import annotations

import re
from collections.abc import Iterable

_CUT = re.compile(r"[,\s]*(?:\bet\.?\s*al\.?|\.\.\.|…|等人?|^others\.?)\s*$", re.IGNORECASE)


def kept_apart(names: Iterable[str]) -> tuple[tuple[str, ...], bool]:
    """The names as written, and whether the last one says that the list was cut (``et al.``, ``others``, 等)."""
    found = [name for name in names if name]
    shortened = _CUT.sub("", found[-1]) if found else ""
    if not found or shortened == found[-1]:
        return tuple(found), False
    return (*found[:-1], *filter(None, (shortened,))), True
