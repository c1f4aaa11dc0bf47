"""The name of a file as a source, and the keys of its entries."""

from __future__ import annotations

import re

from broadsheet.model import Record
from broadsheet.sources.jsonl import digest_of

_LONGEST = 200
_ENDINGS = re.compile(
    r"(\.(jsonl|ndjson|json|txt|text|gz|zst|bz2|xz|bib|bibtex|biblatex|ris|nbib|enw|ciw|isi|csv|tsv|tab|xlsx|xlsm|xml"
    r"|rdf|sqlite))+$",
    re.IGNORECASE,
)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # lone surrogates stand for bytes of a name that are no UTF-8
_COPY = re.compile(r" ?\(\d+\)$")


def source_of(name: str, kind: str = "jsonl") -> str:
    """``kind:`` and the file's name without endings and without a copy's " (1)"; what no database takes is U+FFFD."""
    stem = _UNSTORABLE.sub("\ufffd", _COPY.sub("", _ENDINGS.sub("", name)).strip())
    return f"{kind}:{stem or 'file'}"


class Keys:
    """Keys of one file's entries: stable, and one for each, even where the file gives one id to several."""

    def __init__(self) -> None:
        """Of a file of which nothing was read yet."""
        self._seen: dict[str, str] = {}

    def key(self, text: str, record: Record) -> str:
        """The key of an entry that the file calls ``text``, which may be empty; two equal entries have one key.

        A running number says nothing outside its file, so the title's digest is added to it.
        """
        if not text:
            key = str(record.identifiers[0]) if record.identifiers else digest_of(record.raw)
        elif len(text) > _LONGEST:
            key = digest_of(text)
        else:
            key = f"{text}#{digest_of(record.title)[:10]}" if text.isdecimal() else text
        digest = digest_of(record.raw)
        if self._seen.setdefault(key, digest) != digest:
            key = f"{key}#{digest[:10]}"
        return key
