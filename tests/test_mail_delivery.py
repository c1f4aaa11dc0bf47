"""Every reader gets every edition once by each channel: with a real library, a real mail server and a real web hook."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

import pytest

from broadsheet.errors import InputError, StoreError
from broadsheet.library import Library, open_library
from broadsheet.mail.delivery import Channel, Deliverer, Post, asked_channels, channels_of, wait_after
from broadsheet.model.reading import Edition, Reader
from broadsheet.settings import Settings, load_settings
from tests.editions import READER, usual
from tests.fakeweb import Answer, FakeWeb
from tests.mailserver import Certificates, Inbox, mail_server

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
HOOK = "https://hooks.example.org/services/SECRET"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


def settings_for(home: Path, port: int, certificates: Certificates) -> Settings:
    return replace(
        load_settings(home, {}),
        encoder="none",
        site_url="https://papers.example.org",
        mail_from="论文日报 <paper@example.org>",
        smtp_host="localhost",
        smtp_port=port,
        smtp_security="starttls",
        smtp_ca_file=certificates.ca_file,
    )


class Desk:
    """A library with a reader and an edition, a mail server and a web hook, and a clock that the test sets."""

    def __init__(self, library: Library, inbox: Inbox, web: FakeWeb) -> None:
        self.library, self.inbox, self.web = library, inbox, web
        self.now = NOON
        self.deliverer = self.fresh()
        library.daily.reader("")
        self.print(usual().day)

    def fresh(self) -> Deliverer:
        """A deliverer that remembers nothing, as after a restart."""
        post = Post(self.library.settings, lambda: self.web.client(tries=1))
        return Deliverer(self.library, post, lambda: self.now)

    def ask(self, **options: str) -> None:
        self.library.daily.set_options("me", **options)

    def print(self, day: date) -> None:
        self.library.store.reading.add_edition(replace(usual(), day=day))

    def look(self, deliverer: Deliverer | None = None) -> None:
        reader = self.library.daily.reader("me")
        edition = self.library.store.reading.last_edition("me")
        assert edition
        (deliverer or self.deliverer)(reader, edition)

    def recorded(self) -> list[tuple[str, str, str]]:
        found = self.library.store.reading.deliveries("me", usual().day)
        return [(one.channel, one.state, one.message) for one in found]


@pytest.fixture
def desk(tmp_path: Path, certificates: Certificates, fakeweb: FakeWeb) -> Iterator[Desk]:
    with (
        mail_server("starttls", certificates) as (port, inbox),
        open_library(settings=settings_for(tmp_path / "library", port, certificates)) as library,
    ):
        yield Desk(library, inbox, fakeweb)


def test_an_edition_is_sent_once_by_each_channel(desk: Desk) -> None:
    desk.ask(email="reader@example.org", webhook=HOOK)
    desk.web.on("hooks.example.org", "/services/SECRET", Answer("ok"))
    for _ in range(3):
        desk.look()
        desk.now += timedelta(seconds=30)
    desk.look(desk.fresh())
    (message,) = desk.inbox.messages
    assert message["To"] == "reader@example.org"
    assert message["From"] == "论文日报 <paper@example.org>"
    assert "Sorting pebbles" in message["Subject"]
    (posted,) = desk.web.requests
    assert "Sorting pebbles" in json.loads(posted.body)["text"]
    assert desk.recorded() == [("mail", "sent", ""), ("webhook", "sent", "")]


def test_the_next_edition_is_sent_too(desk: Desk) -> None:
    desk.ask(email="reader@example.org")
    desk.look()
    desk.print(usual().day + timedelta(days=1))
    desk.now += timedelta(days=1)
    desk.look()
    assert len({message["Message-ID"] for message in desk.inbox.messages}) == 2


def test_nothing_is_sent_to_who_asked_for_nothing(desk: Desk) -> None:
    desk.look()
    assert desk.inbox.said == []
    assert desk.recorded() == []


def test_old_editions_stay_where_they_are_but_the_server_is_tried(desk: Desk) -> None:
    desk.ask(email="reader@example.org")
    desk.now += timedelta(days=4)
    desk.look()
    desk.look()
    assert desk.inbox.envelopes == []
    assert desk.inbox.said.count("RCPT") == 1
    assert desk.recorded() == []


def test_a_failure_is_recorded_by_its_step_and_tried_again_later(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    desk.ask(email="reader@example.org")
    desk.inbox.refusals["recipient"] = "451 4.3.0 come back later"
    with caplog.at_level(logging.WARNING):
        desk.look()
        desk.look()  # too early
    assert desk.inbox.said.count("RCPT") == 1
    ((channel, state, message),) = desk.recorded()
    assert (channel, state) == ("mail", "failed")
    assert "failed at recipient: refused: 451 4.3.0 come back later" in message
    assert caplog.text.count("was not sent") == 1
    desk.now += timedelta(seconds=61)
    desk.look()  # fails again: now two minutes
    desk.now += timedelta(seconds=61)
    desk.look()
    assert desk.inbox.said.count("RCPT") == 2
    desk.inbox.refusals.clear()
    desk.now += timedelta(seconds=61)
    desk.look()
    assert len(desk.inbox.envelopes) == 1
    assert desk.recorded() == [("mail", "sent", "")]


def test_one_channel_does_not_wait_for_the_other(desk: Desk) -> None:
    desk.ask(email="reader@example.org", webhook=HOOK)
    desk.web.on("hooks.example.org", "/services/SECRET", Answer("no", status=404))
    desk.look()
    assert len(desk.inbox.envelopes) == 1
    states = {channel: (state, message) for channel, state, message in desk.recorded()}
    assert states["mail"] == ("sent", "")
    assert states["webhook"][0] == "failed"
    assert "SECRET" not in states["webhook"][1]
    desk.now += timedelta(minutes=59)
    desk.look()
    assert len(desk.web.requests) == 1
    desk.now += timedelta(minutes=2)
    desk.look()
    assert len(desk.web.requests) == 2
    assert len(desk.inbox.envelopes) == 1


def test_what_was_sent_is_not_sent_again_where_it_cannot_be_recorded(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.ask(email="reader@example.org")

    def full(*_: Any, **__: Any) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(desk.library.daily, "record_delivery", full)
    with pytest.raises(StoreError, match="full"):
        desk.look()
    with pytest.raises(StoreError, match="full"):
        desk.look()
    monkeypatch.undo()
    desk.look()  # there is room again, and what happened is recorded after all
    assert desk.recorded() == [("mail", "sent", "")]
    desk.now += timedelta(hours=1)
    desk.look(desk.fresh())
    assert len(desk.inbox.envelopes) == 1


def test_two_servers_of_one_library_send_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.ask(email="reader@example.org")
    other, send = desk.fresh(), Post.send

    def slow(post: Post, *rest: Any) -> str:
        monkeypatch.setattr(Post, "send", send)
        desk.look(other)  # while the first one is at it
        return send(post, *rest)

    monkeypatch.setattr(Post, "send", slow)
    desk.look()
    desk.look(other)
    assert len(desk.inbox.envelopes) == 1
    assert desk.recorded() == [("mail", "sent", "")]


def test_what_a_killed_server_was_sending_is_sent(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.ask(email="reader@example.org")

    def killed(*_: Any) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Post, "send", killed)
        desk.look()
    other = desk.fresh()
    desk.look(other)
    assert len(desk.inbox.envelopes) == 0
    monkeypatch.setattr("broadsheet.store.reading._CLAIM", timedelta(0))
    desk.look(other)
    assert len(desk.inbox.envelopes) == 1


def test_a_new_address_is_tried_at_once(desk: Desk) -> None:
    desk.ask(email="wrong@example.org")
    desk.inbox.refusals["recipient"] = "550 no such mailbox"
    desk.look()
    desk.inbox.refusals.clear()
    desk.look()
    assert desk.inbox.envelopes == []
    desk.ask(email="reader@example.org")
    desk.look()
    assert [envelope.rcpt_tos for envelope in desk.inbox.envelopes] == [["reader@example.org"]]


def test_a_server_that_lets_nobody_in_is_left_alone_for_all_readers(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each attempt may take half a minute, for every reader; web hooks do not wait."""
    readers = []
    for name in ("ada", "bob"):
        desk.library.daily.add_reader(name)
        desk.library.store.reading.add_edition(replace(usual(), reader=name))
        readers.append(desk.library.daily.set_options(name, email=f"{name}@example.org", webhook=HOOK))
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nowhere = replace(desk.library.settings, smtp_port=closed.getsockname()[1])
    desk.web.on("hooks.example.org", "/services/SECRET", Answer("ok"))
    tried: list[str] = []
    send = Post.send

    def counted(post: Post, reader: Reader, edition: Edition, channel: Channel) -> str:
        tried.append(f"{reader.name} {channel}")
        return send(post, reader, edition, channel)

    monkeypatch.setattr(Post, "send", counted)
    deliverer = Deliverer(desk.library, Post(nowhere, lambda: desk.web.client(tries=1)), lambda: desk.now)

    def look() -> None:
        for reader in readers:
            deliverer(reader, replace(usual(), reader=reader.name))

    look()
    look()
    assert tried == ["ada mail", "ada webhook", "bob webhook"]
    desk.now += timedelta(seconds=61)
    look()
    assert tried[3:] == ["ada mail"]
    monkeypatch.setattr(deliverer, "_post", Post(desk.library.settings))
    desk.now += timedelta(seconds=121)
    look()
    assert [envelope.rcpt_tos for envelope in desk.inbox.envelopes] == [["ada@example.org"], ["bob@example.org"]]


