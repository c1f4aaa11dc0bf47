"""From a mail to the site and back to the memory: what is clicked in a mail is done, once, and only by a click."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import lxml.html
import pytest
from fastapi.testclient import TestClient

from broadsheet.library import Library
from broadsheet.mail.message import Desk, compose
from broadsheet.mail_address import mailbox
from broadsheet.model.reading import Action
from broadsheet.web import create_app
from tests.editions import DAY, NOW, edition
from tests.libraries import library_in, write_entries

SITE = "https://papers.example.org"
SENDER = mailbox("paper@example.org", "mail_from")
TO = mailbox("reader@example.org", "to")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    shelf = [{"title": f"Sorting pebbles, part {n}", "arxiv": f"2611.0000{n}", "year": 2026} for n in (1, 2)]
    with library_in(tmp_path) as opened:
        opened.import_files([write_entries(tmp_path / "shelf.jsonl", shelf)])
        opened.daily.set_options(email="reader@example.org")
        opened.store.reading.add_edition(edition([opened.paper(1), opened.paper(2)], newest_paper=2))
        yield opened


@pytest.fixture
def site(library: Library) -> Iterator[TestClient]:
    """The site as a stranger's browser sees it: without a cookie, not from this machine."""
    with TestClient(create_app(library, host="0.0.0.0", allowed_hosts=("*",)), base_url=SITE) as client:
        yield client


def mail(library: Library) -> EmailMessage:
    printed = library.daily.edition(DAY)
    return compose(printed, library.daily.reader(), TO, Desk(SENDER, SITE), NOW)


def link(library: Library, name: str) -> str:
    source = list(mail(library).iter_parts())[1].get_content()
    return next(str(a.get("href")) for a in lxml.html.fromstring(source).iter("a") if a.text_content() == name)


@pytest.mark.parametrize(
    ("name", "action"), [("Save", Action.SAVE), ("Like", Action.LIKE), ("Not for me", Action.DISMISS)]
)
def test_a_click_is_done_once_and_only_when_confirmed(
    name: str, action: Action, library: Library, site: TestClient
) -> None:
    url = link(library, name)
    shown = site.get(url)
    assert shown.status_code == 200
    assert "Sorting pebbles, part 1" in shown.text
    assert library.daily.events() == []  # whoever only opens it, such as a scanner of mail, does nothing
    for _ in range(2):
        assert site.post(url).status_code < 400
    (event,) = library.daily.events()
    assert (event.action, event.paper, event.edition) == (action, 1, DAY)


def test_one_click_unsubscribing(library: Library, site: TestClient) -> None:
    """As RFC 8058 section 3.1 has it: a POST to the header's address, with the header's pair as a form."""
    message = mail(library)
    url = message["List-Unsubscribe"].strip("<>")
    assert site.get(url).status_code == 200
    assert library.daily.reader().profile.email == "reader@example.org"
    name, _, value = message["List-Unsubscribe-Post"].partition("=")
    assert site.post(url, data={name: value}).status_code < 400
    assert library.daily.reader().profile.email == ""
    assert site.post(url, data={name: value}).status_code < 400


def test_a_changed_link_and_one_of_before_are_refused(library: Library, site: TestClient) -> None:
    url = link(library, "Save")
    other = re.sub(r"t=.", "t=x", url)
    library.daily.renew_secret()
    for refused in (other, url):
        for answer in (site.get(refused), site.post(refused)):
            assert 400 <= answer.status_code < 500
    assert library.daily.events() == []


def test_the_rest_and_the_papers_are_where_the_mail_says(library: Library, site: TestClient) -> None:
    entered = site.get(f"/r/{library.daily.reader().secret}")
    assert entered.status_code == 200
    rest = site.get(link(library, "This edition on the site"))
    assert rest.status_code == 200
    assert "Sorting pebbles, part 2" in rest.text
    assert site.get(link(library, "Sorting pebbles, part 2")).status_code == 200


def test_a_link_of_another_reader_acts_for_that_reader(library: Library, site: TestClient) -> None:
    ada = library.daily.add_reader("ada")
    printed = replace(library.daily.edition(DAY), reader="ada")
    source = list(compose(printed, ada, TO, Desk(SENDER, SITE), NOW).iter_parts())[1].get_content()
    url = next(str(a.get("href")) for a in lxml.html.fromstring(source).iter("a") if a.text_content() == "Like")
    assert site.post(url).status_code < 400
    assert library.daily.events() == []
    assert [event.action for event in library.daily.events("ada")] == [Action.LIKE]
