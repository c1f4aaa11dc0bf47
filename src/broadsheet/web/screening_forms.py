"""The forms of systematic reviews: parse, one call of ``library.screening``, and on to the next page."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ..errors import InputError
from ..model.reading import Reader
from ..model.screening import Chosen, Criterion, Label, Offer, Plan, PoolSummary, Sharing, SourceKind, StoppingPlan
from . import params, screening_pairs
from .acting import Post, see
from .forms import Form, Upload
from .params import ParameterError, one_of, whole_number
from .screening_pages import Draft, as_chosen, following, sheet
from .screening_protocol import ScreenedLike
from .screening_views import DEFAULT_MODEL, MODES, RULES
from .screening_visit import ROOT, Visit, address, posted
from .site import Site

MOST_PRIORS = 500
MOST_HITS = 100_000
LONGEST_TEXT = 20_000
DECIDING = (Label.INCLUDE, Label.EXCLUDE, Label.LATER)
_CODE = re.compile(r"([^\s:]{1,20}):\s*(.*)")
_BETWEEN = re.compile(r"[\s,;]+")
_DIRT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff]+")


# --------------------------------------------------------------------------------------------------------------- plan


def criteria(including: str, excluding: str) -> tuple[Criterion, ...]:
    """Criteria from lines, each ``CODE: text`` or a text alone, which is then numbered: I1, I2, E1, E2."""
    found: list[Criterion] = []
    taken: set[str] = set()
    for letter, text, excludes in (("I", including, False), ("E", excluding, True)):
        for line in filter(None, map(params.clean, text.splitlines())):
            known = _CODE.fullmatch(line)
            code = known[1] if known else _free(letter, taken)
            found.append(Criterion(code, known[2] if known else line, excludes))
            taken.add(code)
    return tuple(found)


def _free(letter: str, taken: set[str]) -> str:
    number = 1
    while f"{letter}{number}" in taken:
        number += 1
    return f"{letter}{number}"


def listed(text: str) -> tuple[str, ...]:
    """Words or names written one a line or parted by commas, each once."""
    return tuple(dict.fromkeys(filter(None, (params.clean(part) for part in re.split(r"[\n,;，；、]", text)))))


def long_text(form: Form, name: str) -> str:
    """A field of several lines, without what a text that was pasted from elsewhere may have and no store takes.

    Raises ParameterError where it is too long.
    """
    text = _DIRT.sub(" ", form.raw(name).replace("\r\n", "\n").replace("\r", "\n")).strip()
    if len(text) > LONGEST_TEXT:
        raise ParameterError(name, f"may have at most {LONGEST_TEXT:,} characters")
    return text


def changes_of(form: Form) -> dict[str, Any]:
    """What a form says of the plan: fields of ``Plan`` and of ``StoppingPlan`` by name. Raises ParameterError."""
    fields = form.fields
    found: dict[str, Any] = {name: long_text(form, name) for name in ("question", "description") if name in fields}
    if "include" in fields or "exclude" in fields:
        found["criteria"] = criteria(long_text(form, "include"), long_text(form, "exclude"))
    found |= {name: listed(long_text(form, name)) for name in ("terms", "screeners") if name in fields}
    if "sharing" in fields:
        found["sharing"] = Sharing(one_of("sharing", form.text("sharing"), [kind.value for kind in Sharing]))
    found |= {name: form.text(name) for name in ("model", "querier") if form.text(name)}
    if found.get("model") == DEFAULT_MODEL:
        found["model"] = ""
    return found | stopping_of(form)


def stopping_of(form: Form) -> dict[str, Any]:
    """What a form says of the stopping plan; shares are given in percent. Raises ParameterError."""
    found: dict[str, Any] = {}
    for name in ("target", "confidence", "floor"):
        if form.text(name):
            found[name] = round(form.decimal(name, 0, 100) / 100, 10)
    if form.text("advantage"):
        found["advantage"] = form.decimal("advantage", 1, 1_000)
    for name, low in (("in_a_row", 1), ("budget", 0)):
        if form.text(name):
            found[name] = whole_number(name, form.text(name), low=low, high=10**9)
    if form.text("rule"):
        rule = form.text("rule")
        second, joined = form.text("second"), form.text("joined")
        if second and joined:
            one_of("second", second, RULES)
            rule = f"{rule} {one_of('joined', joined, ('or', 'and'))} {second}"
        found["rule"] = rule
    return found


def create(site: Site, request: Request, form: Form, reader: Reader) -> Response:
    """Begin a review."""
    given = changes_of(form)
    stopping = {name: given.pop(name) for name in StoppingPlan.__dataclass_fields__ if name in given}
    plan = Plan(**given, stopping=StoppingPlan(**stopping))
    made = site.library.screening.create(form.text("name"), plan, screener=reader.name)
    return see(f"{ROOT}/{made.id}")


def take_in(site: Site, request: Request, form: Form, reader: Reader) -> Response:
    """Take in a review that was exported whole."""
    if not form.files:
        raise InputError("No file was chosen: take the one that “Whole review” under “Export” gives.")
    made = site.library.screening.import_(io.BytesIO(form.file), form.text("name"), screener=reader.name)
    return see(f"{ROOT}/{made.id}")


def change(visit: Visit, form: Form) -> Response:
    """Change the plan."""
    visit.screening.change(visit.name, screener=visit.screener, **changes_of(form))
    return see(visit.url("/settings", done="plan"))


def remove(visit: Visit, form: Form) -> Response:
    """Remove the review, where its name is written out."""
    if form.text("sure") != params.clean(visit.review.name):
        raise InputError(f"Nothing was removed: write the review’s name, {visit.review.name}, to say that you mean it.")
    visit.screening.remove(visit.name)
    return see(ROOT)


# --------------------------------------------------------------------------------------------------------------- pool


def filled(visit: Visit) -> Response:
    """Back to the pool, whose list says what came of each source."""
    return see(visit.url(done="added") + "#pool")


def add_files(visit: Visit, form: Form) -> Response:
    """Fill the pool from files."""
    if not form.files:
        raise InputError("No file was chosen: take RIS, nbib, BibTeX, CSV, TSV, XLSX or JSON Lines.")
    called, kind = form.text("called"), _kind(form)
    for sent in form.files:
        add_file(visit, sent, called, kind)
    return filled(visit)


def add_file(visit: Visit, sent: Upload, called: str = "", kind: SourceKind | None = None) -> PoolSummary:
    """Fill the pool from a file that was sent; in reports its source is ``called`` so."""
    source = sent.name.replace("\\", "/").rpartition("/")[2] or "file"
    content, who = io.BytesIO(sent.content), visit.screener
    return visit.screening.add_stream(visit.name, content, source, screener=who, called=called, kind=kind)


def name_source(visit: Visit, form: Form) -> Response:
    """Say what a source is called in reports."""
    visit.screening.name_source(
        visit.name, form.number("source"), form.text("called"), _kind(form), screener=visit.screener
    )
    return see(visit.url(done="named") + "#pool")


def _kind(form: Form) -> SourceKind | None:
    word = form.text("kind")
    return SourceKind(one_of("kind", word, SourceKind)) if word else None


def add_search(visit: Visit, form: Form) -> Response:
    """Fill the pool with what a search finds."""
    query = form.text("query")
    if len(query) > params.MAX_QUERY:
        raise ParameterError("query", f"may have at most {params.MAX_QUERY:,} characters")
    limit = whole_number("limit", form.text("limit") or "1000", low=1, high=MOST_HITS)
    visit.screening.add_search(visit.name, query, limit=limit, screener=visit.screener)
    return filled(visit)


def add_saved_search(visit: Visit, form: Form) -> Response:
    """Fill the pool with what a saved search finds."""
    limit = whole_number("limit", form.text("limit") or "1000", low=1, high=MOST_HITS)
    visit.screening.add_saved_search(
        visit.name, form.number("search"), reader=visit.screener, limit=limit, screener=visit.screener
    )
    return filled(visit)


def add_papers(visit: Visit, form: Form) -> Response:
    """Fill the pool with papers of the library."""
    names = [part for part in _BETWEEN.split(long_text(form, "papers")) if params.clean(part)]
    if not names:
        raise ParameterError("papers", "name papers by number, arXiv id, DOI or address")
    found = [params.paper_reference(name) for name in names]
    visit.screening.add_papers(visit.name, found, screener=visit.screener)
    return filled(visit)


def prior(visit: Visit, form: Form) -> Response:
    """Say what is known of records before they are screened."""
    label = Label(one_of("label", form.text("label"), [Label.INCLUDE.value, Label.EXCLUDE.value]))
    given = " ".join(form.fields.get("numbers", ()))
    numbers = [part for part in _BETWEEN.split(given.strip()) if part]
    if not 0 < len(numbers) <= MOST_PRIORS:
        raise ParameterError("numbers", f"name from 1 to {MOST_PRIORS} records by their numbers in the pool")
    found = [whole_number("numbers", number, low=1, high=params.MAX_ID) for number in numbers]
    visit.have(*found)
    visit.screening.prior(visit.name, found, label, visit.screener, stage=visit.stage)
    return see(form.back(visit.url(done="prior")))


# ---------------------------------------------------------------------------------------------------------- decisions


def _reasons(visit: Visit, form: Form, label: Label) -> tuple[str, ...]:
    """The codes that were marked; one to exclude, as of an exclusion that is corrected, is none of an inclusion."""
    marked = tuple(form.texts("reason"))
    if label is not Label.INCLUDE:
        return marked
    against = {criterion.code for criterion in visit.review.plan.criteria if criterion.excludes} | {"not-retrieved"}
    return tuple(code for code in marked if code not in against)


def decide(visit: Visit, form: Form) -> Response:
    """Decide the record that the form was made for, and go on to the next one.

    What was sent twice is taken once. Where the record was decided meanwhile, by another screener of a shared review or
    from another page, nothing is kept, and the sheet comes again with what stands and with what was sent.
    """
    number = form.number("record")
    label = Label(one_of("label", form.text("label"), [known.value for known in DECIDING]))
    mode = one_of("mode", form.text("mode") or "auto", MODES)
    found = visit.record(number)
    offer = Offer(found.record, Chosen.MANUAL)
    if form.text("by"):
        offer = as_chosen(offer, form.text("by"), form.text("place"), form.text("unread"), form.text("model"))
    reasons, note = _reasons(visit, form, label), long_text(form, "note")
    if not _is_again(visit, found, label, reasons, note):
        if _was_decided_meanwhile(visit, found, form, label):
            look = visit.screening.look(visit.name, number, visit.screener, stage=visit.stage)
            offer = replace(look, chosen=offer.chosen, place=offer.place, unread=offer.unread, model=offer.model)
            return sheet(visit, offer, mode=mode, draft=Draft(form.texts("reason"), note), unkept=label)
        visit.screening.decide(
            visit.name, number, label, visit.screener, stage=visit.stage, reasons=reasons, note=note, offer=offer
        )
    if form.text("back"):
        return see(form.back())
    return see(following(visit, mode, begin=True, was=number))


def _is_again(visit: Visit, found: ScreenedLike, label: Label, reasons: Sequence[str], note: str) -> bool:
    """Whether this screener has decided just so already, as where a form was sent twice."""
    stands = visit.held(found) is label and found.own is label
    return stands and set(reasons) == set(found.reasons) and note == found.note


def _was_decided_meanwhile(visit: Visit, found: ScreenedLike, form: Form, label: Label) -> bool:
    """Whether another decision stands than the page showed. A form that does not say what it showed may change what
    its sender decided, and nobody else's."""
    held = visit.held(found)
    if "held" in form.fields:
        return (held.value if held else "") != form.text("held")
    return held is not None and held is not found.own and held is not label


