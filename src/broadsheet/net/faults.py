"""What goes wrong below the client, before it is known for which address and after how many tries."""

from __future__ import annotations


class PassingError(Exception):
    """May go better the next time: a lost connection, an answer that broke off."""


class FinalError(Exception):
    """Will be the same the next time: an answer that is too large or too slow, a broken certificate."""


class PrivateAddressError(FinalError):
    """The host is in a private network, or its address is no address of the web at all."""


class HeldError(Exception):
    """The host asked to be left alone for so many seconds, too long to wait for."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"held for {seconds:.0f} s")
        self.seconds = seconds