def test_settings_that_are_lacking_are_recorded(desk: Desk) -> None:
    desk.ask(email="reader@example.org")
    post = Post(replace(desk.library.settings, smtp_host=""))
    desk.look(Deliverer(desk.library, post, lambda: NOON))
    ((_, state, message),) = desk.recorded()
    assert state == "failed"
    assert message.startswith("smtp_host is not set")


def test_a_fault_of_ours_is_logged_and_recorded_and_ends_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    desk.ask(email="reader@example.org")

    def broken(*_: Any, **__: Any) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr(Post, "send", broken)
    desk.look()
    desk.look()
    assert desk.recorded() == [("mail", "failed", "an unforeseen fault; see the log")]
    assert caplog.text.count("Traceback") == 1


def test_waits_grow_and_end() -> None:
    passing = [wait_after(n, passing=True) / timedelta(minutes=1) for n in range(1, 9)]
    assert passing == [1, 2, 4, 8, 16, 32, 60, 60]
    assert {wait_after(n, passing=False) for n in (1, 5, 10_000)} == {timedelta(hours=1)}
    assert wait_after(10_000, passing=True) == timedelta(hours=1)


def test_the_server_of_the_site_sends(desk: Desk) -> None:
    """Wired as ``broadsheet serve`` does it: the background tells the deliverer of editions."""
    desk.ask(email="reader@example.org")
    seen: list[tuple[Reader, Edition]] = []

    def told(reader: Reader, edition: Edition) -> None:
        desk.deliverer(reader, edition)
        seen.append((reader, edition))

    desk.library.start_background(on_edition=told)
    deadline = datetime.now(UTC) + timedelta(seconds=60)
    while not seen and datetime.now(UTC) < deadline:
        time.sleep(0.05)
    assert len(desk.inbox.envelopes) == 1


