"""The lists of the Computer Vision Foundation. Papers and people are invented; the markup is that of the site."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from broadsheet.errors import FetchError, InputError, SettingsError
from broadsheet.model import Link, LinkKind, Record, Refusal, SourceState
from broadsheet.sources.base import Page
from broadsheet.sources.cvf import Cvf
from tests.fakeweb import Answer, FakeWeb, Request
from tests.makers import identifier

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HOST, PATH = "openaccess.thecvf.com", "/CVPR2025"
FORM = """<form id="form-{0}" action="/CVPR2025" method="post" class="authsearch">
<input type="hidden" name="query_author" value="{0}">
<a href="#" onclick="document.getElementById('form-{0}').submit();">{0}</a>{1}</form>"""
BIBTEX = """@InProceedings{{Quill_2025_CVPR,
    author    = {{Quill, Ada and Reed, Bo}},
    title     = {{{title}}},
    booktitle = {{Proceedings of the IEEE/CVF Conference on Computer Vision and Pattern Recognition (CVPR)}},
    month     = {{June}},
    year      = {{2025}},
    pages     = {{11-20}}
}}"""


def paper(
    title: str = "Lamps in Fog &amp; Rain", slug: str = "Quill_Lamps", arxiv: str = "", bibtex: str | None = BIBTEX
) -> str:
    link = f'[<a href="http://arxiv.org/abs/{arxiv}">arXiv</a>]' if arxiv else ""
    block = f'<div class="bibref pre-white-space">{bibtex.format(title=title)}</div>' if bibtex else ""
    return f"""<dt class="ptitle"><br><a href="/content/CVPR2025/html/{slug}_CVPR_2025_paper.html">{title}</a></dt>
