"""One record after another in a terminal: a key for each decision; from a pipe, the first word of a line."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import click

from broadsheet.cli.common import patience, safe
from broadsheet.cli.render import wrapped
from broadsheet.cli.screen_common import reasons_of
from broadsheet.cli.screen_render import criteria_lines, offer_lines, progress_lines
from broadsheet.errors import InputError

if TYPE_CHECKING:
    from broadsheet.library.screening import Screening
    from broadsheet.model.screening import Offer, Review, ReviewEvent, ReviewProgress, Stage

KEYS = {"i": "include", "e": "exclude", "l": "later"}
HELP = """\
i  include          e  exclude          l  later: it comes again when nothing else is left
1-9  a reason to exclude, on and off    n  write a note for the next decision
u  take back what you did last          p  how far it is, and what can be said
s  show the record again                ?  this help          q  leave"""


class Key(NamedTuple):
    """What was asked for: a key, and what follows it on the line."""

    key: str
    rest: str = ""


def keys() -> Iterator[Key]:
    """Keys of a terminal, as they are pressed, or of the lines of a pipe; ends where the input does."""
    if sys.stdin.isatty():
        while True:
            yield Key(click.getchar())
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word:
            yield Key(word, rest.strip())


class Session:
    """A screener at work on one review at one stage. ``run`` ends with the last record, ``q``, or the input."""

    def __init__(self, screening: Screening, review: Review, screener: str, stage: Stage, mode: str) -> None:
        self._screening, self._review, self._screener = screening, review, screener
        self._stage, self._mode = stage, mode
        self._codes = [each.code for each in review.plan.criteria if each.excludes]
        self._reasons: list[str] = []
        self._note = ""
        self._offer: Offer | None = None
        self._viewer = screener if review.plan.sharing == "blinded" else None
        self._told = False
        self.decided = 0

    def run(self, asked: Iterator[Key]) -> None:
        """Show records and do what is asked until there is no more of either."""
        for line in criteria_lines(self._review.plan):
            click.echo(line)
        self._advance()
        while self._offer is not None:
            key = next(asked, Key("q"))
            if key.key in ("q", "\x03", "\x04"):
                return
            try:
                self._do(key)
            except InputError as error:
                click.echo(f"broadsheet: {safe(str(error))}", err=True)

    def _do(self, key: Key) -> None:
        actions: dict[str, Callable[[str], None]] = {
            "n": self._take_note,
            "u": self._undo,
            "p": self._show_progress,
            "s": self._show,
            "?": lambda _: click.echo(HELP),
        }
        if key.key in KEYS:
            self._decide(KEYS[key.key], key.rest)
        elif key.key in actions:
            actions[key.key](key.rest)
        elif key.key.isdecimal() and 1 <= int(key.key) <= len(self._codes):
            self._turn_reason(self._codes[int(key.key) - 1])
        elif key.key.strip():
            click.echo(safe(f"{key.key} is no key here; ? shows the keys"), err=True)

    def _decide(self, label: str, rest: str) -> None:
        from broadsheet.model.screening import Label

        assert self._offer is not None
        reasons = reasons_of(rest) or (tuple(self._reasons) if label == "exclude" else ())
        self._screening.decide(
            self._review.id,
            self._offer.record.number,
            Label(label),
            self._screener,
            stage=self._stage,
            reasons=reasons,
            note=self._note,
            offer=self._offer,
        )
        self.decided += 1
        said = f" [{', '.join(reasons)}]" if reasons else ""
        click.echo(safe(f"{label}: record {self._offer.record.number}{said}\n"))
        self._tell_of_stop()
        self._advance()

    def _tell_of_stop(self) -> None:
        """Say once that the declared rule has come to its end; whether to stop is the screener's to decide."""
        if self._told:
            return
        report = self._progress().report
        if report.stop:
            self._told = True
            name = shlex.quote(self._review.name)
            click.echo(wrapped(safe(f"The declared rule, {report.rule}: {report.sentence}"), 0))
            click.echo(safe(f"Leave with q, and keep the statement with: broadsheet screen stop {name}\n"))

    def _advance(self) -> None:
        self._reasons, self._note = [], ""
        with patience("Ranking the records..."):
            self._offer = self._screening.next(self._review.id, self._screener, stage=self._stage, mode=self._mode)
        if self._offer is None:
            click.echo("Nothing is left to read.")
        else:
            self._show("")

    def _show(self, _: str) -> None:
        assert self._offer is not None
        click.echo("\n".join(offer_lines(self._offer)))
        if sys.stdin.isatty():
            click.echo(click.style("i include, e exclude, l later, u undo, ? all keys", dim=True))

    def _turn_reason(self, code: str) -> None:
        if code in self._reasons:
            self._reasons.remove(code)
        else:
            self._reasons.append(code)
        click.echo(safe(f"Reasons: {', '.join(self._reasons) or 'none'}"))

    def _take_note(self, rest: str) -> None:
        self._note = rest or (click.prompt("Note", default="", show_default=False) if sys.stdin.isatty() else "")
        click.echo(safe(f"Note: {self._note or 'none'}"))

    def _undo(self, _: str) -> None:
        event = self._screening.undo(self._review.id, self._screener)
        if event is None:
            click.echo("There is nothing to take back.")
            return
        click.echo(f"Taken back: event {event.undoes}" + (f", record {event.record}." if event.record else "."))
        if event.record:
            self._reasons, self._note = [], ""
            self._offer = self._again(event)
            self._show("")

    def _again(self, undo: ReviewEvent) -> Offer:
        """The record of a decision that was taken back, chosen as it was then."""
        from dataclasses import replace

        shown = self._screening.look(self._review.id, undo.record, self._screener, stage=self._stage)
        history = self._screening.history(self._review.id, undo.record, screener=self._screener)
        before = next((event for event in history if event.id == undo.undoes and event.chosen), None)
        if before is None or before.chosen is None:
            return shown
        return replace(shown, chosen=before.chosen, model=before.model, place=before.place, unread=before.unread)

    def _show_progress(self, _: str) -> None:
        click.echo("\n".join(progress_lines(self._progress())))

    def _progress(self) -> ReviewProgress:
        return self._screening.progress(self._review.id, self._viewer, stage=self._stage, curve=False)
