"""`broadsheet send` and `broadsheet print`, with a real library and a real mail server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest

from broadsheet.cli import run
from broadsheet.library import open_library
from broadsheet.mail.printing import to_html
from broadsheet.settings import CONFIG_NAME, load_settings
from tests.editions import usual
from tests.fakeweb import Answer, FakeWeb
from tests.mailserver import Certificates, Inbox, mail_server
from tests.test_print import needs_pdf

PASSWORD = "s3cret-of-the-server"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def inbox(tmp_path: Path, certificates: Certificates, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inbox]:
    """A mail server, and a library in the environment with one edition for the default reader, who has an address."""
    with mail_server("ssl", certificates) as (port, found):
        home = tmp_path / "library"
        home.mkdir()
        (home / CONFIG_NAME).write_text(
            f'encoder = "none"\nmail_from = "paper@example.org"\nsmtp_host = "localhost"\nsmtp_port = {port}\n'
            f'smtp_security = "ssl"\nsmtp_ca_file = "{certificates.ca_file}"\nsite_url = "https://papers.example.org"\n'
            "allow_private_addresses = true\n"
        )
        monkeypatch.setenv("BROADSHEET_HOME", str(home))
        monkeypatch.chdir(tmp_path)
        with open_library() as library:
            library.daily.reader()
            library.store.reading.add_edition(usual())
            library.store.reading.add_edition(replace(usual(), day=date(2026, 11, 30)))
            library.daily.set_options(email="reader@example.org")
        yield found


def recorded() -> list[tuple[str, str]]:
    with open_library() as library:
        return [(one.channel, one.state) for one in library.store.reading.deliveries("me", usual().day)]


def ask(**options: str) -> None:
    with open_library() as library:
        library.daily.set_options(**options)  # type: ignore[arg-type]


def test_check_goes_through_all_steps_and_sends_nothing(inbox: Inbox, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["send", "--check"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("mail: localhost:")
    assert "with encryption" in out
    assert out.endswith("takes mail from paper@example.org for reader@example.org\n")
    assert inbox.envelopes == []
    assert recorded() == []


def test_an_edition_is_sent_once_and_again_when_asked(inbox: Inbox, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["send"]) == 0
    assert capsys.readouterr().out == "Sent the edition of 2026-12-01 by mail to reader@example.org.\n"
    assert recorded() == [("mail", "sent")]
    assert run(["send"]) == 0
    assert "was sent by mail before; --again" in capsys.readouterr().out
    assert run(["send", "--again"]) == 0
    assert [message["Message-ID"] for message in inbox.messages] == [inbox.messages[0]["Message-ID"]] * 2


def test_what_a_server_is_sending_just_now_is_left_to_it(inbox: Inbox, capsys: pytest.CaptureFixture[str]) -> None:
    with open_library() as library:
        assert library.daily.claim_delivery("me", usual().day, "mail")
    assert run(["send"]) == 0
    assert "is being sent by mail by another program" in capsys.readouterr().out
    assert inbox.envelopes == []
    assert run(["send", "--again"]) == 0
    assert recorded() == [("mail", "sent")]


def test_an_edition_of_before(inbox: Inbox) -> None:
    assert run(["send", "--day", "2026-11-30"]) == 0
    assert "30 November 2026" in inbox.messages[0]["Subject"]


def test_the_step_that_fails_is_named_before_an_edition_is_made(
    inbox: Inbox, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from broadsheet.library.daily import Daily

    monkeypatch.setattr(Daily, "today", lambda *_, **__: pytest.fail("the edition was made first"))
    inbox.refusals["recipient"] = "550 5.1.1 no such reader"
    assert run(["send"]) == 1
    assert "failed at recipient: refused: 550 5.1.1 no such reader" in capsys.readouterr().err
    assert inbox.envelopes == []


def test_a_message_that_is_refused_is_recorded(inbox: Inbox, capsys: pytest.CaptureFixture[str]) -> None:
    inbox.refusals["message"] = "554 5.6.0 looks like advertising"
    assert run(["send"]) == 1
    assert "failed at message" in capsys.readouterr().err
    assert recorded() == [("mail", "failed")]


def test_another_channel_is_served_all_the_same(
    inbox: Inbox, fakeweb: FakeWeb, capsys: pytest.CaptureFixture[str]
) -> None:
    fakeweb.on("hooks", "/SECRET", Answer("ok"))
    ask(webhook=f"{fakeweb.base}/hooks/SECRET")
    inbox.refusals["sender"] = "550 who are you"
    assert run(["send"]) == 1
    told = capsys.readouterr()
    assert "failed at sender" in told.err
    assert told.out == "Sent the edition of 2026-12-01 by webhook to 127.0.0.1.\n"
    assert json.loads(fakeweb.requests[0].body)["blocks"]
    assert recorded() == [("webhook", "sent")]
    assert run(["send", "--check", "--channel", "webhook"]) == 0
    assert "SECRET" not in capsys.readouterr().out
    assert len(fakeweb.requests) == 1


def test_who_has_no_address_is_told_how_to_give_one(inbox: Inbox, capsys: pytest.CaptureFixture[str]) -> None:
    ask(email="")
    assert run(["send"]) == 1
    assert "broadsheet readers options me --email ADDRESS" in capsys.readouterr().err


def test_the_remedy_is_a_command_that_exists(inbox: Inbox) -> None:
    assert run(["readers", "options", "me", "--email", "other@example.org"]) == 0
    assert run(["send"]) == 0
    assert inbox.messages[0]["To"] == "other@example.org"


def test_what_would_be_sent_can_be_had_as_a_file(inbox: Inbox, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["send", "--to-file", "today.eml"]) == 0
    message = message_from_bytes(Path("today.eml").read_bytes(), policy=default)
    assert message["Subject"] == "Broadsheet, 1 December 2026: Sorting pebbles, part 1"
    capsysbinary.readouterr()
    assert run(["send", "--channel", "webhook", "--to-file", "-"]) == 0
    assert json.loads(capsysbinary.readouterr().out)["text"]
    assert inbox.said == []
    assert recorded() == []


def test_print_as_html(inbox: Inbox, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["print", "today.html"]) == 0
    assert Path("today.html").read_text("utf-8") == to_html(usual(), reader="me", site="https://papers.example.org")
    assert capsys.readouterr().err == "Wrote today.html.\n"
    assert run(["print", "--size", "letter", "--day", "2026-11-30"]) == 0
    assert "Monday, 30 November 2026" in Path("broadsheet-2026-11-30.html").read_text("utf-8")
    assert sorted(path.name for path in Path().iterdir() if path.is_file()) == [
        "broadsheet-2026-11-30.html",
        "today.html",
    ]


def test_print_one_section(inbox: Inbox, capsys: pytest.CaptureFixture[str]) -> None:
    front = usual().sections[0]
    others = [entry.paper for section in usual().sections[1:] for entry in section.entries]
    assert run(["print", "--front", "front.html"]) == 0
    text = Path("front.html").read_text("utf-8")
    assert text == to_html(replace(usual(), sections=(front,)), reader="me", site="https://papers.example.org")
    assert run(["print", "--section", "front", "same.html"]) == 0
    assert Path("same.html").read_text("utf-8") == text
    assert others
    assert run(["print", "--section", "nope", "no.html"]) == 1
    assert "has no section nope; it has: front, " in capsys.readouterr().err
    assert not Path("no.html").exists()
    assert run(["print", "--section", "front", "--front", "no.html"]) == 2


@needs_pdf
def test_print_as_pdf(inbox: Inbox) -> None:
    assert run(["print", "today.pdf"]) == 0
    assert Path("today.pdf").read_bytes().startswith(b"%PDF-")
    assert run(["print", "--format", "pdf", "paper"]) == 0
    assert Path("paper").read_bytes().startswith(b"%PDF-")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["print", "--day", "2026-11-29"], 1, "2026-11-30"),
        (["print", "--day", "yesterday"], 2, "is not a day"),
        (["print", "no/such/folder/today.html"], 1, "cannot be written"),
        (["print", "--size", "A5"], 2, "A4"),
        (["print", "--reader", "nobody"], 1, "nobody"),
        (["send", "--channel", "pigeon"], 2, "mail"),
    ],
)
def test_what_cannot_be_done(
    arguments: list[str], status: int, message: str, inbox: Inbox, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == status
    assert message in capsys.readouterr().err
    assert inbox.envelopes == []


def test_where_there_is_no_edition_the_reason_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BROADSHEET_HOME", str(tmp_path / "empty"))
    monkeypatch.setenv("BROADSHEET_ENCODER", "none")
    assert run(["print", str(tmp_path / "x.html")]) == 1
    assert capsys.readouterr().err.startswith("broadsheet: ")
    assert not (tmp_path / "x.html").exists()


def test_no_secret_of_the_mail_server_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "library"
    home.mkdir()
    (home / CONFIG_NAME).write_text(f'smtp_user = "me"\nsmtp_password = "{PASSWORD}"\n')
    assert load_settings(home, {}).smtp_password == PASSWORD
    for arguments in (["config"], ["config", "--json"]):
        assert run(["--home", str(home), *arguments]) == 0
        told = capsys.readouterr().out
        assert "smtp_password" in told
        assert PASSWORD not in told
