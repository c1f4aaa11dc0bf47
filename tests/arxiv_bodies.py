"""Small arXiv documents in our own words, for the tests of its formats."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

RSS_OPEN = (
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    '<rss xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:atom="http://www.w3.org/2005/Atom" version="2.0">\n'
)


def rss_item(
    key: str,
    announced: str = "new",
    *,
    title: str = "Small Models Learn",
    version: int = 1,
    authors: str = "Ann Lee, Bo Li",
    abstract: str = "We show that small models learn.",
    categories: Iterable[str] = ("cs.LG", "stat.ML"),
    day: str = "Wed, 12 Aug 2026 00:00:00 -0400",
    more: str = "",
    host: str = "https://arxiv.org",
) -> str:
    """One item of a daily feed."""
    kinds = "".join(f"<category>{c}</category>" for c in categories)
    return (
        f"<item><title>{title}</title><link>{host}/abs/{key}</link>"
        f"<description>arXiv:{key}v{version} Announce Type: {announced} \nAbstract: {abstract}</description>"
        f'<guid isPermaLink="false">oai:arXiv.org:{key}v{version}</guid>{kinds}<pubDate>{day}</pubDate>'
        f"<arxiv:announce_type>{announced}</arxiv:announce_type>"
        f"<dc:rights>http://creativecommons.org/licenses/by/4.0/</dc:rights>{more}"
        f"<dc:creator>{authors}</dc:creator></item>\n"
    )


def rss(*items: str, day: str = "Wed, 12 Aug 2026 00:00:00 -0400", title: str = "cs.LG updates on arXiv.org") -> str:
    """A daily feed."""
    return (
        f"{RSS_OPEN}<channel><title>{title}</title><link>http://rss.arxiv.org/rss/cs.LG</link>"
        "<lastBuildDate>Wed, 12 Aug 2026 04:00:20 +0000</lastBuildDate>"
        f"<managingEditor>rss-help@arxiv.org</managingEditor><pubDate>{day}</pubDate>\n"
        f"<skipDays><day>Sunday</day><day>Saturday</day></skipDays>{''.join(items)}</channel></rss>\n"
    )


def oai_record(
    key: str,
    *,
    stamp: str = "2026-08-12",
    versions: Iterable[tuple[str, str]] = (("Mon, 10 Aug 2026 17:59:59 GMT", "401kb"),),
    title: str = "Small Models Learn",
    comments: str = "",
    abstract: str = "We show that small models learn.",
) -> str:
    """One record in the format arXivRaw."""
    told = "".join(
        f'<version version="v{n}"><date>{day}</date><size>{size}</size><source_type>D</source_type></version>'
        for n, (day, size) in enumerate(versions, 1)
    )
    comment = f"<comments>{escape(comments)}</comments>" if comments else ""
    return (
        f"<record><header><identifier>oai:arXiv.org:{key}</identifier><datestamp>{stamp}</datestamp>"
        "<setSpec>cs:cs:LG</setSpec></header><metadata>"
        f'<arXivRaw xmlns="http://arxiv.org/OAI/arXivRaw/"><id>{key}</id><submitter>Ann Lee</submitter>{told}'
        f"<title>{title}</title><authors>Ann Lee, Bo Li</authors><categories>cs.LG stat.ML</categories>{comment}"
        f"<license>http://arxiv.org/licenses/nonexclusive-distrib/1.0/</license><abstract>{abstract}</abstract>"
        "</arXivRaw></metadata></record>\n"
    )


def oai(*records: str, token: str | None = None, error: tuple[str, str] | None = None) -> str:
    """An answer to ListRecords; ``token`` "" is the last page of several."""
    end = "" if token is None else f"<resumptionToken>{escape(token)}</resumptionToken>"
    inner = (
        f'<error code="{error[0]}">{error[1]}</error>'
        if error
        else f"<ListRecords>{''.join(records)}{end}</ListRecords>"
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">\n'
        "<responseDate>2026-08-14T10:00:00Z</responseDate>"
        f'<request verb="ListRecords">https://oaipmh.arxiv.org/oai</request>{inner}</OAI-PMH>\n'
    )


def item(key: str, *, mark: str = "", title: str = "Small Models Learn", abstract: str = "", more: str = "") -> str:
    """One paper of a listing page."""
    text = f"<p class='mathjax'>\n {abstract}\n</p>" if abstract else ""
    return (
        f'<dt><a name=\'item1\'>[1]</a> <a href ="/abs/{key}" title="Abstract" id="{key}">arXiv:{key}</a> {mark}\n'
        f'[<a href="/pdf/{key}" title="Download PDF">pdf</a>, <a href="/format/{key}">other</a>]</dt>\n<dd>'
        f"<div class='meta'><div class='list-title mathjax'><span class='descriptor'>Title:</span>\n {title}\n</div>"
        '<div class=\'list-authors\'><a href="/a/1">Ann Lee</a>, <a href="/a/2">Bo Li</a> (MIT, CSAIL)</div>'
        f"{more}<div class='list-subjects'><span class='descriptor'>Subjects:</span>\n <span class=\"primary-subject\">"
        f"Artificial Intelligence (cs.AI)</span>; Machine Learning (stat.ML)</div>{text}</div></dd>\n"
    )


def section(heading: str, *items: str) -> str:
    """The papers of one announce type."""
    return f"<dl id='articles'><h3>{heading}</h3>{''.join(items)}</dl>"


def listing(*sections: str, day: str = "Showing new listings for Thursday, 13 August 2026") -> bytes:
    """A listing page."""
    head = f"<h3>{day}</h3>" if day else ""
    return (
        "<!DOCTYPE html><html><head><title>cs.AI</title></head><body><h3>Help</h3><div id='dlpage'>"
        f"<h1>AI</h1>{head}{''.join(sections)}<div class='paging'>Total of 9</div></div></body></html>"
    ).encode()
