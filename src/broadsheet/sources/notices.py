"""What publishers write into titles: ``RETRACTED: …``, ``Retracted Article: …``, ``WITHDRAWN: …``.

A mark stands on the work itself. "Retraction notice to: …" and "Expression of Concern: …" are titles of the notices,
which are works of their own, and stay as they are.
"""

from __future__ import annotations

import re

from broadsheet.model import Notice, NoticeKind

_BEFORE = re.compile(
    r"\s*[\[(<]?\s*(?:(?P<retracted>retracted)(?:\s+(?:article|paper|chapter|publication))?|(?P<withdrawn>WITHDRAWN))"
    r"(?:\s*[\])>]\s*[:.–—-]?|\s*[:：]|\s+[–—-]\s)\s*(?=\S)",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\s*[\[(]\s*retracted(?:\s+(?:article|paper)\b[^\])]*)?\s*[\])]\s*$", re.IGNORECASE)


def without_mark(title: str) -> tuple[str, tuple[Notice, ...]]:
    """A title without the publisher's mark, and the notice that the mark stands for."""
    if found := _BEFORE.match(title):
        # In small letters the word may well be the title's own ("Withdrawn: a novel").
        if found["withdrawn"] and not found["withdrawn"].isupper():
            return title, ()
        kind = NoticeKind.WITHDRAWN if found["withdrawn"] else NoticeKind.RETRACTED
        return title[found.end() :], (Notice(kind),)
    if (found := _AFTER.search(title)) and (rest := title[: found.start()].rstrip()):
        return rest, (Notice(NoticeKind.RETRACTED),)
    return title, ()


def united(*groups: tuple[Notice, ...]) -> tuple[Notice, ...]:
    """One notice of each kind and reason; one that gives neither reason nor day yields to one that does."""
    found = list(dict.fromkeys(notice for group in groups for notice in group))
    told = {notice.kind for notice in found if notice.reason or notice.day}
    return tuple(n for n in found if n.reason or n.day or n.kind not in told)
