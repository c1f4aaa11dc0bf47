"""What is taken away from a systematic review: the flow diagram, and the review as a file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from starlette.responses import Response

from ..errors import InputError
from ..model.screening import Label, Stage
from ..model.screening import ReviewEventKind as K
from ..text import fold
from . import params
from .exports import sent
from .screening_visit import ReviewPage, Visit, address, visited
from .site import Page


@dataclass(frozen=True, slots=True)
class FileForm:
    """A form of export: its name for the library, the file's ending, its media type, and a word for the reader."""

    name: str
    ending: str
    media_type: str
    title: str
    about: str


FILE_FORMS = (
    FileForm(
        "record",
        "jsonl",
        "application/jsonl; charset=utf-8",
        "Whole review",
        "Plan, records, every decision with its time, who, why and the model’s version, and all stop statements: "
        "what anyone needs to replay it exactly, or to take it in elsewhere.",
    ),
    FileForm(
        "ris",
        "ris",
        "application/x-research-info-systems; charset=utf-8",
        "RIS",
        "For reference managers; labels in notes as ASReview writes and reads them.",
    ),
    FileForm(
        "bib",
        "bib",
        "application/x-bibtex; charset=utf-8",
        "BibTeX",
        "For LaTeX; the label of each entry in its keywords or note.",
    ),
    FileForm("csv", "csv", "text/csv; charset=utf-8", "CSV", "A table with ASReview’s column names."),
    FileForm("tsv", "tsv", "text/tab-separated-values; charset=utf-8", "TSV", "The same, parted by tabs."),
    FileForm(
        "xlsx",
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "Excel",
        "The same as a workbook.",
    ),
    FileForm("json", "json", "application/json", "JSON", "Records with their labels as one JSON document."),
)
LABELS = tuple(Label)
FILED_AS = {None: "", Label.INCLUDE: "included", Label.EXCLUDE: "excluded", Label.LATER: "put-off"}
FORM_OF = {form.name: form for form in FILE_FORMS}


def prisma(visit: Visit) -> Response:
    """The PRISMA 2020 flow diagram and its numbers."""
    return visit.render("review_prisma.html", current="prisma", counts=visit.screening.prisma(visit.name))


def prisma_svg(visit: Visit) -> Response:
    """The diagram as SVG."""
    return _picture(visit, visit.screening.prisma_svg(visit.name).encode(), "image/svg+xml", "svg")


def prisma_png(visit: Visit) -> Response:
    """The diagram as PNG."""
    return _picture(visit, visit.screening.prisma_png(visit.name), "image/png", "png")


def _picture(visit: Visit, body: bytes, media_type: str, ending: str) -> Response:
    kind = "attachment" if visit.request.query_params.get("download") else "inline"
    headers = {
        "content-disposition": f'{kind}; filename="{file_name(visit, "prisma")}.{ending}"',
        "cache-control": "private, no-store",
    }
    return Response(body, media_type=media_type, headers=headers)


def file_name(visit: Visit, what: str = "") -> str:
    """``sleep-apnoea-prisma``: letters and digits of ASCII only, which every system can store."""
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in fold(visit.review.name)).split()
    return "-".join([part for part in ("-".join(words)[:40].rstrip("-") or f"review-{visit.review.id}", what) if part])


def export(visit: Visit) -> Response:
    """The forms in which a review can be taken away."""
    return visit.render("review_export.html", current="export", forms=FILE_FORMS, withheld=withheld(visit))


WITHHELD = (
    "This review is blinded and not finished yet: its files would show what others decided. They are given "
    "when you have decided every record, or when screening was stopped for all; whoever runs the library can export it "
    "at any time with `broadsheet screen export`."
)


def withheld(visit: Visit) -> str:
    """Why files are not given to this reader; empty where they are, whatever stage the address asks for."""
    if not visit.inside:
        return ""
    decided = Counter(e.stage for e in visit.screening.history(visit.name) if e.kind is K.DECIDE)
    seen = Counter(e.stage for e in visit.screening.history(visit.name, screener=visit.viewer) if e.kind is K.DECIDE)
    unseen = {stage for stage, count in decided.items() if count > seen[stage]}
    open_ = [
        stage
        for stage in sorted({Stage.ABSTRACT, *unseen})
        if not (_has_read_all(visit, stage) or visit.is_done(stage))
    ]
    return WITHHELD if open_ else ""


def _has_read_all(visit: Visit, stage: Stage) -> bool:
    """Whether this screener has decided every record of a stage: who only stopped has not."""
    own = visit.screening.progress(visit.name, visit.screener, stage=stage, curve=False)
    return own.records > 0 and own.read == own.records


def export_file(form: FileForm) -> ReviewPage:
    """The page that gives a review as a file of a form."""

    def page(visit: Visit) -> Response:
        return download(visit, form, visit.request.query_params.get("label", ""))

    return page


def download(visit: Visit, form: FileForm, label: str = "") -> Response:
    """A review as a file, or with ``label`` its records that have it in the end.

    What fails before its first piece is answered as an error. Raises InputError if withheld.
    """
    if why := withheld(visit):
        raise InputError(why)
    only = Label(params.one_of("label", label, LABELS)) if label else None
    headers = {
        "content-disposition": f'attachment; filename="{file_name(visit, FILED_AS[only])}.{form.ending}"',
        "content-type": form.media_type,
        "cache-control": "private, no-store",
    }
    return sent(visit.request, visit.screening.export(visit.name, form.name, only=only), headers)


PAGES: list[tuple[str, Page]] = [
    address("/prisma", visited(prisma)),
    address("/prisma.svg", visited(prisma_svg)),
    address("/prisma.png", visited(prisma_png)),
    address("/export", visited(export)),
    *(address(f"/export/{form.name}", visited(export_file(form))) for form in FILE_FORMS),
]
