"""Bodies within bounds, whatever they unpack to."""

from __future__ import annotations

import gzip
import random
import tracemalloc
import zlib
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broadsheet.errors import FetchError
from broadsheet.net.body import read_body
from broadsheet.net.faults import FinalError, PassingError
from tests.fakeweb import Answer, FakeWeb


def bare(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKED = {"gzip": gzip.compress, "x-gzip": gzip.compress, "GZIP ": gzip.compress, "deflate": zlib.compress, "": bytes}
PACKED_ALL = [*PACKED.items(), ("deflate", bare), ("identity", bytes)]


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[i : i + size] for i in range(0, len(data), size))


@given(data=st.binary(max_size=3000), size=st.integers(1, 500), packing=st.sampled_from(PACKED_ALL))
def test_what_was_packed_comes_back(data: bytes, size: int, packing: tuple[str, object]) -> None:
    encoding, pack = packing
    assert callable(pack)
    assert read_body(pieces(pack(data), size), {"content-encoding": encoding}, 10_000) == data


@pytest.mark.parametrize("size", [1 << 17, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, (1 << 18) + 40, 3 << 18])
@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("deflate", bare)])
def test_sizes_around_the_slices(size: int, encoding: str, pack: Callable[[bytes], bytes]) -> None:
    noise = random.Random(1).randbytes(500)
    for data in (b"a" * size, (noise * (size // 500 + 1))[:size]):
        for step in (1, 7, 65536):
            assert read_body(pieces(pack(data), step), {"content-encoding": encoding}, size) == data
            with pytest.raises(FinalError):
                read_body(pieces(pack(data), step), {"content-encoding": encoding}, size - 1)


def test_a_bomb_goes_off_within_bounds() -> None:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    zeros = bytes(1 << 20)
    bomb = b"".join(packer.compress(zeros) for _ in range(60)) + packer.flush()  # sixty megabytes in sixty kilobytes
    tracemalloc.start()
    with pytest.raises(FinalError, match="more than the 1,000,000 bytes"):
        read_body([bomb], {"content-encoding": "gzip"}, 1_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


def test_packed_nothing_without_end_is_refused() -> None:
    def for_ever() -> Iterator[bytes]:
        packer = zlib.compressobj()
        yield packer.compress(b"text")
        while True:
            yield packer.flush(zlib.Z_FULL_FLUSH) or packer.compress(b"") or b"\x00\x00\x00\xff\xff"

    with pytest.raises(FinalError, match="more than the 10,000 bytes"):
        read_body(for_ever(), {"content-encoding": "deflate"}, 10_000)


def test_members_of_a_gzip_stream_are_one_text() -> None:
    data = gzip.compress(b"one ") + gzip.compress(b"two ") + gzip.compress(b"three")
    for size in (1, 5, 1000):
        assert read_body(pieces(data, size), {"content-encoding": "gzip"}, 100) == b"one two three"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_padding_behind_the_end_is_passed_over(encoding: str) -> None:
    data = PACKED[encoding](b"text") + bytes(20)
    for size in (1, 5, 1000):
        assert read_body(pieces(data, size), {"content-encoding": encoding}, 100) == b"text"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
@pytest.mark.parametrize("kept", [1, 5, -9, -1])
def test_a_packed_answer_that_broke_off(encoding: str, kept: int) -> None:
    with pytest.raises(PassingError, match="broke off"):
        read_body([PACKED[encoding](b"a text that is not so short")[:kept]], {"content-encoding": encoding}, 100)


def test_a_packed_answer_that_is_damaged() -> None:
    data = bytearray(gzip.compress(b"a text that is not so short"))
    data[-6] ^= 0xFF  # the check sum
    with pytest.raises(PassingError, match="damaged"):
        read_body([bytes(data)], {"content-encoding": "gzip"}, 100)
    with pytest.raises(PassingError, match="damaged"):
        read_body([b"no gzip at all"], {"content-encoding": "gzip"}, 100)


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "gzip, gzip"])
def test_a_packing_that_was_not_asked_for(encoding: str) -> None:
    with pytest.raises(FinalError, match="only gzip, deflate was asked for"):
        read_body([b"x"], {"content-encoding": encoding}, 100)


def test_an_announcement_is_enough() -> None:
    def never() -> Iterator[bytes]:
        pytest.fail("was read")
        yield b""

    with pytest.raises(FinalError, match="more than the 100 bytes"):
        read_body(never(), {"content-length": "101"}, 100)


@pytest.mark.parametrize("announced", ["", "no number", "-1", "100"])
def test_an_announcement_that_says_nothing(announced: str) -> None:
    assert read_body([b"x"], {"content-length": announced}, 100) == b"x"


def test_the_client_asks_for_what_it_can_unpack(fakeweb: FakeWeb) -> None:
    fakeweb.on("arxiv.org", "/", Answer(gzip.compress(b"hello"), headers={"Content-Encoding": "gzip"}))
    assert fakeweb.client().get("https://arxiv.org/").text == "hello"
    assert fakeweb.requests[0].headers["accept-encoding"] == "gzip, deflate"


def test_a_bomb_is_told_and_not_asked_for_again(fakeweb: FakeWeb) -> None:
    bomb = Answer(gzip.compress(bytes(5_000_000)), headers={"Content-Encoding": "gzip"})
    fakeweb.on("arxiv.org", "/", bomb)
    with pytest.raises(FetchError, match=r"arxiv\.org sends more than the 100,000 bytes"):
        fakeweb.client(max_bytes=100_000).get("https://arxiv.org/")
    assert len(fakeweb.requests) == 1


def test_a_damaged_answer_is_asked_for_again(fakeweb: FakeWeb) -> None:
    headers = {"Content-Encoding": "gzip"}
    fakeweb.on("arxiv.org", "/", Answer("no gzip", headers=headers), Answer(gzip.compress(b"ok"), headers=headers))
    assert fakeweb.client().get("https://arxiv.org/").text == "ok"
    assert len(fakeweb.slept) == 1
