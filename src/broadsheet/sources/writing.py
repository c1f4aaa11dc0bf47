"""Papers as files for other programs: one writer a format, each of which streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import cast

from broadsheet.errors import InputError
from broadsheet.model import Paper

Writer = Callable[[Iterable[Paper]], Iterator[str]]
_WRITERS = {
    "bibtex": "bibtex",
    "ris": "out_ris",
    "csl": "out_csl",
    "csv": "out_csv",
    "jsonl": "out_jsonl",
    "markdown": "out_markdown",
}
FORMS = tuple(_WRITERS)
ENDINGS = {".bib": "bibtex", ".ris": "ris", ".json": "csl", ".csv": "csv", ".jsonl": "jsonl", ".md": "markdown"}
"""Which format a file's name asks for."""


def writer(form: str) -> Writer:
    """The writer of a format. Raises InputError for one that does not exist."""
    if form not in _WRITERS:
        raise InputError(f"no format {form!r} to export to; there are {', '.join(FORMS)}")
    module = import_module(f"broadsheet.sources.{_WRITERS[form]}")
    return cast(Writer, module.write)
