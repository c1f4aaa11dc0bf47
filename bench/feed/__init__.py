"""The daily paper replayed on real days with real picks: ``python -m bench feed``."""

from __future__ import annotations


def main() -> None:
    """Replay every reader with every model and write ``bench/results/feed.json``."""
    from bench.feed.report import run

    run()
