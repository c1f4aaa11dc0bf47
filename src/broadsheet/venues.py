"""Venues: one key for each, however a source calls it, and the name by which its readers know it."""

from __future__ import annotations

_OTHER_KEYS = {"neurips": ("nips",)}  # renamed in 2018
_LONG_NAMES = {
    "advances in neural information processing systems": "neurips",
    "conference on neural information processing systems": "neurips",
    "neural information processing systems": "neurips",
}
_KEYS = {name: key for key, others in _OTHER_KEYS.items() for name in (key, *others)} | _LONG_NAMES
_NAMES = {
    "neurips": "NeurIPS",
    "corl": "CoRL",
    "automl": "AutoML",
    "conll": "CoNLL",
    "interspeech": "Interspeech",
    "louhi": "Louhi",
}
LONGEST_ACRONYM = 8  # siggraph


def venue_key(name: str) -> str:
    """The key of a venue that sources name in several ways: ``NIPS`` → ``neurips``; any other name as it is."""
    return _KEYS.get(name.lower(), name)


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
