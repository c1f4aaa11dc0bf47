"""The command that tries a way of screening on records whose labels are known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from broadsheet.cli.common import Number, home_option, json_option, opened, patience, write_json
from broadsheet.cli.screen_common import MODEL_OPTIONS, RULE_OPTIONS, shape, together

if TYPE_CHECKING:
    from broadsheet.model.screening import Plan, StoppingPlan
    from broadsheet.screen.simulate import Run, Simulation

_ENDS = ("min", "rule", "end")
_MEASURES = (("wss95", "WSS@95"), ("rrf10", "RRF@10"), ("atd", "ATD"))


def _until(context: click.Context, parameter: click.Parameter, value: str | None) -> str | int | None:
    if value is None or value in ("min", "rule"):
        return value
    if value in ("end", "-1"):
        return -1
    if value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    raise click.BadParameter(f"{value!r} is none of {', '.join(_ENDS)}, nor a number of records")


@click.command(no_args_is_help=True, short_help="Try a way of screening on labelled records.")
@click.argument("pool", metavar="FILE|REVIEW")
@click.option("--seeds", type=Number(1, 10_000), default=10, show_default=True, help="Runs, with seeds 0, 1, 2...")
@click.option("--prior-included", type=Number(0), default=1, show_default=True, help="Relevant records known before.")
@click.option("--prior-excluded", type=Number(0), default=1, show_default=True, help="Irrelevant records known before.")
@click.option(
    "--until",
    callback=_until,
    help="Where a run ends: min (the last relevant record), rule (the rule says stop), end, or after so many records; "
    "else end where --rule or --compare is given, min where none is.",
)
@together(*RULE_OPTIONS)
@click.option("--compare", multiple=True, help="A further rule that is only watched. May be given more than once.")
@together(*MODEL_OPTIONS)
@click.option(
    "--every",
    type=Number(0),
    default=0,
    help="Learn again after so many records, 1 as while screening; without, after one in a hundred of those read.",
)
@click.option("--vectors", is_flag=True, help="Rank by vectors as well; those that lack are made.")
@click.option("--repeats", is_flag=True, help="Count records of a file that repeat others as records of their own.")
@click.option("--orders", type=click.Path(dir_okay=False, path_type=Path), help="Save the orders here (JSON Lines).")
@json_option
@home_option
def simulate(pool: str, orders: Path | None, as_json: bool, **given: Any) -> int:
    """Try a way of screening on a FILE with labels, or on what was read of a REVIEW: what is read when, and when each
    rule would stop.

    WSS@95 is the work saved at a recall of 95 % over reading at random, RRF@10 the share found in the first tenth, ATD
    the mean share of records read before a relevant one. The records known before are left out of all three.

    What came of each run is said on the error output as soon as it is done. Ctrl-C ends with the table of those runs.

    \b
    Examples:
      broadsheet simulate labelled.csv
      broadsheet simulate labelled.ris --seeds 50 --rule distribution-free --until rule
      broadsheet simulate anxiety --compare irrelevant-in-a-row --orders orders.jsonl
    """
    runs = given["seeds"]
    found = _simulated(pool, given)
    ended = len(found.runs) < runs
    if ended:
        click.echo(f"Interrupted: {len(found.runs):,} of {runs:,} runs are done.", err=True)
    if orders:
        from broadsheet.cli.manage import write_whole

        size = write_whole(orders, (json.dumps(_order(run)).encode() + b"\n" for run in found.runs))
        click.echo(f"{size:,} bytes written to {orders}", err=True)
    if as_json:
        write_json(_shape(found))
    else:
        click.echo("\n".join(_lines(found)))
    return 130 if ended else 0  # 128 + SIGINT, as shells report it


def _simulated(pool: str, given: dict[str, Any]) -> Simulation:
    """All runs, or those that were done when the user had enough."""
    from dataclasses import replace

    from broadsheet.cli.progress import Progress
    from broadsheet.screen.rules import check_plan

    runs, path = given.pop("seeds"), Path(pool)
    compared, vectors, repeats = given.pop("compare"), given.pop("vectors"), given.pop("repeats")
    options = {name: given.pop(name) for name in ("prior_included", "prior_excluded", "until", "every")}
    if options["until"] is None:  # no rule with a guarantee can say stop before the last relevant record is found
        options["until"] = -1 if compared or given["rule"] else "min"
    with opened() as library, Progress("simulation", "records") as progress, patience("Reading the records..."):
        of_file = path.exists()
        plan = _changed(None if of_file else library.screening.review(pool).plan, given)
        rules = [replace(plan.stopping, rule=rule) for rule in compared]
        for rule in (plan.stopping, *rules):
            check_plan(replace(plan, stopping=rule))
        done: list[Simulation] = []

        def on_run(so_far: Simulation) -> None:
            done[:] = [so_far]
            progress.say(_run_line(so_far.runs[-1]))

        try:
            return library.screening.simulate(
                path if of_file else pool,
                plan,
                range(runs),
                vectors=vectors,
                repeats=repeats,
                compare=rules,
                on_progress=lambda seed, read, records: progress.update(seed * records + read, runs * records),
                on_run=on_run,
                **options,
            )
        except KeyboardInterrupt:
            if not done:
                raise
            return done[0]


def _run_line(run: Run) -> str:
    """What came of a run, while others are to come."""
    stops = (
        f"{stop.rule} stops after {stop.read:,} with a recall of {_figure(stop.recall)}"
        for stop in run.stops
        if stop.read is not None
    )
    return "; ".join((f"seed {run.seed}: {len(run.order):,} read, WSS@95 {_figure(run.wss95)}", *stops))


def _changed(plan: Plan | None, given: dict[str, Any]) -> Plan:
    from dataclasses import replace

    from broadsheet.model.screening import Plan

    plan = plan or Plan()
    chosen = {name: value for name, value in given.items() if value is not None}
    of_plan = {name: chosen.pop(name) for name in ("description", "model", "querier") if name in chosen}
    stopping: StoppingPlan = replace(plan.stopping, **chosen)
    return replace(plan, stopping=stopping, **of_plan)


def _order(run: Run) -> dict[str, Any]:
    return {name: shape(getattr(run, name)) for name in ("seed", "priors", "order", "chosen", "labels")}


def _shape(found: Simulation) -> dict[str, Any]:
    """The simulation without its orders."""
    long = {"order", "chosen", "labels"}
    runs = [{name: value for name, value in shape(run).items() if name not in long} for run in found.runs]
    return {"records": found.records, "relevant": found.relevant, "means": found.means, "runs": runs}


def _lines(found: Simulation) -> Iterator[str]:
    from broadsheet.cli.render import columns

    yield f"{found.records:,} records, {found.relevant:,} relevant; {len(found.runs):,} runs."
    yield ""
    rows = [
        (str(run.seed), f"{len(run.order):,}", *(_figure(getattr(run, name)) for name, _ in _MEASURES))
        for run in found.runs
    ]
    rows.append(("mean", "", *(_figure(found.means.get(name)) for name, _ in _MEASURES)))
    yield from columns(("seed", "read", *(title for _, title in _MEASURES)), rows, right=range(1, 5))
    yield ""
    stops = [_stop_row(found, at) for at in range(len(found.runs[0].stops))]
    yield from columns(("rule", "stopped", "reached", "least recall", "mean recall", "saved"), stops, right=range(1, 6))
    yield from dict.fromkeys(note for run in found.runs for note in run.notes)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _stop_row(found: Simulation, at: int) -> tuple[str, ...]:
    """A rule: in how many runs it stopped, in how many of these the target was reached, and what that saved."""
    stops = [run.stops[at] for run in found.runs]
    ended = [stop for stop in stops if stop.read is not None]
    recalls = [stop.recall for stop in ended if stop.recall is not None]
    saved = [stop.saved for stop in ended if stop.saved is not None]
    return (
        stops[0].rule,
        f"{len(ended):,} of {len(stops):,}",
        f"{sum(1 for stop in ended if stop.reached):,}",
        _figure(min(recalls, default=None)),
        _figure(sum(recalls) / len(recalls) if recalls else None),
        _figure(sum(saved) / len(saved) if saved else None),
    )


COMMANDS = (simulate,)
