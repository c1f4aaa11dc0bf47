"""A library in memory with sixty made-up papers, for tests of the site that need no index, encoder or database.

Authors are names from the history of mathematics; titles, abstracts and numbers are made up for these tests.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from broadsheet.errors import InputError, NotFoundError
from broadsheet.identifiers import parse_identifier
from broadsheet.model import (
    Area,
    FacetValue,
    Hit,
    Identifier,
    Link,
    LinkKind,
    Notice,
    NoticeKind,
    Paper,
    Place,
    Record,
    Results,
    Scheme,
    SourceState,
    SourceStatus,
    Status,
    StoredRecord,
    Version,
)
from broadsheet.text import to_html, to_plain
from tests.fake_daily import FakeDaily
from tests.fake_screening import FakeScreening

NEWEST = date(2026, 6, 12)
SICI = "10.1002/(sici)1097-4598(199605)19:5<621::aid-mus10>3.3.co;2-c"
HOSTILE_REASON = 'The data "were" made up.<script>alert(1)</script> See <a href="javascript:alert(2)">here</a>.'
SHOWN_REASON = 'The data "were" made up.<script>alert(1)</script> See here.'
SOURCES = (
    SourceStatus(
        "arxiv:cs.LG",
        SourceState.QUIET,
        "no announcement today: weekend; next Sunday 20:00 ET",
        asked=datetime(2026, 11, 30, 6, 30, tzinfo=UTC),
        fetched=datetime(2026, 11, 30, 6, 30, tzinfo=UTC),
        due=datetime(2026, 12, 1, 6, 30, tzinfo=UTC),
        newest="2611.20117",
        day=date(2026, 11, 27),
        records=12_345,
    ),
    SourceStatus(
        "huggingface",
        SourceState.OK,
        asked=datetime(2026, 11, 30, 6, 0, tzinfo=UTC),
        fetched=datetime(2026, 11, 30, 6, 0, tzinfo=UTC),
        due=datetime(2026, 11, 30, 12, 0, tzinfo=UTC),
        records=411,
    ),
    SourceStatus(
        "virtual:icml-2025",
        SourceState.FAILED,
        "503 from https://me:secret@icml.example.org/list.json?key=secret <script>alert(1)</script>",
        asked=datetime(2026, 11, 30, 8, 55, tzinfo=UTC),
        due=datetime(2026, 11, 30, 9, 30, tzinfo=UTC),
    ),
)
NAMES = (
    *("Emmy Noether", "Kurt Gödel", "Paul Erdős", "Sofia Kovalevskaya", "Évariste Galois", "Ada Lovelace"),
    *("Alan Turing", "Bernhard Riemann", "Henri Poincaré", "Wacław Sierpiński", "Sophie Germain", "Leonhard Euler"),
    *("Carl Gustav Jacobi", "Mary Cartwright", "Maryam Mirzakhani", "David Hilbert", "Joseph Fourier"),
    *("Pafnuty Chebyshev", "Srinivasa Ramanujan"),
)
CHINESE_NAMES = ("祖冲之", "刘徽", "秦九韶", "李善兰")
AREAS = (
    Area("Theory", "Learning Theory"),
    Area("Deep Learning", "Generative Models"),
    Area("Optimization", "Stochastic"),
    Area("Applications", "Health and Medicine"),
    Area("Theory", "Bandits and Online Learning"),
    Area("Deep Learning", "Graph Neural Networks"),
)
VENUES = ("ICML", "iclr", "nips", "Annals of Made-Up Results", "")
METHODS = (
    *("Gradient Flow", "Mirror Descent", "Diffusion"),
    *("Message Passing", "Bayesian Averaging", "Low-Rank Adaptation"),
)
TASKS = (
    *("Sparse Recovery", "Protein Folding", "Long Documents", "Noisy Labels", "Robot Grasping", "Weather Maps"),
    *("Mode Connectivity", "Few-Shot Tasks", "Private Statistics", "Tabular Data"),
)
TURNS = ("{m} for {t}", "When Does {m} Help {t}?", "On the Limits of {m} in {t}", "{t} without Tears: A Use of {m}")


def _abstract(number: int, method: str, task: str) -> str:
    return (
        f"We ask how far {method.lower()} can go on {task.lower()} when the number of examples $n$ is small. "
        f"Earlier accounts need at least $\\Omega(n^{{{number % 3 + 1}}})$ steps and say little about noise; we show "
        f"that $O\\big(\\sqrt{{n \\log n}}\\big)$ steps are enough whenever the loss is $L$-smooth, and that the rate "
        f"cannot be improved. The proof turns on a *potential argument* that may be of use elsewhere: along the path "
        f"the energy $E_t = \\frac{{1}}{{2}}\\lVert x_t - x^\\star \\rVert^2$ never grows faster than its own average. "
        f"Experiments on {number + 3} data sets agree with the theory up to a constant of about two. We end with an "
        f"example in which the assumption fails, and with it the result, so that the condition is needed. Code and "
        f"all settings are given, and every table can be made again in less than an hour on one machine."
    )


def _ordinary(number: int) -> Paper:
    method, task = METHODS[number % len(METHODS)], TASKS[number * 7 % len(TASKS)]
    day = NEWEST - timedelta(days=(number // 14) * (1 if number < 28 else 3))
    count = 2 + number * 5 % 4
    links = (Link(LinkKind.CODE, f"https://code.example.org/paper-{number}"),) if number % 3 == 0 else ()
    return Paper(
        id=number,
        title=TURNS[number % len(TURNS)].format(m=method, t=task),
        abstract="" if number % 11 == 5 else _abstract(number, method, task),
        authors=tuple(NAMES[(number * 3 + k) % len(NAMES)] for k in range(count)),
        identifiers=(Identifier(Scheme.ARXIV, f"26{6 - number % 3:02d}.{number + 1000:05d}"),),
        areas=(AREAS[number % len(AREAS)],),
        venue=VENUES[number % len(VENUES)],
        year=2026 - number // 20,
        listed=day,
        published=day - timedelta(days=4),
        links=links,
        keywords=(method.lower(), task.lower()) if number % 2 else (),
        status="Oral" if number % 9 == 0 else "",
        origins={"title": f"jsonl:{number}", "abstract": f"arxiv:{number}", "authors": f"arxiv:{number}"},
    )


def _special(papers: dict[int, Paper]) -> dict[int, Paper]:
    """Papers that try the pages: mathematics, Chinese, accents, hostile text, odd identifiers."""
    changes: dict[int, dict[str, object]] = {
        1: {"title": r"Sharp $L^p$ Bounds for $\nabla \cdot (a \nabla u) = f$ on Rough Domains", "venue": "ICML"},
        2: {
            "title": "任务数量很少时的元学习：一种构造新任务的方法",
            "abstract": "元学习通常需要大量任务。本文研究任务数量 $m$ 很少时如何构造新任务，并证明泛化误差以 "
            "$O(1/\\sqrt{m})$ 的速度下降。我们在图像与文本数据上的实验表明，"
            "该方法在五个任务时即可达到以往一百个任务的效果。",
            "authors": CHINESE_NAMES,
        },
        3: {"authors": tuple(NAMES[k % len(NAMES)] + ("" if k < len(NAMES) else f" {k}") for k in range(64))},
        4: {"title": "<script>alert(1)</script> Attention", "authors": ('"><svg onload=alert(1)>', "Ada Lovelace")},
        5: {"identifiers": (Identifier(Scheme.DOI, SICI),), "abstract": "", "damaged": True},
        6: {"summarised": True, "authors_truncated": True},
        7: {
            "links": (
                Link(LinkKind.CODE, "javascript:alert(1)"),
                Link(LinkKind.PDF, "https://example.org/a_b%20c.pdf?a=1&b=2"),
            ),
            "related": (8, 9_999),
            "other_titles": ("An Earlier Name of the Same Work",),
        },
        8: {"title": "Über die Gleichung von Gödel und Erdős: Schrödinger Bridges in Łódź"},
        9: {"identifiers": (Identifier(Scheme.OPENREVIEW, "aBc_d-Ef12"), Identifier(Scheme.ARXIV, "quant-ph/0112019"))},
        10: {
            "title": "A Very Long Title That Goes On and On, as Some Titles Do, Naming Every Part of the Method, "
            "Each of the Data Sets, and the Result, So That Nobody Needs to Read the Abstract at All"
        },
        11: {
            "notices": (
                Notice(NoticeKind.CONCERN, "", date(2026, 5, 1)),
                Notice(NoticeKind.RETRACTED, HOSTILE_REASON, date(2026, 6, 10)),
            ),
        },
        12: {"notices": (Notice(NoticeKind.WITHDRAWN, "An error in Lemma 3 breaks the bound for $p > 2$."),)},
        13: {
            "identifiers": (Identifier(Scheme.ARXIV, "2503.00013"), Identifier(Scheme.DOI, "10.1000/182")),
            "venue": "icml",
            "kind": "article",
            "published": date(2025, 3, 1),
            "versions": (Version(1, date(2025, 3, 1)), Version(2), Version(3, date(2025, 9, 30))),
            "places": (
                Place("virtual", "icml", 2025, "Oral", None, "https://icml.example.org/virtual/2025/oral/13"),
                Place("arxiv", "arxiv", None, "", date(2025, 3, 3), "https://arxiv.org/abs/2503.00013"),
                Place("huggingface", "Hugging Face Daily Papers", None, "", date(2025, 3, 4)),
                Place("feed", r"<b>Letters</b> \& <script>Notes", 2025, "<i>Poster</i>", None, "javascript:alert(1)"),
            ),
            "counts": (("citations", 1_033), ("comments", 1), ("upvotes", 19)),
            "details": (
                ("journal", "Annals of Made-Up Results <script>"),
                ("volume", "12"),
                ("number", "3"),
                ("pages", "45--67"),
                ("publisher", r"North \& South Press"),
            ),
            "added": datetime(2025, 4, 1, 9, 30, tzinfo=UTC),
            "other_titles": ("A First Name of It, with $x < y$",),
        },
        56: {"listed": None, "published": None},
        57: {"listed": None, "published": None},
        58: {"listed": None, "published": None, "year": None},
    }
    for number, change in changes.items():
        papers[number] = replace(papers[number], **change)  # type: ignore[arg-type]
    return papers


def _order(paper: Paper) -> tuple[date, int]:
    return (paper.day or date.min, paper.id)


@dataclass
class FakeLibrary:
    """Does what ``library.Library`` promises, by looking at every paper. ``calls`` are the methods called, in order."""

    papers: dict[int, Paper] = field(default_factory=lambda: _special({n: _ordinary(n) for n in range(1, 61)}))
    merged: dict[int, int] = field(default_factory=lambda: {1_001: 1})
    coverage: float = 0.61
    page_size: int = 10
    calls: list[str] = field(default_factory=list)
    ordered_for: str | None = None
    near_for: list[str | None] = field(default_factory=list)
    fault: Exception | None = None
    configured: tuple[SourceStatus, ...] = SOURCES
    parts: dict[str, float] = field(default_factory=lambda: {"words": 0.8, "meaning": 0.6})
    daily: FakeDaily = field(init=False)
    screening: FakeScreening = field(init=False)

    def __post_init__(self) -> None:
        self.daily = FakeDaily(self)
        self.screening = FakeScreening(self)

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if self.fault:
            raise self.fault

    def search(
        self,
        text: str,
        *,
        page: int = 1,
        page_size: int | None = None,
        sort: str = "relevance",
        facets: Mapping[str, Sequence[str]] | None = None,
        reader: str | None = None,
    ) -> Results:
        self._called("search")
        self.ordered_for = reader
        if not text.strip() and not facets:
            raise InputError("the query is empty; say what to search for")
        words = re.findall(r"\w+", text.lower().replace("au:", ""))
        found = [p for p in self.papers.values() if self._score(p, words) or not words]
        chosen = [p for p in found if all(set(v) & set(_values(p, k)) for k, v in (facets or {}).items())]
        chosen.sort(key=_order, reverse=sort != "oldest")
        if sort == "relevance":
            chosen.sort(key=lambda p: -self._score(p, words))
        size = page_size or self.page_size
        hits = tuple(self._hit(p, words) for p in chosen[(page - 1) * size : page * size])
        return Results(
            query=text,
            hits=hits,
            total=len(chosen),
            matching=len(chosen),
            page=page,
            page_size=size,
            facets=_facets(found),
            coverage=self.coverage,
            sort=sort,
            notes=("“au” was read as an author.",) if "au:" in text else (),
            timings={"text": 1.25, "fuse": 0.5},
        )

    @staticmethod
    def _score(paper: Paper, words: Sequence[str]) -> int:
        body = " ".join((to_plain(paper.title), to_plain(paper.abstract), *paper.authors)).lower()
        return sum(word in body for word in words)

    def _hit(self, paper: Paper, words: Sequence[str]) -> Hit:
        snippet = html.escape(to_plain(paper.abstract)[:330])
        for word in words:
            snippet = re.sub(rf"(?i)\b({re.escape(word)})\b(?![^<]*>)", r"<mark>\1</mark>", snippet)
        title = to_html(paper.title, inline=True)
        return Hit(paper, 0.8, self.parts, snippet and snippet + " …", title)

    def paper(self, id_or_identifier: int | str) -> Paper:
        self._called("paper")
        wanted = id_or_identifier
        if isinstance(wanted, int):
            wanted = self.merged.get(wanted, wanted)
            if wanted in self.papers:
                return self.papers[wanted]
        elif parsed := parse_identifier(wanted):
            for paper in self.papers.values():
                if parsed[0] in paper.identifiers:
                    return paper
        raise NotFoundError(f"no paper {id_or_identifier!r} in this library")

    def records(self, paper_id: int) -> list[StoredRecord]:
        self._called("records")
        paper = self.papers[paper_id]
        record = Record(
            source="jsonl",
            key=f"papers.jsonl/{paper_id}",
            raw='{"title": "' + paper.title + '"}',
            title=paper.title,
            title_derived=paper_id == 6,
        )
        return [StoredRecord(1000 + paper_id, paper_id, record, datetime(2026, 6, 12, 8, 30, tzinfo=UTC))]

    def similar(self, paper_id: int, limit: int = 10, *, reader: str | None = None) -> list[Hit]:
        self._called("similar")
        self.near_for.append(reader)
        others = [p for p in self.papers.values() if p.id != paper_id and p.areas == self.papers[paper_id].areas]
        return [self._hit(p, ()) for p in others[:limit]]

    def newest(self, limit: int = 60, before: tuple[date | None, int] | None = None) -> list[Paper]:
        self._called("newest")
        ordered = sorted(self.papers.values(), key=_order, reverse=True)
        start = before and (before[0] or date.min, before[1])
        return list(islice((p for p in ordered if start is None or _order(p) < start), limit))

    def days(self, limit: int = 100) -> list[tuple[date, int]]:
        self._called("days")
        counted = Counter(p.day for p in self.papers.values() if p.day)
        return sorted(counted.items(), reverse=True)[:limit]

    def status(self) -> Status:
        self._called("status")
        count = len(self.papers)
        return Status(
            home="/secret/home",
            papers=count,
            records=count + 12,
            indexed=count,
            pending_changes=0,
            encoded=int(count * self.coverage),
            encoder="e5-small",
            encoder_note="",
            details={"sources": {"arxiv": count, "jsonl": 12}} if count else {},
        )

    def bibtex(self, paper_id: int) -> str:
        self._called("bibtex")
        paper = self.papers[paper_id]
        authors = " and ".join(paper.authors)
        return f"@misc{{paper{paper_id},\n  title = {{{paper.title}}},\n  author = {{{authors}}},\n}}\n"

    def export(
        self,
        form: str,
        *,
        query: str = "",
        facets: Mapping[str, Sequence[str]] | None = None,
        ids: Sequence[int] = (),
    ) -> Iterator[str]:
        self._called("export")
        if form not in ("bibtex", "ris", "csl", "csv", "jsonl", "markdown"):
            raise InputError(f"form: {form} is none that papers can be exported in")
        found = [self.paper(n) for n in ids]
        if query:
            found = [hit.paper for hit in self.search(query, page_size=1000, facets=facets).hits]
        return (f"{form} {paper.id}: {paper.title} by {' and '.join(paper.authors)}\n" for paper in found)

    def sources(self) -> tuple[SourceStatus, ...]:
        self._called("sources")
        return self.configured


def _values(paper: Paper, facet: str) -> list[str]:
    return {
        "venue": [paper.venue] if paper.venue else [],
        "area": [area.name for area in paper.areas],
        "subarea": [str(area) for area in paper.areas if area.subarea],
        "year": [str(paper.year)] if paper.year else [],
        "code": ["yes" if paper.has_code else "no"],
    }[facet]


def _facets(papers: Sequence[Paper]) -> dict[str, tuple[FacetValue, ...]]:
    names = ("area", "subarea", "venue", "year", "code")
    counts = {name: Counter(v for p in papers for v in _values(p, name)) for name in names}
    facets = {f: tuple(FacetValue(v, n) for v, n in c.most_common()) for f, c in counts.items() if f != "subarea"}
    children: dict[str, list[FacetValue]] = {}
    for value, count in counts["subarea"].items():
        area, _, subarea = value.partition(" · ")
        children.setdefault(area, []).append(FacetValue(subarea, count))
    facets["area"] = tuple(replace(area, children=tuple(children[area.value])) for area in facets["area"])
    return facets
