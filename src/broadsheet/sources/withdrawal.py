"""Whether an author's comment or abstract says that this very paper was withdrawn. Pure.

arXiv has no field for it: a withdrawal is a new version without files (https://info.arxiv.org/help/withdraw.html)
whose comment, or whose abstract, says so in free words. Papers *about* withdrawal, other papers, earlier versions and
withdrawals from a conference are not meant.
"""

from __future__ import annotations

import re

from broadsheet.model import Notice, NoticeKind

_NOUN = r"(?:e-?print|pre-?print|paper|article|manuscript|submission|work|version|note|draft|report|thesis|document)"
_VERB = r"(?:withdrawn|retracted)"
_BECAUSE = r"(?:by|due|because|as|since|for|owing|pending|until|from)"
# "withdrawn from ICLR" speaks of a conference.
_HERE = (
    r"\b(?!\s+from\s+(?!(?:the\s+)?(?:arxiv|archive|public))|[-\s]+(?:papers|articles|submissions|works|preprints)\b)"
)
_WAS = r"(?:(?:has|have)\s+(?:now\s+)?been|was|is|is\s+being|is\s+hereby|had\s+to\s+be)\s+(?:temporarily\s+)?"
_PASSIVE = rf"(?:(?:present|current|entire|whole|arxiv)\s+)?{_NOUN}\s+{_WAS}{_VERB}{_HERE}"
_ENDS = rf"(?:\s*(?:$|[.!,;:)\]])|\s+{_BECAUSE}\b)"
_TERSE = rf"(?:{_NOUN}\s+)?(?:{_WAS})?(?:temporarily\s+)?{_VERB}(?={_ENDS}){_HERE}"
_ACTIVE = (
    r"(?:(?:the\s+)?authors?|the\s+submitter|we|i)\s+(?:(?:have|has|hereby|wish\s+to|would\s+like\s+to)\s+)*"
    rf"(?:withdr[ae]wn?|withdraws|retract(?:s|ed)?)\s+(?:this|the|our)\s+{_NOUN}{_HERE}"
)
# "v1 of this paper was withdrawn" and "the proof of the paper" speak of a part or of another version.
_COMMENT = re.compile(
    rf"(?<!\bof\s)\b(?:this|the|our)\s+{_PASSIVE}|(?:^|[.;:!?\n]\s*|^\s*[*(\[]+\s*)(?:this\s+)?{_TERSE}|\b{_ACTIVE}",
    re.IGNORECASE,
)
# An abstract has many sentences, of which one about the fate of other papers is no rarity: what counts begins one.
_ABSTRACT = re.compile(
    rf"(?:^\W*|[.!?\n]\s*[*(\[]*)(?:this|our)\s+{_PASSIVE}|^\W*(?:the\s+)?{_TERSE}|(?:^\W*|[.!?\n]\s*){_ACTIVE}",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?=\s+[A-Z]|\s*$)|\n\s*\n")


def withdrawal(comment: str, abstract: str) -> Notice | None:
    """The notice that a paper was withdrawn (or retracted), with the sentence that says so; None if nothing does."""
    for text, pattern in ((comment, _COMMENT), (abstract, _ABSTRACT)):
        lower = text.lower()
        if ("withdr" in lower or "retract" in lower) and (match := pattern.search(text)):
            kind = NoticeKind.RETRACTED if "retract" in match[0].lower() else NoticeKind.WITHDRAWN
            return Notice(kind, _sentence(text, match))
    return None


def _sentence(text: str, match: re.Match[str]) -> str:
    end = _SENTENCE_END.search(text, match.end())
    return " ".join(text[match.start() : end.end() if end else len(text)].split()).lstrip(".,;:!?*([ ")
