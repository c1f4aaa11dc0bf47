"""Pure score functions."""

from broadsheet.rank.fusion import Fused, fuse

__all__ = ["Fused", "fuse"]
