"""Text to vectors: a registry of encoders, and worker processes that run one."""

from broadsheet.encode.base import Encoder, Floats
from broadsheet.encode.pool import EncoderPool
from broadsheet.encode.registry import encoder_id, open_encoder

__all__ = ["Encoder", "EncoderPool", "Floats", "encoder_id", "open_encoder"]
