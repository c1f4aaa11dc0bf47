"""What the tests of the search syntax share."""

from __future__ import annotations

from broadsheet.query import Field, Term

A, B, C, D = Term("a"), Term("b"), Term("c"), Term("d")
TI, AU = Field.TITLE, Field.AUTHOR
