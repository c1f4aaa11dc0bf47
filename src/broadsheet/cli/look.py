"""Commands that look: search, show, similar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from broadsheet.cli.common import (
    Number,
    chosen_reader,
    home_option,
    json_option,
    opened,
    paper_key,
    patience,
    reader_option,
    write_json,
)
from broadsheet.errors import NotFoundError

if TYPE_CHECKING:
    from broadsheet.model import StoredRecord

AREA_SEPARATOR = " · "
FOR_YOU = "for-you"  # as ``search`` has it


def _years(texts: Sequence[str]) -> list[str]:
    """Each year of ``2024`` or ``2020-2024``. Raises BadParameter for anything else."""
    found: list[str] = []
    for text in texts:
        first, _, last = text.partition("-")
        last = last or first
        if not (first.isdecimal() and last.isdecimal() and 1000 <= int(first) <= int(last) <= 9999):
            raise click.BadParameter(f"{text!r} is not a year such as 2024, or 2020-2024", param_hint="--year")
        found += map(str, range(int(first), int(last) + 1))
    return found


def _facets(venue: Sequence[str], area: Sequence[str], year: Sequence[str], code: bool) -> dict[str, list[str]]:
    chosen = {
        "venue": [name.lower() for name in venue],
        "area": [name for name in area if AREA_SEPARATOR not in name],
        "subarea": [name for name in area if AREA_SEPARATOR in name],
        "year": _years(year),
        "code": ["yes"] if code else [],
    }
    return {name: values for name, values in chosen.items() if values}


@click.command(no_args_is_help=True, short_help="Find papers by what they are about.")
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", type=Number(1, 200), help="Results on a page; else the setting page_size.")
@click.option("--page", type=Number(1), default=1, show_default=True, help="Which page of results.")
@click.option(
    "--sort",
    type=click.Choice(["relevance", "newest", "oldest", FOR_YOU]),
    default="relevance",
    show_default=True,
    help="Order of the results; for-you goes by the reader's memory, too.",
)
@click.option("--venue", multiple=True, help="Only this venue, such as icml. May be given more than once.")
@click.option("--area", multiple=True, help='Only this area, such as "Theory" or "Theory · Learning Theory".')
@click.option("--year", multiple=True, help="Only this year, or years such as 2020-2024.")
@click.option("--code", is_flag=True, help="Only papers with a link to code.")
@reader_option
@json_option
@home_option
def search(  # noqa: PLR0917 - click passes the options by name
    query: tuple[str, ...],
    limit: int | None,
    page: int,
    sort: str,
    venue: tuple[str, ...],
    area: tuple[str, ...],
    year: tuple[str, ...],
    code: bool,
    as_json: bool,
) -> None:
    """Find papers by what they are about.

    QUERY is a question or words, in English or Chinese; several words need no quotes. A query that begins with a
    minus sign comes after two dashes.

    \b
    Examples:
      broadsheet search robust training with corrupted labels
      broadsheet search 大模型 幻觉 --year 2025-2026
      broadsheet search --json --limit 5 author:bellet
      broadsheet search --sort for-you memory agents
      broadsheet search -- -survey diffusion
    """
    facets = _facets(venue, area, year, code)
    whose = chosen_reader() if sort == FOR_YOU else None
    with opened(read_only=True) as library, patience("Searching..."):
        results = library.search(" ".join(query), page=page, page_size=limit, sort=sort, facets=facets, reader=whose)
    if as_json:
        from broadsheet.web.api_models import ResultsOut

        write_json(ResultsOut.of(results).model_dump(mode="json"))
        return
    from broadsheet.cli.render import results_lines

    click.echo("\n".join(results_lines(results)))


@click.command(no_args_is_help=True)
@click.argument("paper", metavar="ID")
@click.option("--bibtex", is_flag=True, help="Print the paper's BibTeX entry alone.")
@json_option
@home_option
def show(paper: str, bibtex: bool, as_json: bool) -> None:
    """Show one paper and where each record of it came from.

    ID is a number from the search results, or an identifier in any form: an arXiv number or address, a DOI,
    an OpenReview, ACL or PubMed id.

    \b
    Examples:
      broadsheet show 12
      broadsheet show arXiv:2506.18020
      broadsheet show https://arxiv.org/pdf/2506.18020v2 --bibtex
    """
    if bibtex and as_json:
        raise click.UsageError("--bibtex and --json exclude each other.")
    with opened(read_only=True) as library:
        found = library.paper(paper_key(paper))
        entry = library.bibtex(found.id) if bibtex else ""
        records = library.records(found.id)
    if bibtex:
        click.echo(entry.rstrip("\n"))
    elif as_json:
        from broadsheet.web.api_models import PaperOut

        write_json({**PaperOut.of(found).model_dump(mode="json"), "records": [_record_shape(r) for r in records]})
    else:
        from broadsheet.cli.render import paper_lines
        from broadsheet.identifiers import url_of

        click.echo("\n".join(paper_lines(found, records, [url_of(i) for i in found.identifiers])))


@click.command(no_args_is_help=True)
@click.argument("paper", metavar="ID")
@click.option("--limit", type=Number(1, 200), default=10, show_default=True, help="How many papers.")
@click.option(
    "--sort",
    type=click.Choice(["relevance", FOR_YOU]),
    default="relevance",
    show_default=True,
    help="By nearness alone, or by the reader's memory, too.",
)
@reader_option
@json_option
@home_option
def similar(paper: str, limit: int, sort: str, as_json: bool) -> None:
    """Find the papers nearest in meaning to one paper.

    \b
    Examples:
      broadsheet similar 2506.18020 --limit 5
      broadsheet similar 2506.18020 --sort for-you
    """
    whose = chosen_reader() if sort == FOR_YOU else None
    with opened(read_only=True) as library:
        found = library.paper(paper_key(paper))
        hits = library.similar(found.id, limit=limit, reader=whose)
    if as_json:
        from broadsheet.web.api_models import SimilarOut

        write_json(SimilarOut.of(found.id, hits).model_dump(mode="json"))
        return
    from broadsheet.cli.render import hit_lines

    if not hits:
        raise NotFoundError("no similar papers are known yet: `broadsheet encode` makes the vectors they are found by")
    for number, hit in enumerate(hits, 1):
        click.echo("\n".join(hit_lines(hit, number)))


def _record_shape(stored: StoredRecord) -> dict[str, Any]:
    record = stored.record
    return {"id": stored.id, "source": record.source, "key": record.key, "seen": stored.seen.isoformat()}


COMMANDS = (search, show, similar)