def audit(visit: Visit, form: Form) -> Response:
    """Begin the audit that is due, and go on to the next record; where it has begun already, only that."""
    mode = one_of("mode", form.text("mode") or "auto", MODES)
    return see(following(visit, mode, begin=True))


def undo(visit: Visit, form: Form) -> Response:
    """Take back a decision, and show its record again as it was offered then."""
    event = form.number("event") if form.text("event") else None
    undone = visit.screening.undo(visit.name, visit.screener, event=event)
    if form.text("back"):
        return see(form.back())
    if undone is None:
        return see(visit.url("/screen"))
    taken = next(
        (e for e in visit.screening.history(visit.name, undone.record, screener=visit.viewer) if e.id == undone.undoes),
        None,
    )
    how: dict[str, object] = {"undone": 1}
    if taken is not None and taken.chosen is not None and taken.chosen.value != "prior":
        how |= {"by": taken.chosen.value, "place": taken.place, "unread": taken.unread, "model": taken.model}
    return see(visit.url(f"/screen/{undone.record}", **how))


def resolve(visit: Visit, form: Form) -> Response:
    """Decide a conflict."""
    label = Label(one_of("label", form.text("label"), [Label.INCLUDE.value, Label.EXCLUDE.value]))
    number = form.number("record")
    visit.have(number)
    visit.screening.resolve(
        visit.name,
        number,
        label,
        visit.screener,
        stage=visit.stage,
        reasons=tuple(form.texts("reason")),
        note=long_text(form, "note"),
    )
    return see(visit.url("/conflicts"))


