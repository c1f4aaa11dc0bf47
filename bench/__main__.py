"""``python -m bench [NAME…]``: run the named measurements, or all but ``tune``."""

from __future__ import annotations

import importlib
import sys

ALL = (
    "importing",
    "encoding",
    "latency",
    "quality",
    "oracle",
    "merging",
    "updating",
    "exporting",
    "feed",
    "feed_days",
    "feed_elsewhere",
    "exploring",
    "personal",
    "similar",
    "memory",
    "daily",
    "screening_desk",
    "screening_ranking",
    "screening_queriers",
)

if __name__ == "__main__":
    for name in sys.argv[1:] or ALL:
        print(f"== {name}", flush=True)
        importlib.import_module(f"bench.{name}").main()
