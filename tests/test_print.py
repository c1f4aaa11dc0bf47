"""The printed edition: one HTML file that needs nothing else, and a PDF that is set like a newspaper."""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path

import lxml.html
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadsheet.errors import MissingExtraError, SettingsError
from broadsheet.mail.printing import SIZES, to_html, to_pdf
from broadsheet.model import Link, LinkKind, Notice, NoticeKind
from broadsheet.model.reading import Edition, Reason
from tests.editions import SENTENCE, changed, edition, entry, paper, usual
from tests.test_mail_message import assert_inert


def pdf_is_possible() -> bool:
    """Whether WeasyPrint and the libraries of the system are there; without one of them it only warns."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import weasyprint  # noqa: F401
    except (ImportError, OSError):
        return False
    return True


needs_pdf = pytest.mark.skipif(not pdf_is_possible(), reason="WeasyPrint or Pango is not installed")


def words_of(html: str) -> str:
    page = lxml.html.document_fromstring(html)
    for style in page.iter("style", "title"):
        style.text = ""
    return " ".join(page.text_content().split())


def test_every_paper_stands_on_the_page_once_with_its_reasons() -> None:
    html = to_html(usual())
    told = words_of(html)
    for number in range(1, 12):
        assert len(re.findall(rf"Sorting pebbles, part {number}\b", told)) == 1
    assert told.count("Like 3 papers you saved on tides") == 11  # with a capital, as on the site
    assert told.startswith("Broadsheet Tuesday, 1 December 2026For me11 papers chosen from 512")
    sections = re.findall(r'<h2 class="section">(.*?)</h2>', html)
    assert sections == ["Machine Learning", "Elsewhere", "Discovery"]
    assert '<a href="https://arxiv.org/abs/2611.00001">Sorting pebbles, part 1</a>' in html


def test_the_lead_is_the_first_paper_and_larger() -> None:
    page = lxml.html.document_fromstring(to_html(usual()))
    (lead,) = page.find_class("lead")
    assert [h.text_content() for h in lead.iter("h2")] == ["Sorting pebbles, part 1"]
    assert len(page.findall(".//h3")) == 10


def test_discoveries_are_marked_where_no_heading_says_it() -> None:
    numbers = (entry(paper(1)), entry(paper(2), explored=True), entry(paper(3), explored=True))
    front = replace(usual().sections[0], entries=numbers)
    html = to_html(replace(usual(), sections=(front, usual().sections[3])))
    assert html.count('<p class="label">Discovery</p>') == 2


def test_notes_notices_and_the_site() -> None:
    told = replace(changed(usual(), notices=(Notice(NoticeKind.CONCERN),)), notes=("No announcement: weekend.",))
    html = to_html(told, site="https://papers.example.org/", reader="Ada")
    assert '<p class="note">No announcement: weekend.</p>' in html
    assert '<p class="label">Expression of concern</p>' in html
    assert '<a href="https://papers.example.org/edition/2026-12-01">' in html
    assert "For Ada" in html


def test_formulas_are_raised_and_lowered() -> None:
    html = to_html(changed(usual(), title=r"Rates of $n^{-1/2}$ & $\alpha_i < 1$"))
    assert "Rates of n<sup>-1/2</sup> &amp; α<sub>i</sub> &lt; 1" in html


def test_nothing_is_loaded_from_elsewhere() -> None:
    html = to_html(usual(), site="https://papers.example.org")
    assert not re.search(r"url\(|@import|<link|<script|<img|src=", html)
    assert {a.get("href") for a in lxml.html.fromstring(html).iter("a")} >= {"https://arxiv.org/abs/2611.00001"}


def test_it_is_set_in_columns_and_can_be_printed() -> None:
    html = to_html(usual(), size="letter")
    assert "@page { size: letter; }" in html
    assert "column-rule" in html
    assert "hyphens: auto" in html
    assert "counter(page)" in html
    assert all(f"size: {size};" in to_html(usual(), size=size) for size in SIZES)


def test_long_abstracts_are_cut_at_a_sentence() -> None:
    told = words_of(to_html(edition([paper(1, abstract=SENTENCE * 99), paper(2, abstract=SENTENCE * 99)])))
    assert told.count("how often the tide disagrees. …") == 2
    assert len(told) < 4_000


@pytest.mark.parametrize(("site", "size"), [("papers.example.org", "A4"), ("javascript:x", "A4")])
def test_a_site_that_is_no_address(site: str, size: str) -> None:
    with pytest.raises(SettingsError, match="site_url"):
        to_html(usual(), site=site, size=size)


def test_a_size_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="A4, letter"):
        to_html(usual(), size="A4; } body { display: none")


BAD = [
    "<script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "</style><b>",
    "$<img src=a onerror=alert(1)>%$",
    "{{ 7 }}",
]


def hostile(bad: str) -> Edition:
    link = Link(LinkKind.PAGE, f"javascript:alert(1)//{bad}")
    told = paper(1, title=bad, abstract=bad, authors=(bad,), venue=bad, identifiers=(), links=(link,))
    front = replace(usual().sections[0], title=bad, entries=(entry(told, bad), entry(replace(told, id=2), bad)))
    return replace(usual(), sections=(front,), notes=(bad,))


@pytest.mark.parametrize("bad", BAD)
def test_hostile_texts_are_inert(bad: str) -> None:
    html = to_html(hostile(bad), reader=bad)
    assert_inert(html)
    assert html.count("<style>") == html.count("</style>") == 1


@given(st.text(max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_text_is_inert(text: str) -> None:
    assert_inert(to_html(hostile(text), reader=text))


def pages(html: str) -> list[str]:
    from pypdf import PdfReader

    return [page.extract_text() for page in PdfReader(io.BytesIO(to_pdf(html))).pages]


@needs_pdf
def test_a_pdf_has_every_paper_and_page_numbers() -> None:
    numbers = iter(range(1, 100))
    told = edition(*([paper(next(numbers), abstract=SENTENCE * 8) for _ in range(size)] for size in (10, 9, 4, 2)))
    texts = pages(to_html(told))
    assert len(texts) >= 2
    assert [text.strip().split("\n")[-1] for text in texts] == [str(n + 1) for n in range(len(texts))]
    whole = " ".join(" ".join(texts).split())
    assert all(f"Sorting pebbles, part {n}" in whole for n in range(1, 26))
    assert "Tuesday, 1 December 2026" in texts[0]


@needs_pdf
def test_reasons_and_titles_are_not_torn_over_columns() -> None:
    import weasyprint

    reasons = tuple(Reason("similar", f"like “{SENTENCE[:50]} {n}”, which you saved") for n in range(3))
    sizes = (7, 6)
    numbers = iter(range(1, 100))
    stories = [
        [
            replace(entry(paper(next(numbers), abstract=SENTENCE * (3 + n % 4))), reasons=reasons[: 1 + n % 3])
            for n in range(size)
        ]
        for size in sizes
    ]
    made = edition(*([one.paper for one in group] for group in stories))
    told = tuple(replace(one, entries=tuple(group)) for one, group in zip(made.sections, stories, strict=True))
    document = weasyprint.HTML(string=to_html(replace(made, sections=told))).render()
    pieces: Counter[int] = Counter()
    names: dict[int, str] = {}
    for page in document.pages:
        for box in page._page_box.descendants():
            whole = isinstance(box, weasyprint.formatting_structure.boxes.BlockLevelBox) and box.element is not None
            name = box.element.get("class", "") if whole else ""
            if name in {"foot", "why", "place", "byline"}:
                pieces[id(box.element)] += 1
                names[id(box.element)] = name
    assert len(names) >= 3 * sum(sizes)
    assert {names[key] for key, count in pieces.items() if count > 1} == set()


@needs_pdf
def test_a_pdf_of_chinese_greek_and_hostile_texts() -> None:
    told = changed(
        usual(), title="大模型的检索增强生成", authors=("Ελένη Παππά",), abstract=r"Let $\beta \leq \gamma$."
    )
    (text, *_) = pages(to_html(told, size="letter"))
    assert "大模型的检索增强生成" in "".join(text.split())
    assert "Ελένη Παππά" in text
    assert "β ≤ γ" in text
    assert pages(to_html(hostile("".join(BAD))))


@needs_pdf
def test_a_pdf_loads_nothing(tmp_path: Path) -> None:
    picture = tmp_path / "picture.svg"
    picture.write_text('<svg xmlns="http://www.w3.org/2000/svg"><text y="10">SECRETWORD</text></svg>')
    html = to_html(usual()).replace("<article", f'<img src="{picture.as_uri()}"><article', 1)
    assert not any("SECRETWORD" in text for text in pages(html))


def test_pdf_without_weasyprint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(MissingExtraError, match=r"broadsheet\[print\]"):
        to_pdf(to_html(usual()))


def test_pdf_without_pango(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "weasyprint"]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / "weasyprint.py").write_text("raise OSError('cannot load library libpango-1.0-0')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(MissingExtraError, match="Pango"):
        to_pdf(to_html(usual()))
