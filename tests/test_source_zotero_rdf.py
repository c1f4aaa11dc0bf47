"""Zotero's RDF, and folders and archives of its exports."""

from __future__ import annotations

import gzip
import zipfile
from datetime import date
from pathlib import Path

import pytest

from broadsheet.errors import InputError
from broadsheet.model import Identifier, Record, Refusal, Scheme
from broadsheet.sources import zotero_rdf
from broadsheet.sources.base import Entry, Limits
from tests.zotero_makers import items, records, refusals

LIMITS = Limits(100_000, 50)

# --- RDF

RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:z="http://www.zotero.org/namespaces/export#" xmlns:dcterms="http://purl.org/dc/terms/"
 xmlns:bib="http://purl.org/net/biblio#" xmlns:foaf="http://xmlns.com/foaf/0.1/"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:link="http://purl.org/rss/1.0/modules/link/"
 xmlns:prism="http://prismstandard.org/namespaces/1.2/basic/" xmlns:vcard="http://nwalsh.com/rdf/vCard#">
 <bib:Article rdf:about="https://example.org/bees">
  <z:itemType>journalArticle</z:itemType>
  <dcterms:isPartOf rdf:resource="urn:issn:1234-5678"/>
  <bib:authors><rdf:Seq>
   <rdf:li><foaf:Person>
    <foaf:surname>van der Berg</foaf:surname><foaf:givenName>Jan</foaf:givenName>
   </foaf:Person></rdf:li>
   <rdf:li><foaf:Person><foaf:surname>Ba</foaf:surname><foaf:givenName>Ann</foaf:givenName></foaf:Person></rdf:li>
  </rdf:Seq></bib:authors>
  <bib:editors><rdf:Seq>
   <rdf:li><foaf:Person><foaf:surname>Do</foaf:surname><foaf:givenName>Ed</foaf:givenName></foaf:Person></rdf:li>
  </rdf:Seq></bib:editors>
  <link:link rdf:resource="#item_2"/>
  <dc:subject>hives</dc:subject>
  <dc:subject><z:AutomaticTag><rdf:value>Biology - Bees</rdf:value></z:AutomaticTag></dc:subject>
  <dc:title>Bees &amp; wax</dc:title>
  <dcterms:abstract>They hum.</dcterms:abstract>
  <dc:date>2019-07-02</dc:date>
  <dc:identifier><dcterms:URI><rdf:value>https://example.org/bees</rdf:value></dcterms:URI></dc:identifier>
  <bib:pages>10-19</bib:pages>
  <dc:description>arXiv: 1907.00001</dc:description>
 </bib:Article>
 <bib:Journal rdf:about="urn:issn:1234-5678">
  <prism:volume>3</prism:volume><prism:number>2</prism:number><dc:title>Apis Weekly</dc:title>
  <dcterms:alternative>Apis</dcterms:alternative>
  <dc:identifier>DOI 10.1000/B</dc:identifier><dc:identifier>ISSN 1234-5678</dc:identifier>
 </bib:Journal>
 <z:Attachment rdf:about="#item_2"><z:itemType>attachment</z:itemType><dc:title>Full text</dc:title></z:Attachment>
 <bib:Book rdf:about="#item_7">
  <z:itemType>book</z:itemType>
  <dcterms:isPartOf><bib:Series><dc:title>Insects</dc:title><dc:identifier>12</dc:identifier></bib:Series></dcterms:isPartOf>
  <dc:publisher><foaf:Organization><vcard:adr><vcard:Address><vcard:locality>Hum</vcard:locality></vcard:Address></vcard:adr>
   <foaf:name>Hive Press</foaf:name></foaf:Organization></dc:publisher>
  <dc:title>Wax</dc:title>
  <dc:identifier>ISBN 978-0-00-000000-2</dc:identifier>
 </bib:Book>
 <z:Collection rdf:about="#collection_1"><dc:title>Reading</dc:title>
  <dcterms:hasPart rdf:resource="https://example.org/bees"/></z:Collection>
