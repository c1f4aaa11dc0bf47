"""Commands that make a systematic review and fill its pool: screen, new, plan, add, remove."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from broadsheet.cli.common import (
    Number,
    home_option,
    json_option,
    make_sure,
    opened,
    paper_key,
    safe,
    write_json,
)
from broadsheet.cli.screen_common import (
    KINDS,
    MODEL_OPTIONS,
    RULE_OPTIONS,
    chosen_screener,
    review_argument,
    screener_option,
    shape,
    together,
)
from broadsheet.errors import InputError

if TYPE_CHECKING:
    from broadsheet.library import Library
    from broadsheet.model.screening import Criterion, PoolSummary, Review

SHOWN_PROBLEMS = 10


@click.group("screen", invoke_without_command=True, short_help="Screen records for a systematic review.")
@json_option
@home_option
@click.pass_context
def screen_(context: click.Context, as_json: bool) -> None:
    """Screen records for a systematic review, and say with a stated confidence how much was found.

    Without a command the reviews are listed.

    \b
    Examples:
      broadsheet screen new anxiety --question "Does exercise lower anxiety?"
      broadsheet screen add anxiety pubmed.nbib scopus.ris
      broadsheet screen prior anxiety include 12 15
      broadsheet screen start anxiety
      broadsheet screen progress anxiety
    """
    if not context.invoked_subcommand:
        _list_reviews(as_json)


def _list_reviews(as_json: bool) -> None:
    with opened(read_only=True) as library:
        screening = library.screening
        found = [(review, screening.progress(review.id, curve=False)) for review in screening.reviews()]
    if as_json:
        write_json([{**shape(p.review), **_figures(p)} for _, p in found])
        return
    if not found:
        click.echo("There is no review yet. Begin with: broadsheet screen new NAME")
        return
    from broadsheet.cli.render import columns

    rows = [
        (safe(r.name), f"{p.records:,}", f"{p.read:,}", f"{p.found:,}", p.phase, safe(r.plan.question or "-"))
        for r, p in found
    ]
    head = ("review", "records", "read", "included", "phase", "question")
    click.echo("\n".join(columns(head, rows, right=range(1, 4))))


def _figures(progress: Any) -> dict[str, Any]:
    names = ("records", "repeats", "read", "found", "later", "conflicts", "phase")
    return {name: getattr(progress, name) for name in names}


@screen_.command("list", short_help="List the reviews.")
@json_option
@home_option
def list_(as_json: bool) -> None:
    """List the reviews, as `broadsheet screen` does.

    \b
    Example:
      broadsheet screen list --json
    """
    _list_reviews(as_json)


# The plan


def _criteria(excludes: bool) -> Callable[[click.Context, click.Parameter, Sequence[str]], list[Criterion]]:
    """The callback of an option with criteria, each as ``CODE: text``."""

    def read(context: click.Context, parameter: click.Parameter, given: Sequence[str]) -> list[Criterion]:
        from broadsheet.model.screening import Criterion

        made = []
        for each in given:
            code, colon, text = each.replace("\N{FULLWIDTH COLON}", ":").partition(":")
            if not (colon and code.strip() and text.strip()):
                raise click.BadParameter(f'{each!r} is not CODE: TEXT, such as "POP: not about adults"')
            made.append(Criterion(code.strip(), text.strip(), excludes))
        return made

    return read


def _words(context: click.Context, parameter: click.Parameter, given: Sequence[str]) -> tuple[str, ...] | None:
    """Terms that are separated by commas or by lines; None where none was given."""
    if not given:
        return None
    text = "\n".join(given)
    for comma in ",;\N{FULLWIDTH COMMA}\N{IDEOGRAPHIC COMMA}":
        text = text.replace(comma, "\n")
    return tuple(dict.fromkeys(word.strip() for word in text.splitlines() if word.strip()))


plan_options = together(
    click.option("--question", help="What the review asks."),
    click.option(
        *("--include", "includes"),
        multiple=True,
        metavar="CODE: TEXT",
        callback=_criteria(excludes=False),
        help="A criterion that a record must meet. May be given more than once.",
    ),
    click.option(
        *("--exclude", "excludes"),
        multiple=True,
        metavar="CODE: TEXT",
        callback=_criteria(excludes=True),
        help="A reason to exclude; its code is what decisions name. May be given more than once.",
    ),
    click.option(
        "--terms",
        multiple=True,
        callback=_words,
        help="Words to highlight, by commas; those with - before speak against.",
    ),
    *RULE_OPTIONS,
    click.option("--member", "screeners", multiple=True, metavar="NAME", help="Who screens; without, anyone may."),
    click.option("--blinded/--shared", default=None, help="Every screener decides every record unseen, or one does."),
    *MODEL_OPTIONS,
    click.option("--seed", type=Number(0), help="Seed of all that is random."),
)
"""The options that say how a review is done."""


def plan_changes(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a plan that the options give, and nothing for those that were left out."""
    from broadsheet.model.screening import Sharing

    criteria = (*given.pop("includes"), *given.pop("excludes"))
    blinded, screeners = given.pop("blinded"), given.pop("screeners")
    changes = {name: value for name, value in given.items() if value is not None}
    if criteria:
        changes["criteria"] = criteria
    if screeners:
        changes["screeners"] = tuple(dict.fromkeys(screeners))
    if blinded is not None:
        changes["sharing"] = Sharing.BLINDED if blinded else Sharing.SHARED
    return changes


