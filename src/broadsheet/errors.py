"""What can go wrong, one class for each failure that a caller can act on.

Every message says what happened, where (file, line or field), and what to do about it.
"""

from __future__ import annotations


class BroadsheetError(Exception):
    """Base of all errors raised on purpose."""


class SettingsError(BroadsheetError):
    """A setting has a value that cannot be used; names the setting and where it was set."""


class InputError(BroadsheetError):
    """A whole input (file, page, upload) cannot be read; single bad entries are refusals, not errors."""


class NotFoundError(BroadsheetError):
    """No such paper, record or library."""


class StoreError(BroadsheetError):
    """The database cannot be read or written (disk full, corrupted, not a database)."""


class BusyError(StoreError):
    """Another process is writing; the message says which, where that is known."""


class ReadOnlyError(StoreError):
    """Something would change a library that is open for reading only."""


class IndexDamagedError(BroadsheetError):
    """The index cannot be opened; ``broadsheet doctor --rebuild-index`` makes it again from the database."""


class EncoderUnavailableError(BroadsheetError):
    """The encoder's weights are not at hand; search goes on by words alone."""


class MissingExtraError(BroadsheetError):
    """An optional part is not installed; the message names the extra."""


class FetchError(BroadsheetError):
    """Something could not be had from the network; the message says what and why.

    ``status`` is the HTTP status where there was an answer, ``retry_after`` the seconds that the server asks to wait.
    """

    def __init__(self, message: str, *, url: str, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.url = url
        self.status = status
        self.retry_after = retry_after


class ThrottledError(FetchError):
    """The server goes on asking for fewer requests, after waiting and trying again."""


class ForbiddenAddressError(FetchError):
    """The address leads into a private network, where nothing that others wrote may lead."""


class DeliveryError(BroadsheetError):
    """An edition could not be handed over; the message names the step that failed, and what to do.

    ``step`` is that step (``connect``, ``TLS``, ``login``, ``sender``, ``recipient``, ``message``, ``post``), and
    ``passing`` whether it may go better later without anyone doing anything.
    """

    def __init__(self, message: str, *, step: str, passing: bool = False) -> None:
        super().__init__(message)
        self.step = step
        self.passing = passing


class StoppedError(BroadsheetError):
    """The work was ended from outside, between two steps; what was done is kept."""
