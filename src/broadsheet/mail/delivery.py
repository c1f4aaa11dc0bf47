"""Who is sent what: every reader's newest edition once by each channel, again after a failure, and a record of it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from broadsheet.errors import BroadsheetError, DeliveryError, InputError
from broadsheet.mail import smtp, webhook
from broadsheet.mail.message import Desk, compose
from broadsheet.mail_address import mailbox
from broadsheet.model.reading import Edition, Reader
from broadsheet.net import Client
from broadsheet.settings import Settings, proxies

if TYPE_CHECKING:
    from broadsheet.library import Library

_LOG = logging.getLogger(__name__)
OLDEST = timedelta(days=2)  # an edition of before is sent to nobody by itself
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(hours=1)  # after what may pass; twice as long each time
LASTING_WAIT = timedelta(hours=1)  # after what someone must put right, such as a wrong password
SENT, FAILED = "sent", "failed"
_FOR_ALL = frozenset({"connect", "TLS", "login"})  # steps at which a mail server fails, whoever the mail is for


class Channel(StrEnum):
    """How an edition can be sent."""

    MAIL = "mail"
    WEBHOOK = "webhook"


_Key = tuple[str, date, Channel]
"""A reader's name, the day of the edition, the channel."""


def channels_of(reader: Reader) -> tuple[Channel, ...]:
    """The channels that a reader asked for."""
    return tuple(channel for channel in Channel if _address(reader, channel))


def _address(reader: Reader, channel: Channel) -> str:
    return reader.profile.email if channel is Channel.MAIL else reader.profile.webhook


def wait_after(failures: int, *, passing: bool) -> timedelta:
    """How long to wait after so many failures in a row (from 1)."""
    if not passing:
        return LASTING_WAIT
    return min(FIRST_WAIT * (1 << min(failures - 1, 10)), LONGEST_WAIT)


class Post:
    """Hands editions over, by the settings of a library."""

    def __init__(self, settings: Settings, client: Callable[[], Client] | None = None) -> None:
        self._settings = settings
        self._client = client or self._usual_client

    def check(self, reader: Reader, channel: Channel) -> str:
        """Go as far as is possible without an edition; a sentence that says how far that was.

        Raises DeliveryError, which names the step that failed, and SettingsError or InputError for what is lacking.
        """
        if channel is Channel.WEBHOOK:
            return f"{webhook.host_of(reader.profile.webhook)} is posted to without a trial: every post is shown there"
        return smtp.check(smtp.server_of(self._settings), mailbox(reader.profile.email, "the reader's mail address"))

    def send(self, reader: Reader, edition: Edition, channel: Channel) -> str:
        """Hand an edition over; says where it went. Raises as ``check`` does."""
        if channel is Channel.WEBHOOK:
            with self._client() as client:
                webhook.post(reader.profile.webhook, edition, client, self._settings.site_url)
            return webhook.host_of(reader.profile.webhook)
        server = smtp.server_of(self._settings)
        to = mailbox(reader.profile.email, "the reader's mail address")
        message = compose(edition, reader, to, Desk(server.sender, self._settings.site_url), datetime.now(UTC))
        smtp.send(server, to, message)
        return to.addr_spec

    def made(self, reader: Reader, edition: Edition, channel: Channel) -> bytes:
        """What would be sent: a message as a file, or JSON. Needs ``mail_from``, but no server."""
        if channel is Channel.WEBHOOK:
            return json.dumps(webhook.payload(edition, self._settings.site_url), ensure_ascii=False, indent=2).encode()
        sender = mailbox(self._settings.mail_from or "paper@localhost", "mail_from")
        to = mailbox(reader.profile.email or "reader@localhost", "the reader's mail address")
        return compose(edition, reader, to, Desk(sender, self._settings.site_url), datetime.now(UTC)).as_bytes()

    def _usual_client(self) -> Client:
        settings = self._settings
        return Client(
            contact=settings.contact, allow_private=settings.allow_private_addresses, proxies=proxies(), tries=1
        )


@dataclass(frozen=True, slots=True)
class _Failure:
    """How often it failed in a row with an address, and until when it is left alone."""

    address: str
    times: int
    until: datetime


