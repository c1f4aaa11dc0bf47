"""PubMed's XML: ``PubmedArticleSet`` of E-utilities' efetch and of the yearly files, or a single article.

Elements: https://www.nlm.nih.gov/bsd/licensee/elements_descriptions.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from broadsheet.identifiers import parse_identifier
from broadsheet.model import Notice, NoticeKind
from broadsheet.sources.base import Entry, Limits
from broadsheet.sources.nbib import kind_of, title_of
from broadsheet.sources.tagged import Draft, Records, When, earliest, page_range, when
from broadsheet.sources.xmlentries import NotXmlError, entries, marked, plain, raw_of, text_at

if TYPE_CHECKING:
    from lxml.etree import _Element

NAME = "PubMed (XML)"
_NOTICES = {"RetractionIn": NoticeKind.RETRACTED, "ExpressionOfConcernIn": NoticeKind.CONCERN}


def sniff(head: bytes, name: str) -> bool:
    """Whether an element of PubMed's stands in the beginning."""
    return re.search(rb"<(?:PubmedArticle|PubmedArticleSet|PubmedBookArticle|MedlineCitation)[\s>]", head) is not None


def read(name: str, data: bytes, limits: Limits) -> Iterator[Entry]:
    """The entries of a file."""
    records = Records(name, "pubmed", limits)
    found = False
    try:
        for element, line in entries(data, "PubmedArticle", "PubmedBookArticle"):
            found = True
            raw = raw_of(element)
            yield records.of(draft_of(element), raw, line, len(raw.encode()))
    except NotXmlError as error:
        yield records.refuse(error.line, str(error))
        return
    if not found:
        yield records.refuse(1, "no entry found: no element PubmedArticle or PubmedBookArticle")


def draft_of(entry: _Element) -> Draft:
    """The draft of a PubmedArticle or a PubmedBookArticle."""
    whole = entry.find("MedlineCitation")
    whole = entry.find("BookDocument") if whole is None else whole
    whole = entry if whole is None else whole
    article = whole.find("Article")
    article = whole if article is None else article
    pmid = text_at(whole, "PMID")
    draft = Draft(own=f"pmid:{pmid}" if pmid else "")
    draft.pmid(pmid)
    book = marked(article.find("Book/BookTitle"))
    title = marked(article.find("ArticleTitle")) or marked(article.find("VernacularTitle"))
    draft.title, notices = title_of(title or book)
    draft.notices.extend(notices)
    draft.abstract = " ".join(filter(None, map(_section, article.iterfind("Abstract/AbstractText"))))
    types = [plain(one) for one in article.iterfind(".//PublicationType")]
    draft.detail("type", "; ".join(types))
    _authors(draft, article)
    _container(draft, article, book if title else "", types)
    _dates(draft, entry, article)
    _identify(draft, entry, article)
    _keywords(draft, whole)
    _notices(draft, whole, types)
    return draft


def _section(element: _Element) -> str:
    text, label = marked(element), element.get("Label")
    return f"{label}: {text}" if label and text else text


def _authors(draft: Draft, article: _Element) -> None:
    for people in article.iterfind("AuthorList"):
        role = people.get("Type")
        for author in people.iterfind("Author"):
            if author.get("ValidYN") == "N":  # a slip that a second entry corrects
                continue
            parts = (text_at(author, part) for part in ("LastName", "ForeName", "Suffix"))
            name = ", ".join(filter(None, parts)) or text_at(author, "CollectiveName")
            if name and role == "editors":
                draft.detail("editor", name, between=" and ")
            elif name:
                draft.authors.append(name)
        if people.get("CompleteYN") == "N" and role != "editors":
            draft.authors_truncated = True