@screen_.command("new", no_args_is_help=True, short_help="Begin a review.")
@review_argument
@plan_options
@screener_option
@json_option
@home_option
def new(name: str, as_json: bool, **given: Any) -> None:
    """Begin a review with the name REVIEW. Declare the target and the rule now: what is changed later is said so.

    \b
    Examples:
      broadsheet screen new anxiety --question "Does exercise lower anxiety?" --target 0.95
      broadsheet screen new anxiety --exclude "POP: not about adults" --exclude "DESIGN: no trial"
      broadsheet screen new anxiety --rule distribution-free --member ada --member bob --blinded
    """
    with opened() as library:
        review = library.screening.create(name, screener=chosen_screener(), **plan_changes(given))
    if as_json:
        write_json(shape(review))
    else:
        click.echo(safe(f"Began the review {review.name}. Fill it with: broadsheet screen add {_quoted(review)} FILE"))


def _quoted(review: Review) -> str:
    import shlex

    return shlex.quote(review.name)


@screen_.command("plan", no_args_is_help=True, short_help="Show a review's plan, or change it.")
@review_argument
@plan_options
@screener_option
@json_option
@home_option
def plan(name: str, as_json: bool, **given: Any) -> None:
    """Show the plan of a review, or change what is given; every change is kept in its history.

    Criteria that are given replace all there were.

    \b
    Examples:
      broadsheet screen plan anxiety
      broadsheet screen plan anxiety --rule distribution-free
    """
    changes = plan_changes(given)
    with opened(read_only=not changes) as library:
        screening = library.screening
        review = screening.change(name, screener=chosen_screener(), **changes) if changes else screening.review(name)
    if as_json:
        write_json(shape(review))
        return
    from broadsheet.cli.screen_render import plan_lines

    click.echo("\n".join(plan_lines(review)))


@screen_.command("remove", no_args_is_help=True, short_help="Remove a review with all its decisions.")
@review_argument
@click.option("--yes", is_flag=True, help="Do not ask whether this is meant.")
@home_option
def remove(name: str, yes: bool) -> None:
    """Remove a review with its records, decisions and statements. `screen export` keeps them.

    \b
    Example:
      broadsheet screen remove anxiety --yes
    """
    with opened() as library:
        review = library.screening.review(name)
        make_sure(f"Remove {review.name} with all decisions?", yes)
        library.screening.remove(review.name)
    click.echo(safe(f"Removed {review.name}."))


# The pool