class Deliverer:
    """Told of every reader's newest edition again and again (``Library.start_background``), sends each once.

    It remembers failures while it lives, so a restart tries again at once. A mail server that does not let anybody in
    is left alone for all readers: each attempt may take half a minute. Used from one thread; of several servers of one
    library one sends.
    """

    def __init__(self, library: Library, post: Post | None = None, now: Callable[[], datetime] | None = None) -> None:
        self._library = library
        self._post = post or Post(library.settings)
        self._now = now or (lambda: datetime.now(UTC))
        self._failures: dict[_Key, _Failure] = {}
        self._sent: set[_Key] = set()  # what is still to be recorded
        self._done: set[_Key] = set()
        self._checked: set[tuple[str, str]] = set()
        self._down: datetime | None = None  # until when the mail server is left alone, whoever the mail is for

    def __call__(self, reader: Reader, edition: Edition) -> None:
        """Send the edition by the reader's channels where that is still to be done. Raises only StoreError."""
        if self._now().astimezone().date() - edition.day > OLDEST:
            self._check_once(reader)
            return
        for channel in channels_of(reader):
            key = (reader.name, edition.day, channel)
            if key in self._sent:
                self._record(key, SENT)
            elif key not in self._done and not self._waits(key, reader):
                if self._library.daily.delivered(*key):
                    self._done.add(key)
                elif self._library.daily.claim_delivery(*key):
                    self._attempt(reader, edition, channel)
        self._check_once(reader)

    def _waits(self, key: _Key, reader: Reader) -> bool:
        if key[2] is Channel.MAIL and self._is_down():
            return True
        failure = self._failures.get(key)
        return failure is not None and self._now() < failure.until and failure.address == _address(reader, key[2])

    def _is_down(self) -> bool:
        return self._down is not None and self._now() < self._down

    def _attempt(self, reader: Reader, edition: Edition, channel: Channel) -> None:
        key = (reader.name, edition.day, channel)
        message, passing, down = "an unforeseen fault; see the log", False, False
        self._checked.add((reader.name, reader.profile.email))
        try:
            where = self._post.send(reader, edition, channel)
        except BroadsheetError as error:
            message, passing = str(error), isinstance(error, DeliveryError) and error.passing
            down = channel is Channel.MAIL and isinstance(error, DeliveryError) and error.step in _FOR_ALL
            _LOG.warning("the edition of %s for %s was not sent: %s", edition.day, reader.name, message)
        except Exception:  # a fault of ours with one edition must not keep the others from their readers
            _LOG.exception("the edition of %s for %s was not sent", edition.day, reader.name)
        else:
            _LOG.info("the edition of %s for %s was sent by %s to %s", edition.day, reader.name, channel, where)
            # Kept before it is recorded: should recording fail, that is tried again, and nothing is sent again.
            self._sent.add(key)
            self._failures.pop(key, None)
            self._record(key, SENT)
            return
        before = self._failures.get(key)
        times = before.times + 1 if before else 1
        until = self._now() + wait_after(times, passing=passing)
        if down:
            self._down = until
        self._failures[key] = _Failure(_address(reader, channel), times, until)
        self._record(key, FAILED, message)

    def _record(self, key: _Key, state: str, message: str = "") -> None:
        self._library.daily.record_delivery(*key, state, message)
        if state == SENT:
            self._sent.discard(key)
            self._done.add(key)

    def _check_once(self, reader: Reader) -> None:
        """Before there is anything to send, see whether mail would get through, and say so in the log."""
        key = (reader.name, reader.profile.email)
        if not reader.profile.email or key in self._checked or self._is_down():
            return
        self._checked.add(key)
        try:
            self._post.check(reader, Channel.MAIL)
        except BroadsheetError as error:
            if isinstance(error, DeliveryError) and error.step in _FOR_ALL:
                self._down = self._now() + FIRST_WAIT
            _LOG.warning("mail for %s would not get through as things stand: %s", reader.name, error)


def asked_channels(reader: Reader, channel: str = "") -> tuple[Channel, ...]:
    """The channel named, else all that the reader asked for. Raises InputError where there is none."""
    found = channels_of(reader)
    wanted = (Channel(channel),) if channel else found
    option = {Channel.MAIL: "--email ADDRESS", Channel.WEBHOOK: "--webhook ADDRESS"}
    lacking = [one for one in wanted if one not in found] if wanted else list(Channel)
    if lacking:
        remedy = " or ".join(f"broadsheet readers options {reader.name} {option[one]}" for one in lacking)
        raise InputError(f"{reader.name} has no address for {' or '.join(lacking)}; give one: {remedy}")
    return wanted
