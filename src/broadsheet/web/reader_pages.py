"""What the paper thinks its reader likes, and the forms by which the reader says otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ..errors import InputError, NotFoundError
from ..feed.options import told_weights
from ..feed.profile import normalised, same_interest
from ..model.reading import Interest, InterestKind, MemoryView, Reader, Section
from . import identity, params
from .acting import Post, see
from .daily_views import INTEREST_NAMES, bars, part_name
from .edition_pages import newest_edition
from .forms import Form
from .params import ParameterError
from .site import Page, Site

MOST_BARS = 18
REMEMBERED_SHOWN = 30
REMEMBERED_MOST = 200  # each is a form of its own: a library of thousands would be a page of a megabyte
AREAS_OFFERED = 48
MOST_EXAMPLES = 500
LARGEST_EMPHASIS = 10.0
DONE = {
    "follow": "Followed. It joins the next edition.",
    "unfollow": "No longer followed.",
    "mute": "Muted. It is left out from the next edition on.",
    "unmute": "No longer muted.",
    "search": "The search is saved. Its new papers join the next edition.",
    "unsearch": "The search is dropped.",
    "options": "Kept.",
    "forget": "Forgotten.",
    "reset": "Everything said so far is forgotten.",
    "import": "Taken in.",
    "address": "The address is new. The old one leads nowhere now.",
}
_BETWEEN = re.compile(r"[\s,;]+")


def interests(site: Site, request: Request) -> Response:
    """What the paper thinks you like."""
    reader = site.known(request)
    return _page(site, request, reader, note=" ".join([_note(request), *_meant(site, request, reader)]).strip())


def _meant(site: Site, request: Request, reader: Reader) -> list[str]:
    """What there is to say of what was just followed or muted; the address has only its place among the others."""
    done = request.query_params.get("done", "")
    held = {"follow": reader.profile.follows, "mute": reader.profile.mutes}.get(done, ())
    place = request.query_params.get("n", "")
    if not (place.isascii() and place.isdigit() and len(place) < 6 and 0 < int(place) <= len(held)):
        return []
    interest = held[int(place) - 1]
    return [f"{INTEREST_NAMES[interest.kind]} “{interest.value}”:", *site.library.daily.meant(interest)]


def _note(request: Request) -> str:
    """What was just done, in words of ours: an address must not be able to put any there."""
    done = request.query_params.get("done", "")
    if done == "start":
        count = request.query_params.get("n", "")
        number = int(count) if count.isascii() and count.isdigit() and len(count) < 8 else 0
        return f"{number:,} {'example was' if number == 1 else 'examples were'} taken in." if number else "Kept."
    return DONE.get(done, "")


def _page(
    site: Site, request: Request, reader: Reader, *, note: str = "", missing: list[str] | None = None
) -> Response:
    view = site.library.daily.memory(reader.name)
    response = site.render(
        "interests.html",
        reader=reader,
        foot=site.status(),
        view=view,
        note=note,
        missing=missing or [],
        blank=not view.events and not reader.profile.follows and not reader.profile.searches,
        remembered=view.papers[:REMEMBERED_SHOWN],
        remembered_more=view.papers[REMEMBERED_SHOWN:REMEMBERED_MOST],
        remembered_fainter=max(0, len(view.papers) - REMEMBERED_MOST),
        lists=_lists(view),
        emphasis=_emphasis(view, reader),
        largest_emphasis=LARGEST_EMPHASIS,
        areas=[area for area, _ in site.areas()][:AREAS_OFFERED],
        base=str(request.base_url).rstrip("/"),
        sections=_sections(site, reader),
        can_leave=identity.COOKIE in request.cookies,
    )
    response.headers["cache-control"] = "no-store"  # it shows the reader's secret address
    return response


def _sections(site: Site, reader: Reader) -> list[Section]:
    """Sections of the newest edition, each of which has a feed."""
    newest = newest_edition(site, reader)
    return list(newest.sections) if newest else []


def _lists(view: MemoryView) -> list[tuple[str, str, list[Any]]]:
    """Lists of weights: (title, kind of interest that a line can be followed or muted as, bars)."""
    found = [
        ("Words", InterestKind.KEYWORD, view.words),
        ("Authors", InterestKind.AUTHOR, view.authors),
        ("Areas", InterestKind.AREA, view.areas),
    ]
    return [(title, kind.value, bars(weights, MOST_BARS)) for title, kind, weights in found if weights]


def _emphasis(view: MemoryView, reader: Reader) -> list[tuple[str, str, float, float | None]]:
    """Parts of the score: (name, what it is called, the reader's emphasis, the weight in use)."""
    chosen = dict(reader.profile.emphasis)
    names = dict.fromkeys([*view.parts, *chosen])
    weights = told_weights(view.parts)
    told = {name: "newer" if name == "lasting" and "newer" in weights else name for name in names}
    return [(name, part_name(told[name]), chosen.get(name, 1.0), weights.get(told[name])) for name in names]


def export(site: Site, request: Request) -> Response:
    """Profile, events and memory as a file."""
    reader = site.known(request)
    body = json.dumps(site.library.daily.export(reader.name), ensure_ascii=False, indent=1).encode("utf-8", "replace")
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in reader.name).strip("-") or "reader"
    headers = {"content-disposition": f'attachment; filename="broadsheet-{name}.json"', "cache-control": "no-store"}
    return Response(body, media_type="application/json", headers=headers)


# -------------------------------------------------------------------------------------------------------------- forms


def _done(what: str, anchor: str = "", **values: object) -> Response:
    more = "".join(f"&{name}={value}" for name, value in values.items())
    return see(f"/interests?done={what}{more}{'#' + anchor if anchor else ''}")


