"""What sources of conference papers share; and that no content of a page, however odd, is an error of the program."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from datetime import date
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from broadsheet.errors import InputError, SettingsError
from broadsheet.model import Record, Refusal
from broadsheet.sources.acl import AclAnthology
from broadsheet.sources.answers import (
    entries_of,
    load_json,
    raw_of,
    read_cursor,
    status_of,
    venue_and_year,
    venue_of_group,
    write_cursor,
)
from broadsheet.sources.base import Page, Source
from broadsheet.sources.cvf import Cvf
from broadsheet.sources.huggingface import HuggingFace
from broadsheet.sources.openreview import OpenReview
from broadsheet.sources.papercopilot import PaperCopilot
from broadsheet.sources.pmlr import Pmlr
from broadsheet.sources.values import FieldError
from broadsheet.sources.virtualsite import VirtualSite
from broadsheet.sources.webpages import of_class, tree_of, words_of
from tests import (
    test_source_acl,
    test_source_cvf,
    test_source_huggingface,
    test_source_openreview,
    test_source_papercopilot,
    test_source_pmlr,
    test_source_virtualsite,
)

# --- JSON ------------------------------------------------------------------------------------------------------------

# Without whole numbers of more than 64 bits, which become floats.
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(values)
def test_json_is_read_as_the_standard_library_reads_it(value: Any) -> None:
    text = json.dumps(value)
    assert load_json(text.encode(), "u") == json.loads(text)
    assert load_json(b"\xef\xbb\xbf" + text.encode(), "u") == json.loads(text)


@given(values)
def test_raw_is_read_back(value: Any) -> None:
    assert orjson.loads(raw_of(value)) == value


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a": NaN, "b": [Infinity, -Infinity, 1]}', {"a": None, "b": [None, None, 1]}),
        (b'["half \\ud83d of one", "\\ud83d\\ude00"]', ["half \ufffd of one", "\U0001f600"]),
        (b'["bad byte \xff"]', ["bad byte \ufffd"]),
        (b"[NaN, 123456789012345678901234567890]", [None, 1.2345678901234568e29]),
    ],
)
def test_what_no_database_can_hold_is_mended(body: bytes, value: Any) -> None:
    found = load_json(body, "u")
    assert found == value
    assert orjson.loads(raw_of(found)) == value


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "u: not JSON"),
        (b"{", "u: not JSON"),
        (b"  <!doctype html>", "u: a web page where JSON was expected: the site is down or wants a browser"),
        (b"[" * 100_000, "u: not JSON"),
    ],
)
def test_what_is_not_json_is_an_input_error(body: bytes, reason: str) -> None:
    with pytest.raises(InputError) as caught:
        load_json(body, "u")
    assert str(caught.value).startswith(reason)


def test_an_entry_nested_too_deep_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(300):
        deep = [deep]
    with pytest.raises(FieldError, match="cannot be written as JSON again"):
        raw_of(deep)


def test_entries_are_counted_from_one() -> None:
    def record_of(item: int) -> Record | None:
        if item == 2:
            raise FieldError("two: not wanted")
        return Record("s", str(item), "", "T") if item % 2 else None

    found = list(entries_of("u", [1, 2, 3, 4], record_of))
    assert found == [Record("s", "1", "", "T"), Refusal("u", 0, "entry 2: two: not wanted"), Record("s", "3", "", "T")]


# --- cursors and names -----------------------------------------------------------------------------------------------


@given(st.dictionaries(st.text(), st.text() | st.integers(-(2**53), 2**53) | st.none()))
def test_a_cursor_is_read_as_it_was_written(values: dict[str, Any]) -> None:
    assert read_cursor(write_cursor(values)) == values


@pytest.mark.parametrize("cursor", ["", "[]", "7", "{", "2026-06-12", "null"])
def test_a_cursor_of_another_kind_is_the_very_beginning(cursor: str) -> None:
    assert read_cursor(cursor) == {}


@pytest.mark.parametrize(("text", "found"), [("icml/2025", ("icml", 2025)), ("NeurIPS2024", ("neurips", 2024))])
def test_venue_and_year(text: str, found: tuple[str, int]) -> None:
    assert venue_and_year("virtual", "usage", text) == found


@pytest.mark.parametrize("text", ["", "icml", "2025", "icml/25", "icml/2025/x", "icml/20255"])
def test_venue_and_year_name_the_usage(text: str) -> None:
    with pytest.raises(SettingsError, match="Usage: virtual:X"):
        venue_and_year("virtual", "virtual:X", text)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Accept (poster)", "Poster"),
        ("Accept: poster", "Poster"),
        ("NeurIPS 2024 oral", "Oral"),
        ("notable-top-5%", "Top-5%"),
        ("ICLR 2023 notable top 25%", "Top-25%"),
        ("Desk Rejected", "Desk Reject"),
        ("Withdrawn", "Withdraw"),
        ("Accept", ""),
        ("", ""),
    ],
)
def test_statuses(text: str, status: str) -> None:
    assert status_of(text) == status


@pytest.mark.parametrize("group", ["", "/", "2025", "ICML.cc", "a/2025", "ICML.cc/2025/Workshop"])
def test_odd_groups_are_no_error(group: str) -> None:
    venue, year, track = venue_of_group(group)
    assert isinstance(venue, str)
    assert year in (None, 2025)
    assert isinstance(track, str)


# --- web pages -------------------------------------------------------------------------------------------------------


def test_a_page_is_read_by_its_classes() -> None:
    root = tree_of(b"<div class='a paper b'>One <b>two</b>\n three</div><p class=paper>no</p><div class=papers>no", "u")
    assert [words_of(element) for element in of_class(root, "paper", "div")] == ["One two three"]
    assert words_of(None) == ""


@pytest.mark.parametrize("body", [b"", b"   ", b"<!-- only a comment -->"])
def test_what_holds_no_element_is_an_input_error(body: bytes) -> None:
    with pytest.raises(InputError, match="u: no web page"):
        tree_of(body, "u")


# --- no content is an error of the program ---------------------------------------------------------------------------

ODD = [
    *(None, True, 0, -1, 2.5, 1e300, 2**62, "", " ", "\0", "x" * 3000, "http://[", "javascript:alert(1)", "A;B", "é"),
    *([], [None], [[]], ["a", "b"], [{"name": None}], {}, {"value": None}, {"value": ["a"]}, {"name": "n"}),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value where something else may stand."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        found.extend(places(inner, (*path, name)))
    return found


def with_odd(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    """The value with something odd in one place."""
    changed = copy.deepcopy(value)
    holder = changed
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = odd
    return changed


huggingface = [test_source_huggingface.paper(), test_source_huggingface.paper("2503.16001")]
openreview = {
    "notes": [
        test_source_openreview.v2(pdf="/pdf"),
        test_source_openreview.decided(test_source_openreview.v1(), "Accept"),
    ]
}
virtual = {
    "pages": [{"results": [test_source_virtualsite.event(), test_source_virtualsite.event(2, paper_url=None)]}],
    "abstracts": {"2": "x"},
}
papercopilot = [
    test_source_papercopilot.entry(doi="10.1/x", arxiv="2501.00001"),
    test_source_papercopilot.entry(id="2"),
]
JSON_SOURCES: list[tuple[Source, Any]] = [
    (HuggingFace(), huggingface),
    (OpenReview("ICML.cc/2025/Conference"), openreview),
    (VirtualSite("icml", 2025), virtual),
    (PaperCopilot("icml", 2025, everything=True), papercopilot),
]


def check(source: Source, body: bytes, kind: str = "") -> list[Record | Refusal]:
    """The entries of a page; fails for any error but one that says that it is no such page."""
    try:
        entries = list(source.parse(Page("u", body, "", day=date(2026, 6, 12), kind=kind)))
    except InputError:
        return []
    for entry in entries:
        assert isinstance(entry, Refusal) or (entry.title and entry.key and entry.source == source.kind)
        if isinstance(entry, Record):
            assert all(re.match(r"https?://[^/]+", link.url) and " " not in link.url for link in entry.links)
    return entries


@pytest.mark.parametrize(("source", "whole"), JSON_SOURCES, ids=lambda value: getattr(value, "kind", ""))
def test_anything_in_any_place_is_a_refusal_or_left_out(source: Source, whole: Any) -> None:
    sound = check(source, json.dumps(whole).encode())
    assert len(sound) == 2
    for path in places(whole):
        for odd in ODD:
            entries = check(source, json.dumps(with_odd(whole, path, odd)).encode())
            if len(path) > 3 and path[:2] != ("pages", 0):  # one entry is touched: the other stays as it was
                assert any(entry in entries for entry in sound), (path, odd)


TEXTS: list[tuple[Source, bytes, str]] = [
    (
        AclAnthology("2025.acl"),
        test_source_acl.collection(test_source_acl.paper(), test_source_acl.paper(number="8")),
        "",
    ),
    (Cvf("cvpr", 2025), test_source_cvf.listing(test_source_cvf.paper(), test_source_cvf.paper("B", "B")).encode(), ""),
    (Pmlr(267), (test_source_pmlr.entry() + test_source_pmlr.entry("two25a")).encode(), "bibtex"),
    (Pmlr(267), test_source_pmlr.listing(test_source_pmlr.block(), test_source_pmlr.block("B", "b25a")), "html"),
    *((source, json.dumps(whole).encode(), "") for source, whole in JSON_SOURCES),
]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(TEXTS), st.data())
def test_a_damaged_page_is_no_error_of_the_program(page: tuple[Source, bytes, str], data: st.DataObject) -> None:
    source, body, kind = page
    start = data.draw(st.integers(0, len(body)))
    end = data.draw(st.integers(start, min(len(body), start + 200)))
    check(source, body[:start] + data.draw(st.binary(max_size=20)) + body[end:], kind)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TEXTS), st.binary(max_size=200))
@example(TEXTS[0], b"\0")
@example(TEXTS[1], b"<dt class=ptitle>")
def test_any_bytes_are_no_error_of_the_program(page: tuple[Source, bytes, str], body: bytes) -> None:
    check(page[0], body, page[2])


@pytest.mark.parametrize(("source", "body", "kind"), TEXTS, ids=lambda value: getattr(value, "name", ""))
def test_parsing_is_pure(source: Source, body: bytes, kind: str) -> None:
    assert check(source, body, kind) == check(source, body, kind)
    assert len(check(source, body, kind)) == 2


OF: list[tuple[Callable[..., Source], str]] = [
    (HuggingFace.of, ""),
    (OpenReview.of, "ICML.cc/2025/Conference"),
    (VirtualSite.of, "icml/2025"),
    (Cvf.of, "CVPR2025"),
    (Pmlr.of, "v267"),
    (AclAnthology.of, "2025.acl"),
    (PaperCopilot.of, "icml/2025"),
]


@pytest.mark.parametrize(("of", "rest"), OF)
def test_the_name_of_a_source_opens_it_again(of: Callable[..., Source], rest: str) -> None:
    source = of(rest)
    kind, _, own = source.name.partition(":")
    assert kind == source.kind
    assert of(own).name == source.name
    assert source.usage.startswith(source.kind)
