"""What the headings of tables mean, and what types of publication are called; in English and Chinese.

They are those of the exports that people have: Scopus, Web of Science (also its two-letter tags), Embase, PubMed, IEEE
Xplore, Lens, Publish or Perish, Zotero, Rayyan, Covidence, ASReview, CNKI and Wanfang, and of tables made by hand.
Case, spacing and punctuation of a heading do not matter. ``docs/import.md`` lists them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

FIELDS: dict[str, str] = {
    "title": (
        "title; primary title; article title; document title; paper title; 题名; 标题; 论文题目; 论文标题; "
        "题目; 篇名; 文献标题; 中文题名; original title; ti"
    ),
    "abstract": (
        "abstract; abstract note; abstracts; paper abstract; 摘要; 中文摘要; original abstract; notes abstract; ab"
    ),
    "summary": "summary; tldr; gist",
    "authors": (
        "author full names; authors; author; author names; author s; creators; primary authors; "
        "first authors; 作者; 全部作者; 作者姓名; af; au"
    ),
    "year": "year; publication year; published year; pub year; date year; 年; 年份; 出版年; 发表年份; py",
    "month": "month; published month; 月; 月份",
    "day": "day",
    "date": ("date; publication date; published; date published; published date; 日期; 发表日期; 出版日期; 发表时间"),
    "venue": (
        "venue; publication title; source title; journal; journal name; journal title; journal book; booktitle; "
        "book title; container title; conference; secondary title; conference name; "
        "proceedings title; conference title; publication; 刊名; 期刊; 期刊名称; 文献来源; 来源; 会议名称; "
        "会议; so; source"
    ),
    "doi": "doi; doi link; digital object identifier; di",
    "pmid": "pmid; pubmed id; pm",
    "arxiv": "arxiv; arxiv id; arxivid; eprint",
    "openreview": "openreview; openreview id",
    "acl": "acl; acl id; anthology id",
    "named": "archive location; number; extra; accession number; identifiers",
    "url": (
        "url; link; urls; article url; source url; source urls; external url; web page; open url link; 链接; 网址; 地址"
    ),
    "pdf": "pdf; pdf link; pdf url; fulltext url; full text url",
    "code": "code; github; repository; code url",
    "keywords": (
        "keywords; author keywords; keyword; manual tags; tags; automatic tags; index keywords; "
        "keywords plus; mesh terms; ieee terms; 关键词; 关键字; de; id keywords"
    ),
    "areas": "areas; area; categories; subject areas; research areas; fields of study; 领域; 学科",
    "key": (
        "key; record id; paper id; paperid; id; ut unique wos id; ut; eid; lens id; covidence; item; ref; "
        "accession number"
    ),
    "kind": (
        "item type; document type; publication type; type of reference; reference type; entry type; kind; type; "
        "文献类型; pt; dt"
    ),
    "label": (
        "label; label included; included; asreview label; final included; label final; decision; "
        "screening decision; inclusion; rayyan decision; 标签; 是否纳入; 纳入"
    ),
    "added": "date added; added",
    "citations": (
        "citations; cited by; times cited; times cited all databases; times cited wos core; cites; "
        "citation count; article citation count; citing works count; 被引; 被引频次; tc"
    ),
    "status": "status; paper status",
    "cut": "authors truncated",
}
"""Of each field of a record, the headings that name it, the best first."""
DETAILS: dict[str, str] = {
    "journal": "journal",
    "booktitle": "booktitle",
    "volume": "volume; 卷; vl",
    "number": "issue; issue number; number; 期; 期号; is",
    "pages": "pages; page; page range; page numbers; 页码; 页",
    "pagetotal": "num pages",
    "volumes": "number of volumes",
    "eid": "art no; article number",
    "publisher": "publisher; 出版社; 出版者; pu",
    "address": "place; place published; publisher city; address; location; 出版地",
    "series": "series; book series title",
    "shortjournal": "journal abbreviation; abbreviated source title; ji",
    "shorttitle": "short title",
    "edition": "edition",
    "version": "version",
    "isbn": "isbn; isbns; bn",
    "issn": "issn; issns; sn",
    "language": "language; language of original document; 语种; 语言; la",
    "editor": "editor; editors; book editors; secondary authors; 编者",
    "translator": "translator",
    "institution": "institution; university; 学校; 学位授予单位",
    "eventtitle": "conference name; meeting name; conference title",
    "note": "note; extra; notes; 备注",
    "urldate": "access date",
    "groups": "collections; groups",
    "citekey": "citation key; citekey; bibtex key",
    "first": "start page; page start; first page; bp",
    "last": "end page; page end; last page; ep",
}
"""Of each further field of BibLaTeX, its headings."""
_KINDS: dict[str, str] = {
    "article": (
        "journalarticle; article; jour; review; articlejournal; journal; j; shortsurvey; magazinearticle; "
        "newspaperarticle; editorial; letter; articleinpress; 期刊"
    ),
    "inproceedings": "conferencepaper; proceedingspaper; conf; cpaper; paperconference; inproceedings; 会议",
    "proceedings": "conferenceproceedings; proceedings",
    "book": "book; b; 图书",
    "incollection": "booksection; bookchapter; chap; incollection; chapter",
    "inreference": "encyclopediaarticle; dictionaryentry",
    "thesis": "thesis; thes; dissertation; 学位论文",
    "report": "report; rprt; technicalreport",
    "online": "preprint; webpage; blogpost; forumpost; online; elec",
    "unpublished": "manuscript; presentation; unpublished; unpb",
    "dataset": "dataset; data",
    "software": "computerprogram; software; comp",
    "patent": "patent; pat",
    "legislation": "bill; statute",
    "jurisdiction": "case; hearing",
    "audio": "audiorecording; podcast",
    "video": "videorecording; film",
    "misc": "document; misc; gen; map; interview; email; instantmessage",
}
"""BibLaTeX types by what Zotero, RIS, Scopus and Web of Science call them, in small letters without spaces."""
_BIBLATEX = """
    article book mvbook inbook bookinbook suppbook booklet collection mvcollection incollection suppcollection dataset
    manual misc online patent periodical suppperiodical proceedings mvproceedings inproceedings conference reference
    mvreference inreference report techreport software thesis phdthesis mastersthesis unpublished artwork audio image
    jurisdiction legislation legal movie music performance standard video