</rdf:RDF>
"""


def rdf(text: str, limits: Limits = LIMITS) -> list[Entry]:
    return list(zotero_rdf.read("My Library.rdf", text.encode(), limits))


def test_rdf() -> None:
    first, second = rdf(RDF)
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.source, first.key, first.kind) == ("zotero:My Library", "https://example.org/bees", "article")
    assert (first.title, first.abstract, first.venue) == ("Bees & wax", "They hum.", "Apis Weekly")
    assert (first.authors, first.published) == (("van der Berg, Jan", "Ba, Ann"), date(2019, 7, 2))
    assert set(first.identifiers) == {Identifier(Scheme.DOI, "10.1000/b"), Identifier(Scheme.ARXIV, "1907.00001")}
    assert first.keywords == ("hives", "Biology - Bees")
    assert first.raw.startswith("<bib:Article")
    details = dict(first.details)
    wanted = {
        "volume": "3",
        "number": "2",
        "pages": "10-19",
        "issn": "1234-5678",
        "groups": "Reading",
        "editor": "Do, Ed",
    }
    assert wanted.items() <= details.items()
    assert (second.title, second.kind, second.links) == ("Wax", "book", ())
    wanted = {
        "series": "Insects",
        "number": "12",
        "publisher": "Hive Press",
        "address": "Hum",
        "isbn": "978-0-00-000000-2",
    }
    assert dict(second.details) == wanted


def test_rdf_that_breaks_off_keeps_what_was_whole() -> None:
    found = rdf(RDF[: RDF.index("<bib:Book")] + "<bib:Book><z:itemType>book</z:itemType><dc:ti")
    assert isinstance(found[0], Record)
    assert found[0].title == "Bees & wax"
    assert isinstance(found[-1], Refusal)
    assert "not well-formed XML" in found[-1].reason
    assert found[-1].line > 30


def test_rdf_of_others_and_entities() -> None:
    with pytest.raises(InputError, match="RDF without items of Zotero; export it from there"):
        rdf('<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><x/></rdf:RDF>')
    bomb = '<!DOCTYPE r [<!ENTITY a "bee"><!ENTITY f SYSTEM "file:///etc/hostname">]>' + RDF
    first = rdf(bomb.replace("Bees &amp; wax", "Bees &f; wax"))[0]
    assert isinstance(first, Record)
    assert first.title in ("Bees wax", "Bees &f; wax")


def test_an_item_over_the_limit_is_refused_by_its_line() -> None:
    first, second = rdf(RDF, Limits(1_500, 9))
    assert isinstance(first, Refusal)
    assert first.line == 6
    assert isinstance(second, Record)


# --- folders and archives


RIS = "TY  - JOUR\nTI  - Ants\nER  - \n"


def export_folder(folder: Path) -> Path:
    (folder / "files" / "12").mkdir(parents=True)
    (folder / "files" / "12" / "paper.csv").write_text("title\nAn attachment\n")
    (folder / "files" / "12" / "paper.pdf").write_bytes(b"%PDF-1.7")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "x.ris").write_text(RIS)
    (folder / ".x.ris").write_text(RIS)
    (folder / "notes.md").write_text("# Notes")
    (folder / "My Library.rdf").write_text(RDF)
    (folder / "a.ris").write_text(RIS)
    (folder / "deep").mkdir()
    (folder / "deep" / "a.ris").write_text(RIS.replace("Ants", "Bugs"))
    (folder / "broken.csv").write_text("x,y\n1,2\n")
    (folder / "list.csv.gz").write_bytes(gzip.compress(b"title\nMoths\n"))
    return folder


def test_a_folder_of_exports(tmp_path: Path) -> None:
    folder = export_folder(tmp_path / "Export")
    found = items(folder)
    taken = [(r.source, r.title) for r in records(folder)]
    assert taken == [
        ("zotero:My Library", "Bees & wax"),
        ("zotero:My Library", "Wax"),
        ("ris:a", "Ants"),
        ("table:list", "Moths"),
        ("ris:deep/a", "Bugs"),
    ]
    [refusal] = refusals(folder)
    assert refusal.where == "broken.csv"
    assert refusal.reason.startswith("the columns 'x', 'y' name neither")
    assert [item.ordinal for item in found] == list(range(6))
    positions = [item.position for item in found]
    assert positions == sorted(positions)
    assert positions[-1] == found[-1].total
    assert [items(folder, skip) for skip in range(7)] == [found[skip:] for skip in range(7)]


def test_a_folder_without_reference_files(tmp_path: Path) -> None:
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.7")
    with pytest.raises(InputError, match=r"no reference files in this folder; read are \.bib"):
        items(tmp_path)


def test_an_archive_of_exports(tmp_path: Path) -> None:
    folder = export_folder(tmp_path / "Export")
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder))
    found = items(path)
    assert {(r.source, r.title) for r in records(path)} == {(r.source, r.title) for r in records(folder)}
    assert [r.where for r in refusals(path)] == ["broken.csv"]
    assert [items(path, skip) for skip in range(7)] == [found[skip:] for skip in range(7)]
    assert {(item.position, item.total) for item in found} == {(path.stat().st_size,) * 2}


def test_an_archive_with_a_damaged_file_keeps_the_others(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.ris", RIS)
        archive.writestr("b.ris", RIS)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"Ants", b"Bugs", 1))
    assert [r.source for r in records(path)] == ["ris:b"]
    [refusal] = refusals(path)
    assert (refusal.where, "damaged inside of x.zip" in refusal.reason) == ("a.ris", True)


def test_archives_are_not_opened_inside_of_archives(tmp_path: Path) -> None:
    inner = tmp_path / "inner.zip"
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("a.ris", RIS)
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(inner, "a.csv")  # as an archive that holds itself would be named
        archive.writestr("b.ris", RIS)
    assert [r.source for r in records(path)] == ["ris:b"]
    assert "a zip archive inside of another" in refusals(path)[0].reason


def test_a_link_that_leads_nowhere_does_not_stop_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.ris").symlink_to(tmp_path / "gone.ris")
    (tmp_path / "b.ris").write_text(RIS)
    with pytest.raises(InputError, match="cannot be opened"):
        items(tmp_path / "a.ris")
    assert [r.source for r in records(tmp_path)] == ["ris:b"]


def test_archives_that_are_too_large_or_locked(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.ris", "w", force_zip64=True) as part,
    ):
        for _ in range(320):
            part.write(bytes(2**20))
    assert path.stat().st_size < 2**20
    with pytest.raises(InputError, match="a zip archive of 1 files of 320 MB in all; unpack it"):
        items(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.ris", RIS)
    data = bytearray(path.read_bytes())
    for sign, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(sign) + at] |= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match="an encrypted zip archive; unpack it"):
        items(path)
