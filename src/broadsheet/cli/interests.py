"""Commands that say what a reader cares about: start, follow, unfollow, mute, unmute, searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from broadsheet.cli.common import (
    Number,
    chosen_reader,
    home_option,
    interest,
    json_option,
    opened,
    paper_key,
    reader_option,
    safe,
    write_json,
)

if TYPE_CHECKING:
    from broadsheet.library import Library
    from broadsheet.model.reading import Interest, Reader

_KINDS = "KIND:VALUE"
interests_argument = click.argument("interests", nargs=-1, type=interest, metavar=f"[{_KINDS}]...")
needed_argument = click.argument("interests", nargs=-1, type=interest, required=True, metavar=f"{_KINDS}...")


@click.command(no_args_is_help=True, short_help="Tell a new daily paper what you care about.")
@click.option("--area", "areas", multiple=True, help="Follow this area, such as cs.LG. May be given more than once.")
@click.option("--paper", "papers", multiple=True, help="A paper such as you want to see. May be given more than once.")
@click.option("--library", "whole", is_flag=True, help="Learn from the papers of an imported Zotero or BibTeX library.")
@click.option("--source", "sources", multiple=True, help="With --library: only what came from this source.")
@reader_option
@json_option
@home_option
def start(
    areas: tuple[str, ...], papers: tuple[str, ...], whole: bool, sources: tuple[str, ...], as_json: bool
) -> None:
    """Tell a new daily paper what you care about: areas, a few papers, or the library that you imported.

    Nothing of it is needed: the first edition then goes by what is talked about, and for variety.

    \b
    Examples:
      broadsheet start --area cs.LG --area stat.ML
      broadsheet start --paper 2506.18020 --paper 12
      broadsheet start --library
    """
    if sources and not whole:
        raise click.UsageError("--source goes with --library.")
    from broadsheet.model.reading import Interest, InterestKind

    with opened() as library:
        # Papers first: where one is unknown, nothing is followed yet and the command can be given again.
        examples = library.daily.examples([paper_key(name) for name in papers], chosen_reader()) if papers else 0
        for area in areas:
            wanted = Interest(InterestKind.AREA, area)
            library.daily.follow(wanted, chosen_reader())
            _tell_meant(library, wanted)
        read = library.daily.examples_from_library(chosen_reader(), sources=sources) if whole else 0
    if as_json:
        write_json({"areas": list(areas), "examples": examples, "from_library": read})
        return
    if areas:
        click.echo(safe(f"Following {', '.join(areas)}."))
    if papers:
        click.echo(f"New examples: {examples:,}.")
    if read:
        click.echo(f"New examples from your library: {read:,}.")
    if whole and not read:
        click.echo("No paper was new that says when it was added. To bring in a library: broadsheet import ~/Zotero")
    named = f" --reader {chosen_reader()}" if chosen_reader() else ""
    click.echo(safe(f"Read on with: broadsheet today{named}"))


def _interest_command(name: str, short: str, long: str) -> click.Command:
    """``unfollow`` or ``unmute``: the same command but for its words."""

    @click.command(name, no_args_is_help=True, short_help=short, help=long)
    @needed_argument
    @reader_option
    @json_option
    @home_option
    def change(interests: tuple[Interest, ...], as_json: bool) -> None:
        _change(name, interests, as_json)

    return change


def _listing_command(name: str, short: str, long: str) -> click.Command:
    """``follow`` or ``mute``, which without an argument list what there is."""

    @click.command(name, short_help=short, help=long)
    @interests_argument
    @reader_option
    @json_option
    @home_option
    def change(interests: tuple[Interest, ...], as_json: bool) -> None:
        _change(name, interests, as_json)

    return change


def _change(name: str, interests: Sequence[Interest], as_json: bool) -> None:
    muted = name.endswith("mute")
    with opened(read_only=not interests) as library:
        reader = library.daily.reader(chosen_reader())
        change = getattr(library.daily, name)
        for each in interests:
            before, reader = reader, change(each, chosen_reader())
            if not name.startswith("un"):
                _tell_meant(library, each)
            if name.startswith("un") and before.profile == reader.profile:
                click.echo(safe(f"{each} was not {'muted' if muted else 'followed'}."), err=True)
    held = reader.profile.mutes if muted else reader.profile.follows
    if as_json:
        from broadsheet.cli.shapes import interest_shape

        write_json([interest_shape(each) for each in held])
        return
    click.echo(safe("\n".join(map(str, held))) or f"Nothing is {'muted' if muted else 'followed'}.")


def _tell_meant(library: Library, interest: Interest) -> None:
    """Beside what the command prints: how many papers are meant, so that a slip of the pen is seen."""
    if said := library.daily.meant(interest):
        click.echo(safe(" ".join([f"{interest}:", *said])), err=True)


follow = _listing_command(
    "follow",
    "Follow keywords, authors, areas and venues.",
    """Follow keywords, authors, areas and venues: their papers come first. Without an argument, list what is followed.

    KIND is keyword, author, area or venue. Values of several words need quotes.

    \b
    Examples:
      broadsheet follow
      broadsheet follow "author:Emmy Noether" area:cs.LG venue:icml
      broadsheet follow "keyword:active learning" keyword:主动学习
    """,
)
unfollow = _interest_command(
    "unfollow",
    "Follow something no longer.",
    """Follow something no longer.

    \b
    Example:
      broadsheet unfollow area:cs.LG
    """,
)
mute = _listing_command(
    "mute",
    "Keep keywords, authors, areas and venues out.",
    """Keep keywords, authors, areas and venues out of the paper, whatever else speaks for them. Without an argument,
    list what is muted.

    \b
    Examples:
      broadsheet mute
      broadsheet mute keyword:blockchain area:cs.CY
    """,
)
unmute = _interest_command(
    "unmute",
    "Mute something no longer.",
    """Mute something no longer.

    \b
    Example:
      broadsheet unmute keyword:blockchain
    """,
)


@click.group("searches", invoke_without_command=True, short_help="Show, add and remove saved searches.")
@reader_option
@json_option
@home_option
@click.pass_context
def searches_(context: click.Context, as_json: bool) -> None:
    """Show the saved searches, whose new papers join the edition.

    \b
    Examples:
      broadsheet searches
      broadsheet searches add --label bandits "contextual bandits -survey"
      broadsheet searches show 1
      broadsheet searches remove 1
    """
    if not context.invoked_subcommand:
        _list_searches(as_json)


def _list_searches(as_json: bool) -> None:
    with opened(read_only=True) as library:
        reader = library.daily.reader(chosen_reader())
    _print_searches(reader, as_json)


def _print_searches(reader: Reader, as_json: bool) -> None:
    if as_json:
        from broadsheet.cli.shapes import search_shape

        write_json([search_shape(search) for search in reader.profile.searches])
    elif reader.profile.searches:
        from broadsheet.cli.render import columns

        rows = [(str(each.id), safe(each.name), safe(each.query)) for each in reader.profile.searches]
        click.echo("\n".join(columns(("id", "label", "question"), rows, right=(0,))))
    else:
        click.echo("No search is saved. Save one: broadsheet searches add QUESTION")


@searches_.command("list", short_help="List the saved searches.")
@reader_option
@json_option
@home_option
def list_searches(as_json: bool) -> None:
    """List the saved searches, as `broadsheet searches` does.

    \b
    Example:
      broadsheet searches list --json
    """
    _list_searches(as_json)


@searches_.command("add", no_args_is_help=True, short_help="Save a search.")
@click.argument("query", nargs=-1, required=True)
@click.option("--label", default="", help="What the search is called in the edition; else its words.")
@reader_option
@json_option
@home_option
def add(query: tuple[str, ...], label: str, as_json: bool) -> None:
    """Save a search, written as for `broadsheet search`; its new papers join every later edition.

    \b
    Examples:
      broadsheet searches add conformal prediction
      broadsheet searches add --label bandits '"contextual bandits" -survey'
    """
    with opened() as library:
        search = library.daily.save_search(" ".join(query), label, chosen_reader())
    if as_json:
        from broadsheet.cli.shapes import search_shape

        write_json(search_shape(search))
    else:
        called = f", {search.name}" if search.name != search.query else ""
        click.echo(safe(f"Saved search {search.id}{called}: {search.query}"))


@searches_.command("show", no_args_is_help=True, short_help="Print the newest papers of a saved search.")
@click.argument("number", metavar="ID", type=Number(1))
@reader_option
@json_option
@home_option
def show_search(number: int, as_json: bool) -> None:
    """Print the newest papers that a saved search finds.

    \b
    Example:
      broadsheet searches show 1
    """
    with opened(read_only=True) as library:
        papers = library.daily.search_feed(number, chosen_reader())
    if as_json:
        from broadsheet.cli.shapes import paper_shape

        write_json(list(map(paper_shape, papers)))
    else:
        from broadsheet.cli.newspaper import titles_lines

        click.echo("\n".join(titles_lines(papers)) or "Nothing found.")


@searches_.command("remove", no_args_is_help=True, short_help="Remove a saved search.")
@click.argument("number", metavar="ID", type=Number(1))
@reader_option
@json_option
@home_option
def remove(number: int, as_json: bool) -> None:
    """Remove a saved search by its number.

    \b
    Example:
      broadsheet searches remove 1
    """
    with opened() as library:
        reader = library.daily.drop_search(number, chosen_reader())
    _print_searches(reader, as_json)


COMMANDS = (start, follow, unfollow, mute, unmute, searches_)