@pytest.mark.parametrize(
    ("email", "hook", "asked", "found"),
    [
        ("a@example.org", "", "", (Channel.MAIL,)),
        ("", HOOK, "", (Channel.WEBHOOK,)),
        ("a@example.org", HOOK, "", (Channel.MAIL, Channel.WEBHOOK)),
        ("a@example.org", HOOK, "webhook", (Channel.WEBHOOK,)),
    ],
)
def test_channels(email: str, hook: str, asked: str, found: tuple[Channel, ...]) -> None:
    reader = replace(READER, profile=replace(READER.profile, email=email, webhook=hook))
    assert asked_channels(reader, asked) == found
    assert set(found) <= set(channels_of(reader))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("", "me has no address for mail or webhook; .*--email ADDRESS or .*--webhook ADDRESS"),
        ("mail", "no address for mail; .*--email"),
        ("webhook", "no address for webhook; .*--webhook"),
    ],
)
def test_a_reader_without_addresses_is_told_how_to_give_one(asked: str, message: str) -> None:
    reader = replace(READER, profile=replace(READER.profile, email=""))
    with pytest.raises(InputError, match=message):
        asked_channels(reader, asked)


def test_what_would_be_sent_needs_no_server(tmp_path: Path) -> None:
    post = Post(load_settings(tmp_path, {}))
    message = message_from_bytes(post.made(READER, usual(), Channel.MAIL), policy=default)
    assert message["To"] == "reader@example.org"
    posted = json.loads(post.made(READER, usual(), Channel.WEBHOOK))
    assert posted["blocks"]
