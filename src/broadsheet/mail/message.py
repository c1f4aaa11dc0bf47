"""An edition as an e-mail: text and HTML, under 100 kB whatever the edition, pure apart from the templates.

Gmail hides what is beyond about 102 kB. Where an edition is longer, abstracts become shorter, then fewer papers of each
section are told, with a link to the rest. Headers follow RFC 5322, names outside ASCII RFC 2047, unsubscribing RFC 2369
and RFC 8058, the identity of the message stays the same for a reader and a day.
"""

from __future__ import annotations

import hashlib
import quopri
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from email.headerregistry import Address, HeaderRegistry, UnstructuredHeader
from email.message import EmailMessage
from email.policy import SMTP, Policy
from textwrap import fill
from urllib.parse import quote

from broadsheet.mail.templating import rendered
from broadsheet.mail.wording import (
    NAME,
    Column,
    Story,
    checked_site,
    column,
    counted,
    notes,
    one_line,
    summary,
    written,
    written_long,
)
from broadsheet.model.reading import Edition, Reader
from broadsheet.signing import Order, Verb, act_url

MAX_BYTES = 98_000  # of the whole message; servers on the way add some headers
_WIDTH = 72  # columns of the text part
ACTIONS = ((Verb.SAVE, "Save"), (Verb.LIKE, "Like"), (Verb.DISMISS, "Not for me"))


class _WholeLine(UnstructuredHeader):
    """A header that is never folded: the address in it would be encoded as a word, and be an address no more."""

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {self}{policy.linesep}"  # type: ignore[attr-defined]


_HEADERS = HeaderRegistry()
_HEADERS.map_to_type("List-Unsubscribe", _WholeLine)  # type: ignore[arg-type]
POLICY = SMTP.clone(header_factory=_HEADERS)


@dataclass(frozen=True, slots=True)
class Desk:
    """From where mail is sent: the sender, and the site's address ("" where readers cannot reach it)."""

    sender: Address
    site: str = ""


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much is told: characters of abstracts (the first, the first section's, others'), entries, sections.

    ``in_text`` says whether the text part has abstracts, too; most mail programs show the HTML.
    """

    lead: int
    first: int
    others: int
    in_text: bool = False
    entries: int | None = None
    sections: int | None = None


_DETAILS = (
    _Detail(900, 420, 420, in_text=True),
    _Detail(900, 420, 420),
    _Detail(900, 420, 240),
    _Detail(700, 300, 0),
    _Detail(300, 0, 0),
)


def compose(edition: Edition, reader: Reader, to: Address, desk: Desk, now: datetime) -> EmailMessage:
    """The message for a reader, dated ``now``. Raises SettingsError for a site that is no address."""
    site = checked_site(desk.site)

    def made(detail: _Detail) -> EmailMessage:
        return _message(_letter(edition, reader, to, Desk(desk.sender, site), detail), now)

    for detail in _DETAILS:
        message = made(detail)
        if _fits(message):
            return message
    most = max(len(section.entries) for section in edition.sections)
    least = _DETAILS[-1]
    message = _largest(lambda k: made(replace(least, entries=k)), most - 1)
    if _fits(message):
        return message
    return _largest(lambda k: made(_Detail(0, 0, 0, entries=1, sections=k)), len(edition.sections))


def _largest(made: Callable[[int], EmailMessage], most: int) -> EmailMessage:
    """What is made of the largest number up to ``most`` whose message fits; that of 0 or 1 where none does."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _fits(made(middle)) else (low, middle - 1)
    return made(low)


def _fits(message: EmailMessage) -> bool:
    return len(message.as_bytes()) <= MAX_BYTES


@dataclass(frozen=True, slots=True)
class _Letter:
    """All that a message is made of. ``dropped`` papers stand in sections that are left out."""

    edition: Edition
    reader: Reader
    to: Address
    desk: Desk
    columns: tuple[Column, ...]
    dropped: int
    in_text: bool

    @property
    def title(self) -> str:
        lead = next((story.title for column in self.columns for story in column.stories), "")
        return f"{NAME}, {written(self.edition.day)}" + (f": {one_line(lead, 120)}" if lead else "")

    @property
    def rest(self) -> str:
        return f"{self.desk.site}/edition/{self.edition.day.isoformat()}" if self.desk.site else ""

    @property
    def unsubscribe(self) -> str:
        return self._act(Verb.UNSUBSCRIBE, 0) if self.desk.site else ""

    def actions(self) -> dict[int, list[tuple[str, str]]]:
        """Names and addresses of what can be done, by paper."""
        if not self.desk.site:
            return {}
        papers = (story.paper for column in self.columns for story in column.stories)
        return {paper: [(name, self._act(verb, paper)) for verb, name in ACTIONS] for paper in papers}

    def _act(self, verb: Verb, paper: int) -> str:
        return act_url(self.desk.site, Order(verb, paper, self.edition.day, self.reader.name), self.reader.secret)