@screen_.command("add", no_args_is_help=True, short_help="Fill a review with records.")
@review_argument
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
@click.option("--search", "query", help="Papers of the library that a question finds, best first.")
@click.option("--saved-search", type=Number(1), help="Papers that a saved search finds, by its number.")
@click.option("--paper", "papers", multiple=True, help="A paper of the library. May be given more than once.")
@click.option("--limit", type=Number(1, 10_000), default=1000, show_default=True, help="Papers from a search at most.")
@click.option("--source", "called", default="", metavar="NAME", help="What the FILEs' source is called in reports.")
@click.option("--kind", type=click.Choice(KINDS), help="What the FILEs' source is, for PRISMA; else a database.")
@click.option("--dry-run", is_flag=True, help="Say what FILEs would add, and add nothing.")
@screener_option
@json_option
@home_option
def add(  # noqa: PLR0917 - click passes the options by name
    name: str,
    files: tuple[Path, ...],
    query: str | None,
    saved_search: int | None,
    papers: tuple[str, ...],
    limit: int,
    called: str,
    kind: str | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Fill a review with records from files (RIS, nbib, BibTeX, CSV, Excel...), from the library, or from both.

    Records that repeat others are found, kept beside them and screened once. Labels that a file has (as ASReview
    writes them) become prior knowledge. What a source has given already is not added again. - is the standard input.

    Records cannot be taken out of a review again: look first with --dry-run. In reports a source has its file's name,
    or that of --source; `screen source` gives it another one later.

    \b
    Examples:
      broadsheet screen add anxiety pubmed.nbib scopus.ris --dry-run
      broadsheet screen add anxiety savedrecs.txt --source "Web of Science"
      broadsheet screen add anxiety --search "exercise and anxiety" --limit 500
      broadsheet screen add anxiety --paper 12 --paper doi:10.1000/182
    """
    if not (files or query or saved_search or papers):
        raise click.UsageError("Name at least one FILE, or give --search, --saved-search or --paper.")
    if dry_run and (query or saved_search or papers or Path("-") in files):
        raise click.UsageError("--dry-run is for files: leave out --search, --saved-search, --paper and -.")
    if (called or kind) and not files:
        raise click.UsageError("--source and --kind are for FILEs; `screen source` names what a search gave.")
    summaries: list[PoolSummary] = []
    unreadable: list[str] = []
    with opened(read_only=dry_run) as library:
        review = library.screening.review(name)
        for path in files:
            try:
                summaries.append(_add_file(library, review.name, path, (called, kind), dry_run))
            except InputError as error:
                unreadable.append(str(error))
                click.echo(f"broadsheet: {safe(str(error))}", err=True)
        summaries += _add_papers(library, review.name, query, saved_search, papers, limit)
    if as_json:
        write_json({"sources": shape(summaries), "unreadable": unreadable})
    else:
        _print_summaries(summaries)
        if dry_run:
            click.echo("Nothing was added.")
    return 1 if unreadable or not any(each.added for each in summaries) else 0


def _add_file(library: Library, name: str, path: Path, source: tuple[str, str | None], dry_run: bool) -> PoolSummary:
    from broadsheet.cli.progress import Progress
    from broadsheet.model.screening import SourceKind

    called, kind = source[0], SourceKind(source[1]) if source[1] else None
    screening, who = library.screening, chosen_screener()
    with Progress(path.name, "B") as progress:
        told: dict[str, Any] = {"screener": who, "on_progress": progress.update, "called": called, "kind": kind}
        if str(path) == "-":
            return screening.add_stream(name, sys.stdin.buffer, "stdin", **told)
        return screening.add_files(name, [path], dry_run=dry_run, **told)[0]


def _add_papers(  # noqa: PLR0917 - one for each way to name papers
    library: Library, name: str, query: str | None, saved: int | None, papers: Sequence[str], limit: int
) -> list[PoolSummary]:
    screening, who = library.screening, chosen_screener()
    made = []
    if query:
        made.append(screening.add_search(name, query, limit=limit, screener=who))
    if saved:
        made.append(screening.add_saved_search(name, saved, limit=limit, screener=who))
    if papers:
        made.append(screening.add_papers(name, [paper_key(paper) for paper in papers], screener=who))
    return made


def _print_summaries(summaries: Sequence[PoolSummary]) -> None:
    if not summaries:
        return
    from broadsheet.cli.render import columns

    names = ("entries", "added", "repeats", "refused", "labelled")
    rows = [(safe(each.source), *(f"{getattr(each, name):,}" for name in names)) for each in summaries]
    click.echo("\n".join(columns(("source", *names), rows, right=range(1, 6))))
    for each in summaries:
        for problem in each.problems[:SHOWN_PROBLEMS]:
            click.echo(safe(problem), err=True)
        if len(each.problems) > SHOWN_PROBLEMS:
            click.echo(f"and {len(each.problems) - SHOWN_PROBLEMS:,} more problems", err=True)