def _container(draft: Draft, article: _Element, book: str, types: list[str]) -> None:
    journal = text_at(article, "Journal/Title") or text_at(article, "Journal/ISOAbbreviation")
    draft.kind = "incollection" if book else kind_of(types, bool(journal))
    if article.find("Book") is not None and not book:
        draft.kind = "book"
    draft.venue = journal or book
    draft.detail("journal" if journal else "booktitle", draft.venue)
    draft.detail("shortjournal", text_at(article, "Journal/ISOAbbreviation"))
    draft.detail("volume", text_at(article, "Journal/JournalIssue/Volume") or text_at(article, "Book/Volume"))
    draft.detail("number", text_at(article, "Journal/JournalIssue/Issue"))
    first, last = text_at(article, "Pagination/StartPage"), text_at(article, "Pagination/EndPage")
    given = text_at(article, "Pagination/MedlinePgn")
    begin, _, end = given.partition("-")
    draft.detail("pages", page_range(first, last) or page_range(begin, end) or given)
    draft.detail("issn", *map(plain, article.iterfind("Journal/ISSN")), between=", ")
    draft.detail("isbn", text_at(article, "Book/Isbn"))
    draft.detail("publisher", text_at(article, "Book/Publisher/PublisherName"))
    draft.detail("address", text_at(article, "Book/Publisher/PublisherLocation"))
    draft.detail("language", *map(plain, article.iterfind("Language")), between=", ")
    draft.detail("affiliation", *map(plain, article.iterfind("AuthorList/Author/AffiliationInfo/Affiliation")))


def _when(element: _Element | None) -> When:
    """A date of Year, Month and Day, or the words of a MedlineDate or a Season."""
    if element is None:
        return When()
    parts = [text_at(element, part) for part in ("Year", "Month", "Day")]
    return when(" ".join(filter(None, parts)) if parts[0] else text_at(element, "MedlineDate"))


def _dates(draft: Draft, entry: _Element, article: _Element) -> None:
    issue = article.find("Journal/JournalIssue/PubDate")
    issue = article.find("Book/PubDate") if issue is None else issue
    printed = _when(issue)
    online = [_when(one) for one in article.iterfind("ArticleDate")]
    draft.year = printed.year or next((one.year for one in online if one.year), None)
    draft.published, draft.month_only = earliest((printed, *online))
    if issue is not None and printed.month is None:
        draft.detail("date", text_at(issue, "MedlineDate") or text_at(issue, "Season"))
    days = {one.get("PubStatus"): _when(one).date for one in entry.iterfind(".//History/PubMedPubDate")}
    # As EDAT of the tagged format: for a work of long ago, the day of its publication.
    draft.listed = days.get("pubmed") or days.get("entrez")


def _identify(draft: Draft, entry: _Element, article: _Element) -> None:
    named = [(one.get("EIdType"), plain(one)) for one in article.iterfind("ELocationID") if one.get("ValidYN") != "N"]
    for data in ("PubmedData", "PubmedBookData", "BookDocument"):
        named += [(one.get("IdType"), plain(one)) for one in entry.iterfind(f"{data}/ArticleIdList/ArticleId")]
    for scheme, value in named:
        if scheme == "doi" and (parsed := parse_identifier(value)):
            draft.identify(parsed[0])
        elif scheme == "pmc":
            draft.detail("pmcid", value if value.upper().startswith("PMC") else f"PMC{value}")
        elif scheme == "pii":
            draft.detail("pii", value)
    for one in entry.iterfind("PubmedData/ReferenceList//ArticleId"):
        prefix = {"pubmed": "pmid:", "doi": "doi:"}.get(one.get("IdType") or "", "")
        if prefix and (parsed := parse_identifier(prefix + plain(one))):
            draft.references[parsed[0]] = None


def _keywords(draft: Draft, whole: _Element) -> None:
    for heading in whole.iterfind("MeshHeadingList/MeshHeading"):
        names = [plain(one) for one in heading if one.tag in ("DescriptorName", "QualifierName")]
        draft.keywords.append("/".join(names))
    draft.keywords += [word for one in whole.iterfind("KeywordList/Keyword") if (word := plain(one))]


def _notices(draft: Draft, whole: _Element, types: list[str]) -> None:
    for one in whole.iterfind("CommentsCorrectionsList/CommentsCorrections"):
        kind = _NOTICES.get(one.get("RefType") or "")
        if kind:
            draft.notice(Notice(kind, text_at(one, "RefSource")))
    retracted = any(notice.kind is NoticeKind.RETRACTED for notice in draft.notices)
    if not retracted and "retracted publication" in map(str.lower, types):
        draft.notice(Notice(NoticeKind.RETRACTED, "Retracted Publication"))