<dd>
{FORM.format("Ada Quill", ",")}
{FORM.format("Bo Reed", "")}
</dd>
<dd>
[<a href="/content/CVPR2025/papers/{slug}_CVPR_2025_paper.pdf">pdf</a>]
[<a href="/content/CVPR2025/supplemental/{slug}_CVPR_2025_supplemental.pdf">supp</a>]
{link}
<div class="link2">[<a class="fakelink" onclick="$(this).siblings('.bibref').slideToggle()">bibtex</a>]
{block}</div>
</dd>
"""


def listing(*papers: str) -> str:
    return f"<!DOCTYPE html><html><body><div id='content'><h3>Papers</h3><dl>{''.join(papers)}</dl></div></body></html>"


def parsed(*papers: str) -> list[Record | Refusal]:
    return list(Cvf.of("CVPR2025").parse(Page("u", listing(*papers).encode(), "")))


def only(*papers: str) -> Record:
    (entry,) = parsed(*papers)
    assert isinstance(entry, Record), entry
    return entry


def test_every_field_has_its_place() -> None:
    record = only(paper(arxiv="2501.01234"))
    assert (record.source, record.key) == ("cvf", "Quill_Lamps_CVPR_2025")
    assert (record.title, record.authors) == ("Lamps in Fog & Rain", ("Ada Quill", "Bo Reed"))
    assert record.identifiers == (identifier("arXiv:2501.01234"),)
    assert (record.venue, record.year, record.kind, record.abstract) == ("cvpr", 2025, "inproceedings", "")
    assert (record.published, record.month_only) == (date(2025, 6, 1), True)
    assert record.links == (
        Link(LinkKind.PAGE, "https://openaccess.thecvf.com/content/CVPR2025/html/Quill_Lamps_CVPR_2025_paper.html"),
        Link(LinkKind.PDF, "https://openaccess.thecvf.com/content/CVPR2025/papers/Quill_Lamps_CVPR_2025_paper.pdf"),
    )
    details = dict(record.details)
    assert details["pages"] == "11-20"
    assert details["booktitle"].startswith("Proceedings of the IEEE/CVF")
    assert details["citekey"] == "Quill_2025_CVPR"
    assert "ptitle" in record.raw
    assert "query_author" in record.raw


def test_a_paper_without_bibtex_is_taken_too() -> None:
    record = only(paper(bibtex=None))
    assert (record.authors, record.year, record.details) == (("Ada Quill", "Bo Reed"), 2025, ())


def test_a_bad_bibtex_entry_does_not_cost_the_paper() -> None:
    record = only(paper(bibtex="@InProceedings{{broken, title = {{"))
    assert (record.title, record.authors, record.details) == ("Lamps in Fog & Rain", ("Ada Quill", "Bo Reed"), ())


def test_parts_belong_to_the_title_before_them() -> None:
    first, second = parsed(paper(), paper("Rain", "Vale_Rain", arxiv="2501.00002"))
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.identifiers, len(first.authors)) == ((), 2)
    assert (second.key, second.identifiers) == ("Vale_Rain_CVPR_2025", (identifier("arXiv:2501.00002"),))
    assert "Vale_Rain" not in first.raw


def test_parts_that_are_not_closed_are_told_apart() -> None:
    open_ended = paper().replace("</dd>", "")
    records = [entry for entry in parsed(open_ended, paper("Rain", "Vale_Rain")) if isinstance(entry, Record)]
    assert [record.authors for record in records] == [("Ada Quill", "Bo Reed")] * 2
    assert [len(record.links) for record in records] == [2, 2]
    assert [dict(record.details)["pages"] for record in records] == ["11-20"] * 2


def test_letters_of_all_languages() -> None:
    assert only(paper("Lämpchen im Nebel")).title == "Lämpchen im Nebel"


def test_a_title_that_is_missing_is_refused() -> None:
    entries = parsed(paper(""), paper())
    assert [type(entry) for entry in entries] == [Refusal, Record]
    assert "entry 1: title: missing" in str(entries[0])


@pytest.mark.parametrize("body", [b"<html><body>Not yet</body></html>", b"\n", b"plain"])
def test_what_is_no_list_is_an_input_error(body: bytes) -> None:
    with pytest.raises(InputError, match="nothing was taken"):
        list(Cvf.of("CVPR2025").parse(Page("u", body, "")))


def test_of() -> None:
    assert Cvf.of("iccv2023").name == "cvf:ICCV2023"
    for rest in ("", "CVPR", "ECCV2024", "CVPR2025_workshops"):
        with pytest.raises(SettingsError, match="cvf:CVPR2025"):
            Cvf.of(rest)


def test_the_list_of_all_days_is_taken(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer(listing(paper())))
    source = Cvf.of("CVPR2025")
    (page,) = source.fetch(fakeweb.client(), "", NOW)
    assert len(list(source.parse(page))) == 1
    assert [request.query for request in fakeweb.requests] == [{"day": ["all"]}]


def test_older_conferences_have_a_list_for_each_day(fakeweb: FakeWeb) -> None:
    def answer(request: Request) -> Answer:
        day = request.query.get("day", [""])[0]
        if day.startswith("2018"):
            return Answer(listing(paper(f"Lamps of {day}", f"Quill_{day}")))
        links = "".join(f'<a href="CVPR2018.py?day=2018-06-{n}">Day</a>' for n in (20, 19, 19))
        return Answer(f"<html><body>{links if not day else 'nothing'}</body></html>")

    fakeweb.on(HOST, "/CVPR2018", answer)
    fakeweb.on(HOST, "/CVPR2018.py", answer)
    source = Cvf.of("CVPR2018")
    pages = list(source.fetch(fakeweb.client(), "", NOW))
    titles = [entry.title for page in pages for entry in source.parse(page) if isinstance(entry, Record)]
    assert titles == ["Lamps of 2018-06-19", "Lamps of 2018-06-20"]


def test_the_oldest_have_one_list(fakeweb: FakeWeb) -> None:
    fakeweb.on(
        HOST, "/CVPR2013", lambda request: Answer("none", 404) if request.query else Answer(listing(paper(bibtex=None)))
    )
    (page,) = Cvf.of("CVPR2013").fetch(fakeweb.client(), "", NOW)
    assert len(list(Cvf.of("CVPR2013").parse(page))) == 1


def test_a_conference_without_papers_is_quiet(fakeweb: FakeWeb) -> None:
    fakeweb.on(HOST, PATH, Answer("<html><body>soon</body></html>"))
    (page,) = Cvf.of("CVPR2025").fetch(fakeweb.client(), "", NOW)
    assert (page.state, page.body) == (SourceState.QUIET, b"")
    fakeweb.on(HOST, PATH, Answer("none", 404))
    with pytest.raises(FetchError):
        list(Cvf.of("CVPR2025").fetch(fakeweb.client(), "", NOW))
