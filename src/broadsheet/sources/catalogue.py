"""The sources by the names under which they stand in the settings: ``kind:rest``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from broadsheet.errors import SettingsError
from broadsheet.sources.base import Enricher, Source

_SOURCES = {
    "arxiv": ("arxiv", "ArxivCategory"),
    "arxiv-search": ("arxiv_search", "ArxivSearch"),
    "arxiv-ids": ("arxiv_search", "ArxivPapers"),
    "huggingface": ("huggingface", "HuggingFace"),
    "openreview": ("openreview", "OpenReview"),
    "virtual": ("virtualsite", "VirtualSite"),
    "cvf": ("cvf", "Cvf"),
    "pmlr": ("pmlr", "Pmlr"),
    "acl": ("acl", "AclAnthology"),
    "papercopilot": ("papercopilot", "PaperCopilot"),
    "feed": ("feed", "Feed"),
    "zotero": ("zotero_api", "ZoteroLibrary"),
}
_ENRICHERS = {
    "crossref": ("crossref", "Crossref"),
    "openalex": ("openalex", "OpenAlex"),
    "semanticscholar": ("semanticscholar", "SemanticScholar"),
    "dblp": ("dblp", "Dblp"),
}


@dataclass(frozen=True, slots=True)
class Options:
    """What sources need to know beside their names; keys are secrets."""

    contact: str = ""
    openalex_key: str = ""
    semanticscholar_key: str = ""
    zotero_key: str = ""
    arxiv_holidays: Sequence[str] = ()


def open_source(name: str, options: Options) -> Source:
    """The source that stands in the settings as ``kind:rest``. Raises SettingsError, with the remedy."""
    kind, _, rest = name.partition(":")
    if kind not in _SOURCES:
        known = f"there are {', '.join(_SOURCES)}; `broadsheet sources kinds` says how each is written"
        raise SettingsError(f"no kind of source {kind!r}{f' (in {name!r})' if rest else ''}; {known}")
    return cast(Source, _load(*_SOURCES[kind]).of(rest, options))  # type: ignore[attr-defined]


def open_enrichers(names: Sequence[str], options: Options) -> list[Enricher]:
    """The services of the setting ``enrich``, in order. Raises SettingsError for an unknown one."""
    unknown = [name for name in names if name not in _ENRICHERS]
    if unknown:
        raise SettingsError(f"enrich: no service {unknown[0]!r}; there are {', '.join(_ENRICHERS)}")
    return [cast(Enricher, _load(*_ENRICHERS[name]).of(options)) for name in names]  # type: ignore[attr-defined]


def _load(module: str, name: str) -> type:
    return cast(type, getattr(import_module(f"broadsheet.sources.{module}"), name))


def kinds() -> dict[str, str]:
    """Kind of source to how it is written in the settings."""
    return {kind: _load(*where).usage for kind, where in _SOURCES.items()}  # type: ignore[attr-defined]
