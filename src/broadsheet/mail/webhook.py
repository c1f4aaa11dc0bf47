"""An edition as a post to a web hook in Slack's format; Mattermost, Rocket.Chat and Discord (``/slack``) take it too.

Limits are Slack's (Block Kit): 50 blocks, 3,000 characters in a section, 150 in a heading. The address of a web hook is
a secret, so no error repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from broadsheet.errors import DeliveryError, FetchError, ForbiddenAddressError, SettingsError, ThrottledError
from broadsheet.mail.wording import (
    NAME,
    Story,
    checked_site,
    column,
    counted,
    notes,
    one_line,
    summary,
    web_address,
    written_long,
)
from broadsheet.model.reading import Edition
from broadsheet.net import Client

MOST_BLOCKS = 50
LONGEST_SECTION = 3_000  # characters
LONGEST_HEADING = 150
LONGEST_TEXT = 2_000  # Discord's limit of a message
_ABSTRACT = 280
_IN_TEXT = 10  # papers named in ``text``, which programs without blocks show
_FORMATTING = re.compile(r"([*_~`@]|\](?=\())")  # also of Mattermost and Discord: @everyone, [text](address)


def payload(edition: Edition, site: str = "") -> dict[str, Any]:
    """The JSON of a post: ``text`` for notifications and simple programs, ``blocks`` for the rest. Pure.

    Raises SettingsError for a site that is no address.
    """
    site = checked_site(site)
    rest = f"{site}/edition/{edition.day.isoformat()}" if site else ""
    heading = f"{NAME}, {written_long(edition.day)}"
    wanted = {entry.paper.id: _ABSTRACT for entry in edition.entries}
    columns = [column(section, wanted) for section in edition.sections if section.entries]
    stories = [story for told in columns for story in told.stories]
    return {
        "text": "\n".join([f"*{_safe(heading)}*", _safe(summary(edition)), *_lines(stories, site, rest)]),
        "blocks": list(_blocks(edition, heading, [(c.title, c.stories) for c in columns], site, rest)),
        "unfurl_links": False,
        "unfurl_media": False,
    }


def _lines(stories: list[Story], site: str, rest: str) -> Iterator[str]:
    """The first papers in a line each, as many as there is room for, and what is left out."""
    room, left = LONGEST_TEXT - len(rest) - 200, len(stories)  # with what stands before and after them
    for story in stories[:_IN_TEXT]:
        line = f"• {_linked(story, site)}"
        room -= len(line) + 1
        if room < 0:
            break
        yield line
        left -= 1
    if left or rest:
        yield _rest(counted(left, "more paper") if left else "", rest)


def _blocks(
    edition: Edition, heading: str, sections: list[tuple[str, tuple[Story, ...]]], site: str, rest: str
) -> Iterator[dict[str, Any]]:
    said = [_safe(summary(edition)), *(f"_{_safe(note)}_" for note in notes(edition)[:3])]
    yield {"type": "header", "text": {"type": "plain_text", "text": one_line(heading, LONGEST_HEADING - 2)}}
    yield {"type": "context", "elements": [{"type": "mrkdwn", "text": text} for text in said]}
    left = MOST_BLOCKS - 3  # with one for what is left out
    waiting = sum(len(stories) for _, stories in sections)
    for title, stories in sections:
        if left < 2:
            break
        yield _section(f"*{_safe(title)}*")
        left -= 1
        for story in stories[:left]:
            yield _section(_told(story, site))
            left -= 1
            waiting -= 1
    if waiting or rest:
        yield _section(_rest(counted(waiting, "more paper") if waiting else "", rest))


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def _told(story: Story, site: str) -> str:
    """An entry in a section: every part is bounded, so that the whole stays under Slack's limit whatever is in it."""
    notice = f"*{story.notice or story.marked}* " if story.notice or story.marked else ""
    lines = [f"{notice}*{_linked(story, site)}*", " · ".join(filter(None, [_safe(story.byline), _safe(story.place)]))]
    lines.append(_safe(story.abstract))
    if story.why:
        lines.append(f"_Why: {_safe('; '.join(story.why))}_")
    whole = "\n".join(filter(None, lines))
    return whole if len(whole) <= LONGEST_SECTION else lines[0]


def _linked(story: Story, site: str) -> str:
    address = f"{site}/paper/{story.paper}" if site else story.url
    title = _safe(one_line(story.title, 200))
    # In <address|text> a bar ends the address, and an ampersand must be escaped there, too.
    return f"<{_escaped(web_address(address)).replace('|', '%7C')}|{title}>" if address else title


def _rest(more: str, rest: str) -> str:
    if rest:
        return (
            f"{more + ': ' if more else ''}<{_escaped(rest)}|{'see the rest' if more else 'this edition on the site'}>"
        )
    return f"{more}." if more else ""


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _safe(text: str) -> str:
    """Text that is shown as it is: control sequences (``<!channel>``) escaped, what formats or calls held apart."""
    return _FORMATTING.sub("\\1\u200b", _escaped(text).replace("|", "¦"))


def post(url: str, edition: Edition, client: Client, site: str = "") -> None:
    """Post an edition; ``client`` should try once, since a post that was taken must not be made again.

    Raises DeliveryError, which names the host and never the whole address.
    """
    host = host_of(url)
    try:
        client.post(url, json=payload(edition, site), follow=False)
    except FetchError as error:
        lasting = isinstance(error, ForbiddenAddressError) or (error.status is not None and 300 <= error.status < 500)
        passing = isinstance(error, ThrottledError) or not lasting
        what = re.sub(r"\s*\([^()]*\)$", "", str(error).replace(error.url, f"https://{host}/…"))
        raise DeliveryError(f"the web hook at {host} failed at post: {what}", step="post", passing=passing) from None


def host_of(url: str) -> str:
    """The host of a web hook, which alone may be shown. Raises SettingsError for what is no http(s) address."""
    if not web_address(url):
        raise SettingsError("the reader's webhook is no http(s) address; give it as the service shows it")
    return urlsplit(url).hostname or ""
