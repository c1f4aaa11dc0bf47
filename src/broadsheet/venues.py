"""Venues: one key for each, however a source calls it, and the name by which its readers know it."""

from __future__ import annotations

import re
from functools import lru_cache

_OTHER_KEYS = {"neurips": ("nips",)}  # renamed in 2018
_LONG_NAMES = {
    "advances in neural information processing systems": "neurips",
    "conference on neural information processing systems": "neurips",
    "neural information processing systems": "neurips",
    "conference on machine learning": "icml",
    "conference on learning representations": "iclr",
    "conference on computer vision and pattern recognition": "cvpr",
    "conference on computer vision": "iccv",
    "european conference on computer vision": "eccv",
    "winter conference on applications of computer vision": "wacv",
    "aaai conference on artificial intelligence": "aaai",
    "joint conference on artificial intelligence": "ijcai",
    "joint conferences on artificial intelligence": "ijcai",
    "conference on artificial intelligence and statistics": "aistats",
    "conference on uncertainty in artificial intelligence": "uai",
    "conference on learning theory": "colt",
    "conference on knowledge discovery and data mining": "kdd",
    "conference on research and development in information retrieval": "sigir",
    "conference on robotics and automation": "icra",
    "conference on intelligent robots and systems": "iros",
    "conference on robot learning": "corl",
    "conference on language modeling": "colm",
    "conference on empirical methods in natural language processing": "emnlp",
    "meeting of the association for computational linguistics": "acl",
    "conference on computational linguistics": "coling",
    "conference of the european chapter of the association for computational linguistics": "eacl",
    "conference of the north american chapter of the association for computational linguistics": "naacl",
    "conference on computational natural language learning": "conll",
}
"""Names of conferences without the words at their beginning that differ from year to year (``_OPENING``)."""
_CONFERENCES = frozenset(_LONG_NAMES.values())
_OPENING = frozenset(
    "in the proceedings proc proc. of on annual international and ieee ieee/cvf ieee/rsj rsj acm sigkdd sigir".split()  # noqa: SIM905
)
_ORDINAL = re.compile(
    r"\d+(?:st|nd|rd|th)?|(?:(?:twen|thir|for|fif|six|seven|eigh|nine)ty-?)?"
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)?"
    r"|tenth|eleventh|twelfth|(?:thir|four|fif|six|seven|eigh|nine)teenth|(?:twen|thir|for|fif|six|seven|eigh|nine)tieth"
)
_ENDING = re.compile(r"\s*[:,;(\[].*|\s+(?:\d+|conference)$")
_KEYS = {name: key for key, others in _OTHER_KEYS.items() for name in (key, *others)}
_NAMES = {
    "neurips": "NeurIPS",
    "corl": "CoRL",
    "automl": "AutoML",
    "conll": "CoNLL",
    "interspeech": "Interspeech",
    "louhi": "Louhi",
    "arxiv": "arXiv",
    "biorxiv": "bioRxiv",
    "medrxiv": "medRxiv",
}
LONGEST_ACRONYM = 8  # siggraph
_ACL_LETTERS = {"C": "coling", "D": "emnlp", "E": "eacl", "J": "cl", "K": "conll", "L": "lrec", "N": "naacl"}
_ACL_LETTERS |= {"P": "acl", "Q": "tacl", "I": "ijcnlp", "R": "ranlp", "Y": "paclic"}
"""Letters of Anthology ids before 2020 (https://aclanthology.org/info/ids/)."""
_ACL_COLLECTION = re.compile(r"\d{4}\.(\w+)-")


def venue_of_acl_id(value: str) -> str:
    """The key that an Anthology id names, ``acl`` for ``2020.acl-main.1`` and ``P18-1001``; empty if it names none."""
    if collection := _ACL_COLLECTION.match(value):
        return collection[1].lower()
    return _ACL_LETTERS.get(value[:1], "")


@lru_cache(maxsize=4096)
def venue_key(name: str) -> str:
    """The key of a venue that sources name in several ways; a name that is not known stays as it is.

    ``NIPS`` and ``Advances in Neural Information Processing Systems 31`` are ``neurips``, ``Proceedings of the 41st
    International Conference on Machine Learning`` and ``ICML`` are ``icml``. A workshop is not the conference.
    """
    lower = " ".join(name.lower().split())
    if lower in _KEYS:
        return _KEYS[lower]
    if lower in _NAMES or lower in _CONFERENCES:
        return lower
    if " " not in name:
        return lower if name.isupper() and name.isascii() and len(name) <= LONGEST_ACRONYM else name
    return _conference(lower) or name


def _conference(lower: str) -> str:
    words = _ENDING.sub("", lower).split()
    while words:
        if found := _LONG_NAMES.get(" ".join(words)):
            return found
        if words[0] not in _OPENING and not _ORDINAL.fullmatch(words[0]):
            return ""
        words = words[1:]
    return ""


def venue_keys(name: str) -> tuple[str, ...]:
    """Every key under which papers of a venue may be stored, its own first: ``nips`` → ``neurips``, ``nips``."""
    key = venue_key(name)
    return (key, *_OTHER_KEYS.get(key.lower(), ()))


def venue_name(name: str) -> str:
    """A venue as its readers spell it: ``icml`` → ``ICML``, ``nips`` → ``NeurIPS``; longer names as they came."""
    key = venue_key(name).lower()
    if key in _NAMES:
        return _NAMES[key]
    return name.upper() if name.islower() and name.isascii() and len(name) <= LONGEST_ACRONYM else name