"""
KINDS = {name: kind for kind, names in _KINDS.items() for name in names.split("; ")} | {
    kind: kind for kind in _BIBLATEX.split()
}
WOS_TAGS = frozenset("ti ab au af py so de di pt dt vl is bp ep la pu sn bn pm ut tc ji".split())  # noqa: SIM905
"""Headings of Web of Science's tab-delimited export; in other tables two letters mean nothing."""

KNOWN: dict[str, list[tuple[str, int]]] = {}
"""Of each heading, the fields that it may fill, and its rank among the headings of each."""
for _fields in (FIELDS, DETAILS):
    for _name, _headings in _fields.items():
        for _rank, _heading in enumerate(_headings.split("; ")):
            KNOWN.setdefault(_heading, []).append((_name, _rank))


def heading(text: str) -> str:
    """A heading without case, spacing and punctuation; of ``Title-题名`` the Chinese half, where only that is known."""
    wide = unicodedata.normalize("NFKC", text)
    plain, parted = _words(wide), _words(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", wide))  # StartPage, as well as PubMed ID
    if plain in KNOWN or plain.isascii():
        return parted if parted in KNOWN and plain not in KNOWN else plain
    han = "".join(c for c in plain if not c.isascii())
    return han if han in KNOWN else plain


def _words(text: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", text.casefold()).split())


def kind_of(text: str) -> str:
    """The BibLaTeX type of what another program calls it; empty where it is not known."""
    return KINDS.get(re.sub(r"[\W_]+", "", text.split(";", maxsplit=1)[0].casefold()), "")


def score(header: Sequence[str]) -> int:
    """How many of these cells are headings: 0 if neither a title nor an abstract is among them."""
    found = [name for cell in header for name, _ in KNOWN.get(heading(cell), ())[:1]]
    return len(found) if "title" in found or "abstract" in found else 0
