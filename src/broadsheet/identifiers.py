"""The one parser of paper identifiers, for every form in which people paste them.

Formats: arXiv, https://info.arxiv.org/help/arxiv_identifier.html; DOI, ISO 26324 (case does not matter: lower case
here); ACL Anthology, https://aclanthology.org/info/ids/; OpenReview forum ids (case matters); PubMed ids.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from urllib.parse import parse_qs, quote, unquote, urlsplit

from broadsheet.model import Identifier, Scheme

Parsed = tuple[Identifier, int | None]

# Longest first, so that `math-ph` is not read as `math`.
_ARCHIVE = (
    "acc-phys|adap-org|alg-geom|ao-sci|astro-ph|atom-ph|bayes-an|chao-dyn|chem-ph|cmp-lg|comp-gas|cond-mat|dg-ga|funct-an"
    "|gr-qc|hep-ex|hep-lat|hep-ph|hep-th|math-ph|mtrl-th|nucl-ex|nucl-th|patt-sol|plasm-ph|q-alg|q-bio|q-fin|quant-ph"
    "|solv-int|supr-con|cs|econ|eess|math|nlin|physics|stat"
)
_ARXIV = (
    r"(?:(?P<new>\d{4}\.\d{4,5})"
    rf"|(?P<archive>{_ARCHIVE})(?:\.[a-z]{{2}})?/(?P<old>\d{{7}}))"
    r"(?:v(?P<version>[1-9]\d*))?"
)
_ARXIV_WHOLE = re.compile(
    rf"(?:arxiv\s*[:.]?\s*)?{_ARXIV}(?:\.(?:pdf|ps|ps\.gz))?\s*(?:\[[a-z.,: -]+\])?", re.IGNORECASE
)
_ARXIV_PATH = re.compile(rf"/{_ARXIV}(?=[/.]|$)", re.IGNORECASE)
_DOI_WHOLE = re.compile(r"(?:(?:urn:|info:)?doi\s*[:/=]?\s*)?(?P<doi>10\.\d{4,9}(?:\.\d+)*(?:/|%2f)\S+)", re.IGNORECASE)
_DOI_PATH = re.compile(r"/(?P<doi>10\.\d{4,9}(?:\.\d+)*/.+)", re.IGNORECASE | re.DOTALL)
_ARXIV_DOI = "10.48550/arxiv."
_ACL_DOI = re.compile(r"10\.(?:18653|3115)/v1/(?P<acl>.+)")
_ACL = r"[ACDEFHIJKLMNOPQRSTUWXYZ]\d{2}-\d{4}|(?:19|20)\d{2}\.[a-z0-9_]+-[a-z0-9_]+\.\d+"
_ACL_WHOLE = re.compile(rf"(?:acl\s*:\s*)?(?P<acl>{_ACL})", re.IGNORECASE)
_ACL_PATH = re.compile(rf"/(?P<acl>{_ACL})(?:v\d+)?(?:\.[a-z]+)?/?$", re.IGNORECASE)
_PMID_WHOLE = re.compile(r"pmid\s*:?\s*(?P<pmid>[1-9]\d{0,8})", re.IGNORECASE)
_PMID_PATH = re.compile(r"^/(?:pubmed/|m/pubmed/)?(?P<pmid>[1-9]\d{0,8})/?$")
_OPENREVIEW_WHOLE = re.compile(r"openreview\s*:\s*(?P<id>[\w-]{5,40})", re.IGNORECASE | re.ASCII)
_OPENREVIEW_ID = re.compile(r"[\w-]{5,40}", re.ASCII)

_ARXIV_HOSTS = ("arxiv.org", "ar5iv.org", "alphaxiv.org", "ar5iv.labs.arxiv.org")
_DOI_HOSTS = ("doi.org", "dl.acm.org", "link.springer.com", "onlinelibrary.wiley.com")
_ACL_HOSTS = ("aclanthology.org", "aclanthology.info", "aclweb.org")
_PUBMED_HOSTS = ("pubmed.ncbi.nlm.nih.gov", "ncbi.nlm.nih.gov")
_URL = re.compile(r"(?:https?:)?//|(?:[a-z0-9-]+\.)+(?:org|net|co|com|gov|info)/", re.IGNORECASE)
# Full-width forms and the hyphens that typesetting puts in place of "-".
_PLAIN = {0xFF01 + i: chr(0x21 + i) for i in range(94)} | dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2212), "-")
_CLOSERS = {")": "(", "]": "[", "}": "{", ">": "<", "”": "“", "’": "‘", "》": "《"}
_TRAILING = ".,;:!?'\"…。，；：、"
_NAMED_HOST = r"(?:www\.|export\.|rss\.|dx\.)?(?:arxiv|doi|openreview|aclanthology|ar5iv|alphaxiv)\.(?:org|net|info)/"
_CANDIDATE = re.compile(
    rf"(?:https?://|{_NAMED_HOST})\S+"
    rf"|\barxiv\s*[:.]?\s*{re.sub(r'[?]P<[a-z]+>', '?:', _ARXIV)}"
    r"|\bpmid\s*:?\s*[1-9]\d{0,8}\b"
    r"|(?:\bdoi\s*[:=]?\s*)?\b10\.\d{4,9}(?:\.\d+)*/\S+",
    re.IGNORECASE,
)


def _visible(text: str) -> str:
    """Without control and format characters (zero width, BOM, soft hyphen, line breaks); full-width forms plain."""
    text = text.translate(_PLAIN)
    if not text.isascii() or not text.isprintable():
        text = "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cf"))
    return text.strip()


def _trimmed(text: str) -> str:
    """Without the punctuation of the sentence around it; brackets that belong to a DOI are balanced and stay."""
    while text:
        last = text[-1]
        opener = _CLOSERS.get(last)
        if last in _TRAILING or (opener and text.count(last) > text.count(opener)):
            text = text[:-1]
        else:
            break
    return text


def _stripped(text: str) -> str:
    text = _trimmed(_visible(text))
    while text and text[0] in "<([{\"'“‘《" and _CLOSERS.get(text[-1], text[-1]) == text[0]:
        text = _trimmed(text[1:-1].strip())
    return text


def _valid_new(value: str) -> bool:
    stamp, number = value.split(".")
    # Ids run from April 2007; five digits since January 2015; numbers start at 1.
    known = 704 <= int(stamp) < 9100 and 1 <= int(stamp[2:]) <= 12
    return known and len(number) == (5 if int(stamp) >= 1501 else 4) and int(number) > 0


def _valid_old(digits: str) -> bool:
    year, month = int(digits[:2]), int(digits[2:4])
    return (year >= 91 or year <= 7) and 1 <= month <= 12 and int(digits[4:]) > 0


def _arxiv(match: re.Match[str]) -> Parsed | None:
    if match["new"]:
        value, valid = match["new"], _valid_new(match["new"])
    else:
        value, valid = f"{match['archive'].lower()}/{match['old']}", _valid_old(match["old"])
    version = int(match["version"]) if match["version"] and len(match["version"]) < 5 else None
    return (Identifier(Scheme.ARXIV, value), version) if valid else None


def _doi(text: str) -> Parsed | None:
    # No DOI has an escape in its true form, so whatever was escaped on the way, even twice, is taken back.
    while (decoded := unquote(text)) != text:
        text = decoded
    value = _trimmed(_visible(text).lower())
    if value.startswith(_ARXIV_DOI):
        match = _ARXIV_WHOLE.fullmatch(value[len(_ARXIV_DOI) :])
        return _arxiv(match) if match else None
    if not re.fullmatch(r"10\.\d{4,9}(?:\.\d+)*/\S+", value):
        return None
    return Identifier(Scheme.DOI, value), None


def _acl(value: str) -> Parsed:
    return Identifier(Scheme.ACL, value.upper()), None


def _host_is(host: str, names: tuple[str, ...]) -> bool:
    return any(host == name or host.endswith("." + name) for name in names)


def _from_openreview(query: str) -> Parsed | None:
    wanted = parse_qs(query)
    for name in ("id", "noteId"):
        value = _trimmed(wanted.get(name, [""])[0])
        if _OPENREVIEW_ID.fullmatch(value):
            return Identifier(Scheme.OPENREVIEW, value), None
    return None


def _from_url(text: str) -> Parsed | None:  # noqa: PLR0911 - one return a site
    try:
        parts = urlsplit(text if "//" in text[:8] else "https://" + text)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:  # a malformed address such as `http://[`
        return None
    path = unquote(parts.path)
    if _host_is(host, _ARXIV_HOSTS) or (_host_is(host, ("huggingface.co", "hf.co")) and path.startswith("/papers/")):
        arxiv = _ARXIV_PATH.search(path.rstrip("/") if _trimmed(path) == path else _trimmed(path))
        return _arxiv(arxiv) if arxiv else None
    if _host_is(host, _DOI_HOSTS):
        # A DOI may hold ';', '<' and ':', all of which stay in the path; '?' and '#' begin what is not part of it.
        doi = _DOI_PATH.search(path)
        return _doi(doi["doi"]) if doi else None
    if _host_is(host, ("openreview.net",)):
        return _from_openreview(parts.query)
    if _host_is(host, _ACL_HOSTS):
        acl = _ACL_PATH.search(_trimmed(path))
        return _acl(acl["acl"]) if acl else None
    if _host_is(host, _PUBMED_HOSTS):
        pmid = _PMID_PATH.search(_trimmed(path))
        return (Identifier(Scheme.PMID, pmid["pmid"]), None) if pmid else None
    return None


def parse_identifier(text: str) -> Parsed | None:  # noqa: PLR0911 - one return a scheme
    """The identifier that the whole of ``text`` is, and the arXiv version it names; None if it is not one.

    Takes ids, prefixed ids (``arXiv:``, ``doi:``, ``PMID:``, ``openreview:``, ``acl:``) and addresses of arxiv.org and
    its mirrors, doi.org, OpenReview, the ACL Anthology, PubMed and Hugging Face papers. A bare number is none.
    """
    text = _stripped(text)
    if not text or len(text) > 2000:
        return None
    if _URL.match(text):
        return _from_url(text)
    trimmed = _trimmed(text)
    for candidate in (text, trimmed):
        if match := _ARXIV_WHOLE.fullmatch(candidate):
            return _arxiv(match)
    if match := _DOI_WHOLE.fullmatch(text):
        return _doi(match["doi"])
    if match := _PMID_WHOLE.fullmatch(trimmed):
        return Identifier(Scheme.PMID, match["pmid"]), None
    if match := _ACL_WHOLE.fullmatch(trimmed):
        return _acl(match["acl"])
    if match := _OPENREVIEW_WHOLE.fullmatch(trimmed):
        return Identifier(Scheme.OPENREVIEW, match["id"]), None
    return None


def _found(text: str) -> Iterator[Identifier]:
    for match in _CANDIDATE.finditer(text.translate(_PLAIN)):
        parsed = parse_identifier(_trimmed(match[0]))
        if parsed:
            yield parsed[0]


def find_identifiers(text: str) -> list[Identifier]:
    """All identifiers named in running text, each once, in order.

    Only forms that say what they are count (addresses, ``arXiv:…``, ``PMID: …``, ``10.…/…``): a number such as
    2401.12345 in a sentence may be anything.
    """
    return list(dict.fromkeys(_found(text)))


def implied_identifiers(identifier: Identifier) -> tuple[Identifier, ...]:
    """Identifiers that follow from another: a DOI of the ACL Anthology (10.18653/v1/…) holds its Anthology id."""
    if identifier.scheme is Scheme.DOI:
        match = _ACL_DOI.fullmatch(identifier.value)
        if match and (acl := _ACL_WHOLE.fullmatch(match["acl"])):
            return (Identifier(Scheme.ACL, acl["acl"].upper()),)
    return ()


def shown_value(identifier: Identifier) -> str:
    """The value as its registry writes it: the Anthology's ids since 2020 are in small letters."""
    value = identifier.value
    return value.lower() if identifier.scheme is Scheme.ACL and "-" not in value[:4] else value


def url_of(identifier: Identifier) -> str:
    """The canonical address; ``parse_identifier`` reads it back."""
    value = identifier.value
    match identifier.scheme:
        case Scheme.ARXIV:
            return f"https://arxiv.org/abs/{value}"
        case Scheme.DOI:
            return f"https://doi.org/{quote(value, safe='/:;()._-')}"
        case Scheme.OPENREVIEW:
            return f"https://openreview.net/forum?id={value}"
        case Scheme.ACL:
            return f"https://aclanthology.org/{shown_value(identifier)}/"
        case Scheme.PMID:
            return f"https://pubmed.ncbi.nlm.nih.gov/{value}/"


def arxiv_month(value: str) -> date | None:
    """The first day of the month in which an arXiv id (with or without version) was given; None if it is not an id."""
    match = _ARXIV_WHOLE.fullmatch(value)
    parsed = _arxiv(match) if match else None
    if not parsed:
        return None
    digits = parsed[0].value.rsplit("/", 1)[-1]
    year = int(digits[:2])
    # Two-digit years: 91 to 99 are old ids of the last century, all others of this one.
    return date(1900 + year if year >= 91 else 2000 + year, int(digits[2:4]), 1)