def _changing(method: str, anchor: str) -> Post:
    """The form that calls one of ``follow``, ``unfollow``, ``mute`` and ``unmute``."""

    def handler(site: Site, request: Request, form: Form, reader: Reader) -> Response:
        wanted = form.interest()
        profile = getattr(site.library.daily, method)(wanted, reader.name).profile
        held = {"follow": profile.follows, "mute": profile.mutes}.get(method)
        if held is None:
            return _done(method, anchor)
        spelled = normalised(wanted)
        place = next((n for n, one in enumerate(held, 1) if same_interest(one, spelled)), len(held))
        return _done(method, anchor, n=place)

    return handler


def save_search(site: Site, request: Request, form: Form, reader: Reader) -> Response:
    """Keep a question; facets that were chosen beside it become a part of it."""
    query = form.text("query")
    if len(query) > params.MAX_QUERY:
        raise ParameterError("query", f"may have at most {params.MAX_QUERY:,} characters")
    site.library.daily.save_search(query, form.text("label"), reader.name)
    return _done("search", "searches")


def drop_search(site: Site, request: Request, form: Form, reader: Reader) -> Response:
    """Drop a saved search."""
    site.library.daily.drop_search(form.number("search"), reader.name)
    return _done("unsearch", "searches")


def options(site: Site, request: Request, form: Form, reader: Reader) -> Response:
    """Set the risk, given in percent, and the emphasis of parts of the score."""
    risk = form.decimal("risk", 0, 50) / 100 if form.text("risk") else None
    names = [name.removeprefix("part-") for name in form.fields if name.startswith("part-")]
    emphasis = {name: form.decimal(f"part-{name}", 0, LARGEST_EMPHASIS) for name in names}
    site.library.daily.set_options(reader.name, risk=risk, emphasis=emphasis or None)
    return _done("options", "options")


def forget(site: Site, request: Request, form: Form, reader: Reader) -> Response:
    """Forget everything said about a paper."""
    site.library.daily.forget(form.number("paper"), reader.name)
    return _done("forget", "papers")


def reset(site: Site, request: Request, form: Form, reader: Reader) -> Response:
    """Forget everything said so far, where the reader says so twice."""
    if form.text("sure") != "yes":
        raise InputError("Nothing was forgotten: tick the box to say that you mean it.")
    site.library.daily.reset(reader.name)
    return _done("reset")


def start(site: Site, request: Request, form: Form, reader: Reader) -> Response:
    """Begin with what the reader names: areas, papers, or the library that was imported."""
    daily = site.library.daily
    if form.text("from") == "library":
        return _done("start", n=daily.examples_from_library(reader.name))
    for area in form.texts("area"):
        daily.follow(Interest(InterestKind.AREA, area), reader.name)
    found, missing = _named(site, form.raw("papers"))
    count = daily.examples(found, reader.name) if found else 0
    if missing:
        fresh = daily.reader(reader.name)
        note = f"{count:,} {'example was' if count == 1 else 'examples were'} taken in."
        return _page(site, request, fresh, note=note, missing=missing)
    return _done("start", n=count)


def _named(site: Site, text: str) -> tuple[list[int], list[str]]:
    """Papers named in lines or in a row: numbers of those that are here, and what names none."""
    found: dict[int, None] = {}
    missing: list[str] = []
    names = [line for line in text.splitlines() if params.clean(line)]
    if len(names) > MOST_EXAMPLES:
        raise ParameterError("papers", f"at most {MOST_EXAMPLES} can be named at once")
    for line in names:
        parts = [line] if _number(site, line) else [part for part in _BETWEEN.split(params.clean(line)) if part]
        for part in parts[:MOST_EXAMPLES]:
            if number := _number(site, part):
                found[number] = None
            else:
                missing.append(part[:100])
    return list(found), missing


def _number(site: Site, name: str) -> int | None:
    try:
        return site.library.paper(params.paper_reference(name)).id
    except (NotFoundError, InputError):
        return None


def take_in(site: Site, request: Request, form: Form, reader: Reader) -> Response:
    """Take what was exported, as a file or as pasted text."""
    site.library.daily.import_(parsed(form.file or form.raw("record").encode("utf-8", "replace")), reader.name)
    return _done("import")


def parsed(body: bytes) -> Mapping[str, Any]:
    """An exported reader. Raises InputError that says where the text stops being JSON."""
    if not body.strip():
        raise InputError("Nothing was given: choose the file that was exported, or paste its text.")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError(f"This is no file of a reader: it cannot be read as JSON ({error}).") from error
    if not isinstance(found, dict):
        raise InputError("This is no file of a reader: it holds no JSON object.")
    return found


def renew(site: Site, request: Request, form: Form, reader: Reader) -> Response:
    """Give the reader a new secret address; this browser goes on with it."""
    response = _done("address", "addresses")
    identity.remember(response, request, site.library.daily.renew_secret(reader.name).secret)
    return response


def leave(site: Site, request: Request, form: Form, reader: Reader) -> Response:
    """Let this browser no longer say who is reading."""
    response = see("/")
    response.delete_cookie(identity.COOKIE, path="/")
    return response


PAGES: list[tuple[str, Page]] = [
    ("/interests", interests),
    ("/interests/export.json", export),
]
POSTS: list[tuple[str, Post]] = [
    ("/interests/follow", _changing("follow", "follows")),
    ("/interests/unfollow", _changing("unfollow", "follows")),
    ("/interests/mute", _changing("mute", "mutes")),
    ("/interests/unmute", _changing("unmute", "mutes")),
    ("/interests/search", save_search),
    ("/interests/unsearch", drop_search),
    ("/interests/options", options),
    ("/interests/forget", forget),
    ("/interests/reset", reset),
    ("/interests/start", start),
    ("/interests/import", take_in),
    ("/interests/address", renew),
    ("/leave", leave),
]
