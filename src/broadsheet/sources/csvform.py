"""The tables that Broadsheet writes: their columns, and cells that no spreadsheet takes for a formula."""

from __future__ import annotations

import re

COLUMNS = (
    *("id", "title", "authors", "year", "published", "venue", "kind", "doi", "arxiv", "openreview", "acl", "pmid"),
    *("url", "pdf", "code", "abstract", "keywords", "areas", "citations", "status", "added"),
    *("journal", "booktitle", "volume", "number", "pages", "publisher", "label", "note"),
)
SCREENING_COLUMNS = (
    *("record_id", "title", "abstract", "authors", "year", "venue", "doi", "arxiv", "openreview", "acl", "pmid"),
    *("url", "pdf", "keywords", "kind", "published", "volume", "number", "pages", "issn", "publisher"),
    *("file_note", "origin", "origin_key", "repeats", "included", "label_abstract"),
    *("label_full_text", "reasons", "screening_note", "screener", "decided", "chosen", "model"),
)
"""Columns of the records of a review; ``included`` and the bibliographic ones are named as ASReview reads them."""
MARK = ";"
"""Between the texts of one cell."""
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")


def guarded(cell: str) -> str:
    """A cell with an apostrophe in front where a spreadsheet would calculate it.

    These are the signs of OWASP's page on CSV injection. One that begins with apostrophes before such a sign gets
    one more, so that ``bare`` gives every cell back.
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def bare(cell: str) -> str:
    """The inverse of ``guarded``."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