def twin(visit: Visit, form: Form) -> Response:
    """Say that a record repeats another."""
    number, other = form.number("record"), form.number("other")
    visit.have(number, other)
    visit.screening.twin(visit.name, number, other, visit.screener)
    return see(visit.url(f"/records/{number}", done="twin"))


def apart(visit: Visit, form: Form) -> Response:
    """Say that a record repeats no other."""
    number = form.number("record")
    visit.have(number)
    visit.screening.apart(visit.name, number, visit.screener)
    return see(visit.url(f"/records/{number}", done="apart"))


def stop(visit: Visit, form: Form) -> Response:
    """End screening, and keep what can be said now."""
    visit.screening.stop(visit.name, visit.screener, stage=visit.stage)
    return see(visit.url(done="stop"))


def reopen(visit: Visit, form: Form) -> Response:
    """Take screening up again."""
    visit.screening.reopen(visit.name, visit.screener, stage=visit.stage)
    return see(visit.url(done="reopen"))


POSTS: list[tuple[str, Post]] = [
    (ROOT, create),
    (f"{ROOT}/import", take_in),
    address("/settings", posted(change)),
    address("/remove", posted(remove)),
    address("/files", posted(add_files)),
    address("/source", posted(name_source)),
    address("/search", posted(add_search)),
    address("/saved-search", posted(add_saved_search)),
    address("/papers", posted(add_papers)),
    address("/prior", posted(prior)),
    address("/decide", posted(decide)),
    address("/audit", posted(audit)),
    *screening_pairs.POSTS,
    address("/undo", posted(undo)),
    address("/resolve", posted(resolve)),
    address("/twin", posted(twin)),
    address("/apart", posted(apart)),
    address("/stop", posted(stop)),
    address("/reopen", posted(reopen)),
]