def _letter(edition: Edition, reader: Reader, to: Address, desk: Desk, detail: _Detail) -> _Letter:
    chosen = edition.sections[: detail.sections]
    lead = next(iter(edition.entries), None)
    wanted = {entry.paper.id: detail.others for section in chosen for entry in section.entries}
    wanted |= {entry.paper.id: detail.first for section in chosen[:1] for entry in section.entries}
    if lead:
        wanted[lead.paper.id] = detail.lead
    columns = tuple(column(section, wanted, detail.entries) for section in chosen if section.entries)
    dropped = sum(len(section.entries) for section in edition.sections[len(chosen) :])
    return _Letter(edition, reader, to, desk, columns, dropped, detail.in_text)


def _message(letter: _Letter, now: datetime) -> EmailMessage:
    message = EmailMessage(policy=POLICY)
    message["From"] = letter.desk.sender
    message["To"] = letter.to
    # An encoded word (RFC 2047) in a title would be decoded here, and what is in it could end the header.
    message["Subject"] = letter.title.replace("=?", "= ?")
    message["Date"] = now
    message["Message-ID"] = message_id(letter.edition, letter.reader, letter.to, letter.desk.sender)
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no answers by machines
    for name, value in _list_headers(letter):
        message[name] = value
    _set(message, _text(letter), "plain")
    html = EmailMessage(policy=POLICY)
    _set(html, _html(letter), "html")
    message.make_alternative(boundary=f"=_{hashlib.sha256(message['Message-ID'].encode()).hexdigest()[:24]}")
    message.attach(html)
    return message


def _list_headers(letter: _Letter) -> Iterator[tuple[str, str]]:
    sender = letter.desk.sender
    yield "List-Id", f"{NAME} <broadsheet.{sender.domain}>"  # RFC 2919: what filters sort by
    if not letter.unsubscribe:
        subject = quote(f"unsubscribe {letter.reader.name}", safe="")
        yield "List-Unsubscribe", f"<mailto:{quote(sender.addr_spec, safe='@')}?subject={subject}>"
        return
    yield "List-Unsubscribe", f"<{letter.unsubscribe}>"
    if letter.unsubscribe.startswith("https://"):  # RFC 8058 has one click for https alone
        yield "List-Unsubscribe-Post", "List-Unsubscribe=One-Click"


def message_id(edition: Edition, reader: Reader, to: Address, sender: Address) -> str:
    """One for each reader, address and day, the same whenever it is made: a mail sent twice shows once."""
    said = "\n".join((reader.name, reader.created.isoformat(), to.addr_spec, edition.day.isoformat()))
    return f"<broadsheet.{edition.day:%Y%m%d}.{hashlib.sha256(said.encode()).hexdigest()[:24]}@{sender.domain}>"


def _set(part: EmailMessage, text: str, subtype: str) -> None:
    """Set the part's text in the encoding that is shorter: Chinese is longer as quoted-printable."""
    data = text.encode()
    shorter = len(quopri.encodestring(data)) <= len(data) * 4 // 3
    part.set_content(text, subtype=subtype, charset="utf-8", cte="quoted-printable" if shorter else "base64")


def _html(letter: _Letter) -> str:
    return rendered(
        "mail.html",
        name=NAME,
        title=letter.title,
        day=written_long(letter.edition.day),
        summary=summary(letter.edition),
        notes=notes(letter.edition),
        columns=letter.columns,
        actions=letter.actions(),
        site=letter.desk.site,
        rest=letter.rest,
        dropped=counted(letter.dropped, "paper") if letter.dropped else "",
        unsubscribe=letter.unsubscribe,
        to=letter.to.addr_spec,
        reader=letter.reader.name,
    )


def _text(letter: _Letter) -> str:
    edition = letter.edition
    lines = [f"{NAME.upper()}  {written_long(edition.day)}", summary(edition), ""]
    for note in notes(edition):
        lines += [fill(note, _WIDTH), ""]
    for told in letter.columns:
        lines += [told.title.upper(), "-" * min(_WIDTH, len(told.title)), ""]
        for story in told.stories:
            lines += [*_told(story if letter.in_text else replace(story, abstract=""), letter.desk.site), ""]
        if told.left_out:
            lines += [f"{told.left_out} more in this section.", ""]
    if letter.dropped:
        lines += [f"{counted(letter.dropped, 'paper')} left out to keep this mail short.", ""]
    lines += [f"This edition on the site: {letter.rest}"] if letter.rest else []
    lines += [f"Unsubscribe: {letter.unsubscribe}"] if letter.unsubscribe else []
    return "\n".join([*lines, f"Sent to {letter.to.addr_spec} by {NAME}, for {letter.reader.name}.", ""])


def _told(story: Story, site: str) -> Iterator[str]:
    mark = (story.notice or story.marked).upper()
    yield fill(f"{mark}: {story.title}" if mark else story.title, _WIDTH)
    for part in (story.byline, story.place, story.abstract):
        if part:
            yield fill(part, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    if story.why:
        yield fill("Why: " + "; ".join(story.why), _WIDTH, initial_indent="  ", subsequent_indent="  ")
    place = f"{site}/paper/{story.paper}" if site else story.url
    if place:
        yield f"  {place}"
