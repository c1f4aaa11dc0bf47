"""The one identifier parser: every pasted form, what is none, and its round trips."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.identifiers import arxiv_month, find_identifiers, implied_identifiers, parse_identifier, url_of
from broadsheet.model import Identifier, Scheme

SICI = "10.1002/(sici)1097-4598(199605)19:5<621::aid-mus10>3.3.co;2-c"


def arxiv(value: str) -> Identifier:
    return Identifier(Scheme.ARXIV, value)


@pytest.mark.parametrize(
    ("text", "value", "version"),
    [
        # A05: one parser for all forms
        ("1810.04805", "1810.04805", None),
        ("1810.04805v2", "1810.04805", 2),
        ("1810.04805V2", "1810.04805", 2),
        ("arxiv:1810.04805", "1810.04805", None),
        ("arXiv: 1810.04805v12", "1810.04805", 12),
        ("arXiv 1810.04805", "1810.04805", None),
        ("arXiv:1604.03410 [cs]", "1604.03410", None),
        ("arXiv:1604.03410v1 [cs.LG]", "1604.03410", 1),
        ("arXiv:1604.03410 [cond-mat, physics:quant-ph]", "1604.03410", None),
        ("1810.04805v2.pdf", "1810.04805", 2),
        ("10.48550/arXiv.1810.04805", "1810.04805", None),
        ("https://doi.org/10.48550/ARXIV.1707.08052", "1707.08052", None),
        ("doi:10.48550/arXiv.hep-th/9901001", "hep-th/9901001", None),
        ("https://arxiv.org/abs/1810.04805", "1810.04805", None),
        ("http://arxiv.org/abs/1810.04805v1", "1810.04805", 1),
        ("HTTPS://ARXIV.ORG/ABS/1810.04805", "1810.04805", None),
        ("https://www.arxiv.org/abs/1810.04805/", "1810.04805", None),
        ("https://arxiv.org/pdf/1810.04805v2", "1810.04805", 2),
        ("https://arxiv.org/pdf/1810.04805v2.pdf", "1810.04805", 2),
        ("https://arxiv.org/html/1810.04805v2", "1810.04805", 2),
        ("https://arxiv.org/format/1810.04805", "1810.04805", None),
        ("https://arxiv.org/ps/1810.04805", "1810.04805", None),
        ("https://arxiv.org/abs/1810.04805?context=cs.CL#top", "1810.04805", None),
        ("https://export.arxiv.org/abs/1810.04805", "1810.04805", None),
        ("https://rss.arxiv.org/abs/1810.04805", "1810.04805", None),
        ("https://browse.arxiv.org/html/1810.04805", "1810.04805", None),
        ("https://ar5iv.org/abs/1810.04805", "1810.04805", None),
        ("https://ar5iv.labs.arxiv.org/html/1810.04805", "1810.04805", None),
        ("https://www.alphaxiv.org/abs/1810.04805v1", "1810.04805", 1),
        ("https://huggingface.co/papers/1810.04805", "1810.04805", None),
        ("arxiv.org/abs/1810.04805", "1810.04805", None),
        ("//arxiv.org/abs/1810.04805", "1810.04805", None),
        ("<https://arxiv.org/abs/1810.04805>", "1810.04805", None),
        ("(https://arxiv.org/abs/1810.04805).", "1810.04805", None),
        ("“1810.04805”", "1810.04805", None),
        # A01 to A03: old ids keep their archive, in addresses too
        ("http://arxiv.org/abs/quant-ph/0112019v1", "quant-ph/0112019", 1),
        ("https://arxiv.org/abs/cmp-lg/9808001v1", "cmp-lg/9808001", 1),
        ("https://arxiv.org/abs/cs/9808001v1", "cs/9808001", 1),
        ("cs/0701188", "cs/0701188", None),
        ("math/0211159", "math/0211159", None),
        ("cond-mat/0612198", "cond-mat/0612198", None),
        ("math-ph/0612198", "math-ph/0612198", None),
        ("math.GT/0309136", "math/0309136", None),
        ("https://arxiv.org/pdf/math.GT/0309136v2.pdf", "math/0309136", 2),
        ("https://arxiv.org/pdf/hep-th%2F9901001", "hep-th/9901001", None),
        ("arXiv:hep-th/9901001", "hep-th/9901001", None),
        # A06: what cannot be seen does not count
        ("10.48550/arXiv.2402.13284\n", "2402.13284", None),
        ("\u200b2402.13284", "2402.13284", None),
        ("\ufeff2402.13284\r\n", "2402.13284", None),
        ("2402\u00ad.13284", "2402.13284", None),
        ("\u202a2402.13284\u202c", "2402.13284", None),
        ("２４０２.１３２８４", "2402.13284", None),
        ("ａｒＸｉｖ：2402.13284", "2402.13284", None),
        ("hep\u2011th/9901001", "hep-th/9901001", None),
        # four digits until December 2014, five after
        ("0704.0001", "0704.0001", None),
        ("1412.9999", "1412.9999", None),
        ("1501.00001", "1501.00001", None),
    ],
)
def test_arxiv_forms(text: str, value: str, version: int | None) -> None:
    assert parse_identifier(text) == (arxiv(value), version)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "12345",
        "2402",
        "2402.1",
        "0000.00000",
        "arXiv:0000.00000",
        "2513.00001",
        "2500.00001",
        "2402.00000",
        "1501.1234",
        "1412.12345",
        "0703.0001",
        "0601.1234",
        "2402.123456",
        "12402.13284",
        "2402.13284v0",
        "2402.13284vx",
        "hep-th/9913001",
        "hep-th/0801001",
        "hep-th/9901000",
        "nosuch/9901001",
        "hep-th/99010011",
        "attention is all you need",
        "https://arxiv.org/list/cs.LG/recent",
        "https://arxiv.org/abs/2513.00001",
        "https://example.org/abs/1810.04805",
        "https://notarxiv.org/abs/1810.04805",
        "https://huggingface.co/models/1810.04805",
        "http://[",
        "https://",
        "10.1000",
        "10.1000/",
        "doi:",
        "10.48550/arXiv.0000.00000",
        "10.48550/arXiv.nonsense",
        "PMID:",
        "PMID: 0",
        "PMID: x",
        "https://openreview.net/forum",
        "https://openreview.net/forum?id=",
        "https://openreview.net/group?id=a/b",
        "https://pubmed.ncbi.nlm.nih.gov/",
        "https://aclanthology.org/venues/acl/",
        "P18-100",
        "B18-1001",
        "a" * 3000,
    ],
)
def test_what_is_no_identifier(text: str) -> None:
    assert parse_identifier(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10.1145/3292500.3330701", "10.1145/3292500.3330701"),
        ("10.1093/MOLBEV/MSL010", "10.1093/molbev/msl010"),  # E03
        ("doi:10.1093/molbev/msl010", "10.1093/molbev/msl010"),
        ("DOI: 10.1093/molbev/msl010.", "10.1093/molbev/msl010"),
        ("(doi:10.1093/MOLBEV/MSL010).", "10.1093/molbev/msl010"),
        ("https://doi.org/10.1093/molbev/msl010", "10.1093/molbev/msl010"),
        ("http://dx.doi.org/10.1093/molbev/msl010", "10.1093/molbev/msl010"),
        ("https://www.doi.org/10.1093/molbev/msl010?x=1", "10.1093/molbev/msl010"),
        ("https://dl.acm.org/doi/abs/10.1145/3292500.3330701", "10.1145/3292500.3330701"),
        ("https://link.springer.com/chapter/10.1007/978-3-031-72567-8_12", "10.1007/978-3-031-72567-8_12"),
        ("urn:doi:10.1000/abc", "10.1000/abc"),
        ("info:doi/10.1000/abc", "10.1000/abc"),
        ("10.1007/978-3-031-72567-8_12", "10.1007/978-3-031-72567-8_12"),
        (SICI, SICI),  # B15
        (SICI.upper(), SICI),
        ("https://doi.org/10.1002/(SICI)1097-4598(199605)19:5%3C621::AID-MUS10%3E3.3.CO;2-C", SICI),
        ("10.1000%2Fabc", "10.1000/abc"),
        ("https://doi.org/10.1000%2Fabc", "10.1000/abc"),
        ("10.1016/s0140-6736(05)67889-0)", "10.1016/s0140-6736(05)67889-0"),
        ("10.1016/s0140-6736(05)67889-0", "10.1016/s0140-6736(05)67889-0"),
        ("10.1145/\n3292500.3330701", "10.1145/3292500.3330701"),
        ("10.18653/v1/P18-1001", "10.18653/v1/p18-1001"),
    ],
)
def test_doi_forms(text: str, value: str) -> None:
    assert parse_identifier(text) == (Identifier(Scheme.DOI, value), None)


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("https://openreview.net/forum?id=05T81ScPFb", Identifier(Scheme.OPENREVIEW, "05T81ScPFb")),
        ("https://openreview.net/pdf?id=05T81ScPFb", Identifier(Scheme.OPENREVIEW, "05T81ScPFb")),
        ("https://openreview.net/forum?id=05T81ScPFb&noteId=zzzzzzzz", Identifier(Scheme.OPENREVIEW, "05T81ScPFb")),
        ("openreview.net/forum?id=B1-x_yz12#all", Identifier(Scheme.OPENREVIEW, "B1-x_yz12")),
        ("openreview:05T81ScPFb", Identifier(Scheme.OPENREVIEW, "05T81ScPFb")),
        ("P18-1001", Identifier(Scheme.ACL, "P18-1001")),
        ("p18-1001", Identifier(Scheme.ACL, "P18-1001")),
        ("2020.acl-main.1", Identifier(Scheme.ACL, "2020.ACL-MAIN.1")),
        ("acl:2020.ACL-MAIN.1", Identifier(Scheme.ACL, "2020.ACL-MAIN.1")),
        ("https://aclanthology.org/2020.acl-main.1/", Identifier(Scheme.ACL, "2020.ACL-MAIN.1")),
        ("https://aclanthology.org/2020.acl-main.1.pdf", Identifier(Scheme.ACL, "2020.ACL-MAIN.1")),
        ("https://aclanthology.org/P18-1001v2.pdf", Identifier(Scheme.ACL, "P18-1001")),
        ("https://www.aclweb.org/anthology/P18-1001", Identifier(Scheme.ACL, "P18-1001")),
        ("https://www.aclweb.org/anthology/papers/P/P18/P18-1001/", Identifier(Scheme.ACL, "P18-1001")),
        ("https://aclanthology.info/papers/P18-1001/p18-1001", Identifier(Scheme.ACL, "P18-1001")),
        ("PMID: 123", Identifier(Scheme.PMID, "123")),
        ("pmid:31393839", Identifier(Scheme.PMID, "31393839")),
        ("https://pubmed.ncbi.nlm.nih.gov/31393839/", Identifier(Scheme.PMID, "31393839")),
        ("https://www.ncbi.nlm.nih.gov/pubmed/31393839", Identifier(Scheme.PMID, "31393839")),
    ],
)
def test_other_schemes(text: str, identifier: Identifier) -> None:
    assert parse_identifier(text) == (identifier, None)


def test_old_ids_of_two_archives_are_two_papers() -> None:
    assert parse_identifier("https://arxiv.org/abs/cmp-lg/9808001v1") != parse_identifier(
        "https://arxiv.org/abs/cs/9808001v1"
    )


def test_identifiers_in_running_text() -> None:
    text = (
        "See arXiv:1604.03410 [cs], doi:10.1145/123.456, https://arxiv.org/abs/2401.12345v2). "
        "Also (10.1093/MOLBEV/MSL010), "
        "PMID 33 and https://openreview.net/forum?id=05T81ScPFb; again arxiv.org/pdf/2401.12345."
    )
    assert [str(found) for found in find_identifiers(text)] == [
        "arxiv:1604.03410",
        "doi:10.1145/123.456",
        "arxiv:2401.12345",
        "doi:10.1093/molbev/msl010",
        "pmid:33",
        "openreview:05T81ScPFb",
    ]


@pytest.mark.parametrize(
    "text", ["", "It cost 2401.12345 dollars", "in 1810.04805 units", "version 10.2/3", "P18-1001 was"]
)
def test_numbers_in_running_text_are_no_identifiers(text: str) -> None:
    assert find_identifiers(text) == []


@pytest.mark.parametrize(
    ("value", "month"),
    [
        ("2401.12345", date(2024, 1, 1)),
        ("2401.12345v3", date(2024, 1, 1)),
        ("0704.0001", date(2007, 4, 1)),
        ("hep-th/9901001", date(1999, 1, 1)),
        ("math/0309136", date(2003, 9, 1)),
        ("2513.00001", None),
        ("nonsense", None),
    ],
)
def test_arxiv_month(value: str, month: date | None) -> None:
    assert arxiv_month(value) == month


def test_acl_doi_implies_the_anthology_id() -> None:
    def implied(value: str) -> list[str]:
        return [i.value for i in implied_identifiers(Identifier(Scheme.DOI, value))]

    assert implied("10.18653/v1/p18-1001") == ["P18-1001"]
    assert implied("10.18653/v1/2020.acl-main.1") == ["2020.ACL-MAIN.1"]
    assert implied("10.3115/v1/p14-1001") == ["P14-1001"]
    assert implied("10.1145/3292500.3330701") == []
    assert implied_identifiers(arxiv("2401.12345")) == ()


months = st.tuples(st.integers(7, 90), st.integers(1, 12)).filter(lambda m: m >= (7, 4))
new_ids = months.flatmap(
    lambda m: st.integers(1, 99999 if m >= (15, 1) else 9999).map(
        lambda n: f"{m[0]:02}{m[1]:02}.{n:0{5 if m >= (15, 1) else 4}}"
    )
)
old_ids = st.builds(
    "{}/{:02}{:02}{:03}".format,
    st.sampled_from(["hep-th", "cs", "math", "math-ph", "quant-ph", "cmp-lg", "q-bio"]),
    st.sampled_from([*range(91, 100), *range(0, 8)]),
    st.integers(1, 12),
    st.integers(1, 999),
)
doi_suffixes = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C", "Lu", "Lt")), min_size=1, max_size=30)
identifiers = st.one_of(
    st.builds(Identifier, st.just(Scheme.ARXIV), st.one_of(new_ids, old_ids)),
    st.builds(Identifier, st.just(Scheme.OPENREVIEW), st.from_regex(r"[A-Za-z0-9_-]{5,20}", fullmatch=True)),
    st.builds(Identifier, st.just(Scheme.PMID), st.integers(1, 10**9 - 1).map(str)),
    st.builds(
        Identifier,
        st.just(Scheme.ACL),
        st.one_of(
            st.from_regex(r"[PDNWQ][0-9]{2}-[0-9]{4}", fullmatch=True),
            st.just("2020.ACL-MAIN.1"),
            st.just("2021.FINDINGS-EMNLP.12"),
        ),
    ),
)


@given(identifiers)
def test_address_and_name_lead_back(identifier: Identifier) -> None:
    assert parse_identifier(url_of(identifier)) == (identifier, None)
    assert parse_identifier(str(identifier)) == (identifier, None)


@given(doi_suffixes)
def test_doi_is_normalised_once_and_its_address_leads_back(suffix: str) -> None:
    parsed = parse_identifier(f"10.1000/{suffix}")
    if parsed:
        assert parse_identifier(parsed[0].value) == parsed
        assert parse_identifier(url_of(parsed[0])) == parsed
        assert parse_identifier(str(parsed[0])) == parsed


@given(identifiers, st.sampled_from(["\u200b{}", "{}\n", "\ufeff{} ", "<{}>", "({})", "{}."]))
def test_wrapping_does_not_matter(identifier: Identifier, wrapping: str) -> None:
    assert parse_identifier(wrapping.format(url_of(identifier))) == (identifier, None)


@given(st.text(max_size=60))
def test_any_text_is_taken(text: str) -> None:
    parse_identifier(text)
    find_identifiers(text)
