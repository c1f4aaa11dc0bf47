"""What the tests of the client share."""

from __future__ import annotations

ARXIV = "export.arxiv.org"
QUERY = f"https://{ARXIV}/api/query"
