"""An edition as a page to print: one HTML file with everything in it, and a PDF of that by WeasyPrint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files

from markupsafe import Markup

from broadsheet.errors import MissingExtraError
from broadsheet.mail.formulas import as_html
from broadsheet.mail.templating import rendered
from broadsheet.mail.wording import NAME, Story, checked_site, column, notes, one_line, story, summary, written_long
from broadsheet.model.reading import Edition, Entry, Section, SectionKind

SIZES = ("A4", "letter", "A3")
_LEAD, _FRONT, _OTHERS = 1_600, 700, 420  # characters of an abstract


@dataclass(frozen=True, slots=True)
class _Printed:
    """A section as the template has it."""

    kind: str
    title: str
    stories: tuple[Story, ...]


def to_html(edition: Edition, *, reader: str = "", site: str = "", size: str = "A4") -> str:
    """The edition as one HTML file: its own style, no scripts, nothing loaded from elsewhere. Pure.

    Raises SettingsError for a site that is no address, ValueError for a size of paper that is not in ``SIZES``.
    """
    if size not in SIZES:
        raise ValueError(f"{size!r} is none of {', '.join(SIZES)}")
    site = checked_site(site)
    lead = _lead(edition)
    return rendered(
        "print.html",
        css=Markup(files("broadsheet.mail").joinpath("templates/print.css").read_text("utf-8")),
        size=size,
        name=NAME,
        day=written_long(edition.day),
        reader=f"For {one_line(reader or edition.reader, 60)}",
        summary=summary(edition),
        notes=notes(edition),
        lead=story(lead, _LEAD, as_html) if lead else None,
        columns=[_printed(section, lead) for section in edition.sections],
        rest=f"{site}/edition/{edition.day.isoformat()}" if site else "",
    )


def _lead(edition: Edition) -> Entry | None:
    return next(iter(edition.entries), None)


def _printed(section: Section, lead: Entry | None) -> _Printed:
    """A section without the lead, which stands above all."""
    entries = tuple(entry for entry in section.entries if entry is not lead)
    length = _FRONT if section.kind is SectionKind.FRONT else _OTHERS
    told = column(replace(section, entries=entries), {e.paper.id: length for e in entries}, form=as_html)
    return _Printed(section.kind.value, told.title, told.stories)


def to_pdf(html: str) -> bytes:
    """The PDF of what ``to_html`` made. Nothing is loaded, from the network or from files.

    Raises MissingExtraError where WeasyPrint, or the library of the system that it sets text with, is not installed.
    """
    try:
        import weasyprint
    except ImportError as error:
        raise MissingExtraError('PDF needs WeasyPrint: pip install "broadsheet[print]"') from error
    except OSError as error:  # its library Pango is not a Python package
        what = "PDF needs the library Pango of the system, which WeasyPrint sets text with"
        remedy = "Debian: apt install libpangoft2-1.0-0 libharfbuzz-subset0; macOS: brew install pango"
        raise MissingExtraError(f"{what} ({remedy})") from error
    nothing = weasyprint.urls.URLFetcher(allowed_protocols=())
    made: bytes = weasyprint.HTML(string=html, url_fetcher=nothing).write_pdf()
    return made
