"""Venues: what names one venue, and how it is spelled."""

from __future__ import annotations

import pytest

from broadsheet.ingest.derive import derive
from broadsheet.model import Record
from broadsheet.search.compose import facet_filter
from broadsheet.search.facets import arrange
from broadsheet.sources.bibtex import to_bibtex
from broadsheet.venues import venue_key, venue_keys, venue_name


@pytest.mark.parametrize(
    ("name", "key", "shown"),
    [
        ("nips", "neurips", "NeurIPS"),
        ("NIPS", "neurips", "NeurIPS"),
        ("neurips", "neurips", "NeurIPS"),
        ("Advances in Neural Information Processing Systems", "neurips", "NeurIPS"),
        ("icml", "icml", "ICML"),
        ("3dv", "3dv", "3DV"),
        ("ICML", "icml", "ICML"),
        ("Annals", "Annals", "Annals"),
        ("siggraph", "siggraph", "SIGGRAPH"),
        ("corl", "corl", "CoRL"),
        ("interspeech", "interspeech", "Interspeech"),
        ("Interspeech", "interspeech", "Interspeech"),
        ("arXiv", "arxiv", "arXiv"),
        ("bioRxiv", "biorxiv", "bioRxiv"),
        ("Annals of Made-Up Results", "Annals of Made-Up Results", "Annals of Made-Up Results"),
        ("", "", ""),
    ],
)
def test_a_venue_has_one_key_and_the_name_its_readers_know(name: str, key: str, shown: str) -> None:
    assert venue_key(name) == key
    assert venue_name(name) == shown
    assert venue_key(key) == key


def test_papers_of_a_renamed_venue_stand_under_one_key() -> None:
    records = [
        Record(source="s", key=str(n), raw="{}", title="T", venue=venue) for n, venue in enumerate(("nips", "neurips"))
    ]
    assert {derive(1, [record]).venue for record in records} == {"neurips"}


def test_a_bibtex_entry_names_a_venue_as_its_readers_do() -> None:
    paper = derive(1, [Record(source="s", key="1", raw="{}", title="T", venue="nips", year=2017)])
    assert "{NeurIPS}" in to_bibtex(paper)


@pytest.mark.parametrize("name", ["nips", "NeurIPS"])
def test_asking_for_a_venue_finds_what_was_stored_under_its_other_key(name: str) -> None:
    assert set(venue_keys(name)) >= {"nips", "neurips"}
    asked = repr(facet_filter("venue", [name]))
    assert "'nips'" in asked and "'neurips'" in asked


def test_a_facet_counts_a_venue_once_though_papers_bear_both_keys() -> None:
    shown = arrange({"venue": {"nips": 5, "icml": 6, "neurips": 2}})["venue"]
    assert [(value.value, value.count) for value in shown] == [("neurips", 7), ("icml", 6)]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("ICML", "icml"),
        ("Proceedings of the 41st International Conference on Machine Learning", "icml"),
        ("International Conference on Machine Learning", "icml"),
        ("Proceedings of the Thirty-Seventh International Conference on Machine Learning", "icml"),
        ("International Conference on Machine Learning (ICML)", "icml"),
        ("Machine Learning", "Machine Learning"),  # the journal
        ("Computational Linguistics", "Computational Linguistics"),
        ("Proceedings of the 28th International Conference on Computational Linguistics", "coling"),
        ("Advances in Neural Information Processing Systems 31", "neurips"),
        ("Advances in Neural Information Processing Systems", "neurips"),
        ("2019 IEEE/CVF Conference on Computer Vision and Pattern Recognition (CVPR)", "cvpr"),
        ("Proceedings of the IEEE/CVF International Conference on Computer Vision", "iccv"),
        ("European Conference on Computer Vision", "eccv"),
        ("Proceedings of the 2021 Conference on Empirical Methods in Natural Language Processing", "emnlp"),
        ("Proceedings of the 58th Annual Meeting of the Association for Computational Linguistics", "acl"),
        ("Findings of the Association: ACL 2024", "Findings of the Association: ACL 2024"),
        ("ICML Workshop on Bees", "ICML Workshop on Bees"),
        ("Proceedings of the Workshop on Machine Learning", "Proceedings of the Workshop on Machine Learning"),
        ("Proceedings of the AAAI Conference on Artificial Intelligence", "aaai"),
        ("Physical Review Letters", "Physical Review Letters"),
        ("PNAS", "pnas"),
        ("Nature", "Nature"),
        ("Icml", "icml"),
        ("Learning Theory and Kernel Machines", "Learning Theory and Kernel Machines"),
    ],
)  # fmt: skip
def test_long_names_of_conferences(name: str, key: str) -> None:
    assert venue_key(name) == key
