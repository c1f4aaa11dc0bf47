"""Papers as files to download: the forms there are, and an answer that streams one of them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from ..model import PaperId
from ..text import fold
from .protocol import LibraryLike

PIECE = 64 * 1024  # bytes sent at once
LONGEST_NAME = 40  # characters of a question in a file name


@dataclass(frozen=True, slots=True)
class Form:
    """A form of export: ``name`` as the library calls it, ``ending`` of the file, ``title`` for the reader."""

    name: str
    ending: str
    media_type: str
    title: str


FORMS = (
    Form("bibtex", "bib", "application/x-bibtex; charset=utf-8", "BibTeX"),
    Form("ris", "ris", "application/x-research-info-systems; charset=utf-8", "RIS"),
    Form("csl", "json", "application/vnd.citationstyles.csl+json", "CSL-JSON"),
    Form("csv", "csv", "text/csv; charset=utf-8", "CSV"),
    Form("jsonl", "jsonl", "application/jsonl; charset=utf-8", "JSON Lines"),
    Form("markdown", "md", "text/markdown; charset=utf-8", "Markdown"),
)
BY_NAME = {form.name: form for form in FORMS}
OF_ONE_PAPER = tuple(form for form in FORMS if form.name in ("bibtex", "ris", "csl"))


def file_name(form: Form, about: str) -> str:
    """``broadsheet-noisy-labels.bib``: letters and digits of ASCII only, which every system can store."""
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in fold(about)).split()
    short = "-".join(words)[:LONGEST_NAME].rstrip("-")
    return f"broadsheet-{short or 'papers'}.{form.ending}"


class Download(StreamingResponse):
    """A file sent while it is made. What makes it ends with the answer, also where the reader went away before."""

    def __init__(self, first: bytes, rest: Generator[bytes], headers: Mapping[str, str]) -> None:
        super().__init__(chain((first,), rest), headers=headers)
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._rest.close()


def download(
    request: Request,
    library: LibraryLike,
    form: Form,
    about: str,
    *,
    query: str = "",
    facets: Mapping[str, Sequence[str]] | None = None,
    ids: Sequence[PaperId] = (),
) -> Response:
    """Papers as a file named after what it is ``about``.

    The first piece is made before the answer begins, so that an error until then is answered as one.
    """
    texts = library.export(form.name, query=query, facets=facets, ids=ids)
    headers = {
        "content-disposition": f'attachment; filename="{file_name(form, about)}"',
        "content-type": form.media_type,
        "cache-control": "no-cache",
    }
    return sent(request, (text.encode() for text in texts), headers)


def sent(request: Request, pieces: Iterable[bytes], headers: Mapping[str, str]) -> Response:
    """A file piece by piece; what fails before its first piece is raised here."""
    joined = _joined(pieces)
    first = next(joined, b"")
    return Response(headers=headers) if request.method == "HEAD" else Download(first, joined, headers)


def _joined(pieces: Iterable[bytes]) -> Generator[bytes]:
    """The same bytes in fewer pieces: each is a turn of a worker thread."""
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= PIECE:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)
