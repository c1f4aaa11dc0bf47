"""Bytes to lines: compression, damage, bombs, line ends, long lines, memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import InputError
from broadsheet.model import Record, Refusal
from broadsheet.sources import Item, read_file, read_stream
from broadsheet.sources.jsonarray import elements
from broadsheet.sources.stream import PIECE, DamagedError, Stream, TooLong, compression_of, lines

TWO = b'{"title":"One"}\n{"title":"Two"}\n'
PACKERS = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
    "bzip2": lambda data: bz2.compress(data, 1),
    "xz": lzma.compress,
}


def items(path: Path, *, limit: int = 4_000_000, authors: int = 10_000, skip: int = 0) -> list[Item]:
    return list(read_file(path, max_entry_bytes=limit, max_authors=authors, skip=skip))


def titles(found: list[Item]) -> list[str]:
    return [item.entry.title for item in found if isinstance(item.entry, Record)]


def refusals(found: list[Item]) -> list[Refusal]:
    return [item.entry for item in found if isinstance(item.entry, Refusal)]


def written(folder: Path, data: bytes, name: str = "papers.jsonl") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("kind", PACKERS)
def test_every_compression_is_told_by_its_bytes_not_by_the_name(tmp_path: Path, kind: str) -> None:
    data = PACKERS[kind](TWO)
    path = written(tmp_path, data, "papers.txt")
    found = items(path)
    assert titles(found) == ["One", "Two"]
    assert compression_of(data) == ("" if kind == "plain" else kind)
    assert [(item.ordinal, item.total) for item in found] == [(0, len(data)), (1, len(data))]
    assert found[-1].position == len(data)


@pytest.mark.parametrize("kind", [kind for kind in PACKERS if kind != "plain"])
def test_several_members_are_one_stream(tmp_path: Path, kind: str) -> None:
    pack = PACKERS[kind]
    data = pack(TWO) + pack(b"") + pack(b'{"title":"Three"}\n')
    assert titles(items(written(tmp_path, data))) == ["One", "Two", "Three"]


def test_zeros_after_the_last_member_are_padding(tmp_path: Path) -> None:
    assert titles(items(written(tmp_path, gzip.compress(TWO) + b"\0" * 700))) == ["One", "Two"]


def test_other_bytes_after_the_last_member_are_damage(tmp_path: Path) -> None:
    found = items(written(tmp_path, gzip.compress(TWO) + b"tail"))
    assert titles(found) == ["One", "Two"]
    assert "damaged" in refusals(found)[0].reason


@pytest.mark.parametrize("kind", [kind for kind in PACKERS if kind != "plain"])
def test_a_cut_off_file_keeps_what_was_good(tmp_path: Path, kind: str) -> None:
    rows = b"".join(b'{"title":"Paper %d %d"}\n' % (i, i * 2654435761 % 2**32) for i in range(20_000))
    whole = PACKERS[kind](rows)
    found = items(written(tmp_path, whole[: len(whole) * 3 // 4]))
    assert len(titles(found)) > 1_000
    assert titles(found)[0].startswith("Paper 0 ")
    [refusal] = refusals(found)
    assert "file ends early" in refusal.reason
    assert refusal.line == len(found)
    assert found[-1].entry is refusal


def test_a_small_cut_off_file_keeps_its_first_line(tmp_path: Path) -> None:
    found = items(written(tmp_path, gzip.compress(TWO)[:-9]))
    assert titles(found) in (["One"], ["One", "Two"])
    assert "ends early" in refusals(found)[0].reason


def test_a_file_cut_off_in_its_header_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing of it could be read"):
        items(written(tmp_path, gzip.compress(TWO)[:7]))


def test_a_flipped_byte_is_damage_not_a_crash(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(TWO * 20_000))
    data[-8] ^= 0xFF  # the check sum
    found = items(written(tmp_path, bytes(data)))
    assert 30_000 < len(titles(found)) <= 40_000
    assert "damaged" in refusals(found)[-1].reason


@pytest.mark.parametrize("outer", [kind for kind in PACKERS if kind != "plain"])
def test_ten_layers_are_refused_after_one(tmp_path: Path, outer: str) -> None:
    data = TWO
    for _ in range(9):
        data = gzip.compress(data)
    with pytest.raises(InputError, match="compressed twice; unpack it first"):
        items(written(tmp_path, PACKERS[outer](data)))


def test_archives_are_refused_with_the_remedy(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "papers.zip", "w") as archive:
        archive.writestr("papers.docx", TWO)
    inside = written(tmp_path, TWO)
    for name, mode in (("a.tar", "w"), ("a.tar.gz", "w:gz")):
        with tarfile.open(tmp_path / name, mode) as archive:  # type: ignore[call-overload]
            archive.add(inside, "papers.jsonl")
    (tmp_path / "zip.gz").write_bytes(gzip.compress((tmp_path / "papers.zip").read_bytes()))
    for name, kind in (("a.tar", "tar"), ("a.tar.gz", "tar"), ("zip.gz", "zip")):
        with pytest.raises(InputError, match=rf"{name}: a {kind} archive.*unpack it"):
            items(tmp_path / name)


def test_the_word_bzh_is_no_compression() -> None:
    assert compression_of(b"BZhang and others wrote this") == ""


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        items(tmp_path / "none.jsonl")


@pytest.mark.parametrize("kind", PACKERS)
def test_a_stream_that_cannot_go_back(kind: str) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise OSError("not seekable")

        tell = seek

    data = PACKERS[kind](TWO)
    found = list(read_stream("stdin", Pipe(data), max_entry_bytes=1_000, max_authors=9))
    assert titles(found) == ["One", "Two"]
    assert [(item.position, item.total) for item in found] == [(len(data), None)] * 2
    [second] = read_stream("stdin", Pipe(data), max_entry_bytes=1_000, max_authors=9, skip=1)
    assert second == found[1]


def test_a_byte_order_mark_is_removed(tmp_path: Path) -> None:
    for pack in PACKERS.values():
        assert titles(items(written(tmp_path, pack(b"\xef\xbb\xbf" + TWO)))) == ["One", "Two"]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_line_ends(tmp_path: Path, end: bytes) -> None:
    data = b'{"title":"One"}' + end + end + b"[1]" + end + b'{"title":"Two"}'
    found = items(written(tmp_path, data))
    assert titles(found) == ["One", "Two"]
    assert [refusal.line for refusal in refusals(found)] == [3]


@given(
    st.lists(st.binary(max_size=12).map(lambda b: b.replace(b"\r", b"").replace(b"\n", b"")), max_size=8),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.lists(st.integers(1, 7), min_size=1, max_size=5),
)
def test_lines_do_not_depend_on_how_the_pieces_fall(rows: list[bytes], end: bytes, sizes: list[int]) -> None:
    data = end.join(rows)
    pieces, at, i = [], 0, 0
    while at < len(data):
        size = sizes[i % len(sizes)]
        pieces.append(data[at : at + size])
        at, i = at + size, i + 1
    wanted = [
        (n, row if len(row) <= 6 else TooLong(len(row)))
        for n, row in enumerate(rows, 1)
        if len(row) > 6 or (row and not row.isspace())
    ]
    assert list(lines(pieces, 6)) == wanted


def _long_line(size: int) -> Iterator[bytes]:
    yield b'{"title":"Before"}\n{"title":"Long","abstract":"'
    for _ in range(size // PIECE):
        yield b"x" * PIECE
    yield b'"}\n{"title":"After"}\n'


def test_a_500_mb_line_is_passed_over_without_being_held() -> None:
    tracemalloc.start()
    found = list(lines(_long_line(500_000_000), 4_000_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [number for number, _ in found] == [1, 2, 3]
    assert isinstance(found[1][1], TooLong)
    assert found[1][1].size > 499_000_000
    assert peak < 12_000_000


def test_a_long_line_is_refused_by_its_number(tmp_path: Path) -> None:
    long = b'{"title":"Long","abstract":"' + b"y" * 5_000 + b'"}\n'
    found = items(written(tmp_path, TWO + long + TWO), limit=2_000)
    assert titles(found) == ["One", "Two", "One", "Two"]
    assert [(r.line, "more than the 2000 allowed" in r.reason) for r in refusals(found)] == [(3, True)]


def test_the_limit_is_inclusive(tmp_path: Path) -> None:
    row = b'{"title":"' + b"t" * 1_000 + b'"}'
    assert titles(items(written(tmp_path, row + b"\n"), limit=len(row))) == ["t" * 1_000]
    assert not titles(items(written(tmp_path, row + b"\n"), limit=len(row) - 1))


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_ratio_bomb_costs_no_memory(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "bomb"
    with path.open("wb") as raw:
        out = gzip.GzipFile(fileobj=raw, mode="wb") if kind == "gzip" else zstandard.ZstdCompressor().stream_writer(raw)
        with out:
            out.write(b'{"title":"Before"}\n')
            for _ in range(200):
                out.write(bytes(1_000_000))
            out.write(b'\n{"title":"After"}\n')
    assert path.stat().st_size < 300_000
    tracemalloc.start()
    found = items(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert titles(found) == ["Before", "After"]
    assert peak < 40_000_000


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl.gz"
    row = b'{"id":"p%d","title":"A paper","abstract":"' + b"words " * 160 + b'"}\n'
    with gzip.open(path, "wb", compresslevel=1) as out:
        for i in range(50_000):
            out.write(row % i)
    tracemalloc.start()
    count = sum(isinstance(item.entry, Record) for item in read_file(path, max_entry_bytes=10_000, max_authors=10))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 50_000
    assert peak < 8_000_000


def test_positions_grow_to_the_size_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, b"".join(b'{"title":"Paper %d"}\n' % i for i in range(30_000)))
    positions = [item.position for item in items(path)]
    assert positions == sorted(positions)
    assert positions[0] < positions[-1] == path.stat().st_size


def test_stream_raises_damage_after_the_good_pieces(tmp_path: Path) -> None:
    with Stream.of(written(tmp_path, gzip.compress(b"abc" * 400)[:-4])) as stream:
        got = b""
        with pytest.raises(DamagedError):
            for piece in stream:
                got += piece
    assert got == b"abc" * 400


ARRAY = b' [ {"title": "a, [b] \\" }"} ,\n {"x": [1, {"y": 2}]}\n, 7, "t,]" ] '


@given(st.integers(1, len(ARRAY)))
def test_an_array_is_cut_the_same_wherever_the_pieces_fall(size: int) -> None:
    pieces = [ARRAY[i : i + size] for i in range(0, len(ARRAY), size)]
    wanted = [(1, b'{"title": "a, [b] \\" }"}'), (2, b'{"x": [1, {"y": 2}]}'), (3, b"7"), (3, b'"t,]"')]
    assert list(elements(pieces, 1_000, array=True)) == wanted


def test_long_elements_are_counted_not_kept() -> None:
    found = list(elements([b'[{"a":"', b"x" * 100, b'"},{"b":1}]'], 50, array=True))
    assert found == [(1, TooLong(108)), (1, b'{"b":1}')]


def test_objects_over_several_lines() -> None:
    data = b'{\n "title": "One"\n}\n\n{\n "title": "}"\n}\n'
    assert [(n, bytes(e) if not isinstance(e, TooLong) else e) for n, e in elements([data], 99, array=False)] == [
        (1, b'{\n "title": "One"\n}'),
        (5, b'{\n "title": "}"\n}'),
    ]
