"""What the pages and the API of systematic reviews need of ``library.screening``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Protocol

from ..model.screening import (
    Agreement,
    Conflict,
    Label,
    Offer,
    Plan,
    PoolRecord,
    PoolSource,
    PoolSummary,
    PossibleRepeat,
    PrismaCounts,
    Review,
    ReviewEvent,
    ReviewProgress,
    SourceKind,
    Stage,
    Standing,
)

Ref = str | int
"""A review, by its name or its number."""


class ScreenedLike(Protocol):
    """A record of a pool and what was decided of it, as one screener may see it.

    ``label`` is the final one of its group, ``own`` the screener's; ``twins`` are the others of its group. ``reasons``
    and ``note`` are of the decision that is shown.
    """

    @property
    def record(self) -> PoolRecord: ...  # noqa: D102
    @property
    def label(self) -> Label | None: ...  # noqa: D102
    @property
    def own(self) -> Label | None: ...  # noqa: D102
    @property
    def conflict(self) -> bool: ...  # noqa: D102
    @property
    def prior(self) -> bool: ...  # noqa: D102
    @property
    def twins(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def reasons(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def note(self) -> str: ...  # noqa: D102


class ScreeningLike(Protocol):
    """Systematic reviews. ``name`` is a review's, or its number; methods raise NotFoundError where there is none of it.

    What changes something raises InputError for what cannot be, such as a screener who is not of the review.
    """

    def reviews(self) -> Sequence[Review]:
        """All reviews."""
        ...

    def standings(self) -> Sequence[Standing]:
        """All reviews and where each stands, without its ranking and its stopping rule."""
        ...

    def review(self, name: Ref) -> Review:
        """A review."""
        ...

    def create(self, name: str, plan: Plan = ..., *, screener: str = "") -> Review:
        """Begin a review; raises InputError for a name that is taken and a plan that cannot be."""
        ...

    def change(self, name: Ref, *, screener: str = "", **changes: Any) -> Review:
        """Change fields of the plan, and of its stopping plan."""
        ...

    def remove(self, name: Ref) -> None:
        """Remove a review with all decisions."""
        ...

    def add_stream(
        self,
        name: Ref,
        file: BinaryIO,
        source: str,
        *,
        screener: str = "",
        called: str = "",
        kind: SourceKind | None = None,
    ) -> PoolSummary:
        """Fill the pool from a file that was sent under the name ``source``, and is called something in reports."""
        ...

    def sources(self, name: Ref) -> Sequence[PoolSource]:
        """What was added, with the names that reports print."""
        ...

    def name_source(
        self,
        name: Ref,
        source: int | str | Sequence[int],
        called: str = "",
        kind: SourceKind | str | None = None,
        *,
        screener: str = "",
    ) -> ReviewEvent:
        """Give a source a name or a kind for reports."""
        ...

    def add_search(
        self,
        name: Ref,
        query: str,
        *,
        facets: Mapping[str, Sequence[str]] | None = None,
        limit: int = 1000,
        screener: str = "",
    ) -> PoolSummary:
        """Fill the pool with what a search of the library finds, best first."""
        ...

    def add_saved_search(
        self, name: Ref, search_id: int, *, reader: str = "", limit: int = 1000, screener: str = ""
    ) -> PoolSummary:
        """Fill the pool with what a reader's saved search finds."""
        ...

    def add_papers(self, name: Ref, papers: Iterable[int | str], *, screener: str = "") -> PoolSummary:
        """Fill the pool with papers of the library by number or identifier."""
        ...

    def records(
        self,
        name: Ref,
        *,
        label: str = "",
        query: str = "",
        stage: Stage = ...,
        screener: str | None = None,
        limit: int = 50,
        after: int = 0,
    ) -> Sequence[ScreenedLike]:
        """Records of the pool after a number, as a screener may see them."""
        ...

    def record(self, name: Ref, number: int, *, stage: Stage = ..., screener: str | None = None) -> ScreenedLike:
        """A record; raises NotFoundError."""
        ...

    def history(self, name: Ref, number: int | None = None, *, screener: str | None = None) -> Sequence[ReviewEvent]:
        """What happened, oldest first: to the review, or to a record and its twins."""
        ...

    def prior(
        self, name: Ref, numbers: Iterable[int], label: Label, screener: str = "", *, stage: Stage = ...
    ) -> Sequence[ReviewEvent]:
        """Say what is known of records before they are screened."""
        ...

    def next(
        self, name: Ref, screener: str = "", *, stage: Stage = ..., mode: str = "auto", begin: bool = True
    ) -> Offer | None:
        """The record to screen next; None where nothing is left. With ``begin`` False no audit is begun for it."""
        ...

    def audit_due(self, name: Ref, screener: str = "", *, stage: Stage = ..., mode: str = "auto") -> bool:
        """Whether ``next`` would begin an audit."""
        ...

    def look(self, name: Ref, number: int, screener: str = "", *, stage: Stage = ...) -> Offer:
        """A record that is picked by hand, with the same highlights."""
        ...

    def decide(
        self,
        name: Ref,
        number: int,
        label: Label,
        screener: str = "",
        *,
        stage: Stage = ...,
        reasons: Sequence[str] = (),
        note: str = "",
        offer: Offer | str | None = None,
    ) -> ReviewEvent:
        """Decide a record; kept when this returns."""
        ...

    def undo(self, name: Ref, screener: str = "", *, event: int | None = None) -> ReviewEvent | None:
        """Take back a decision, or the screener's last; None where there is none."""
        ...

    def twin(self, name: Ref, number: int, other: int, screener: str = "") -> ReviewEvent:
        """Say that a record repeats another."""
        ...

    def possible_repeats(self, name: Ref, *, limit: int = 50, offset: int = 0) -> Sequence[PossibleRepeat]:
        """Pairs of records that may be the same work, surest first, of which nobody has said anything."""
        ...

    def different(self, name: Ref, record: int, other: int, screener: str = "") -> ReviewEvent:
        """Say that two records are different works."""
        ...

    def named(self, name: Ref, key: str, *, limit: int = 20) -> Sequence[PoolRecord]:
        """Records by number, identifier or address, or by words of the title."""
        ...

    def apart(self, name: Ref, number: int, screener: str = "") -> ReviewEvent:
        """Say that a record repeats no other."""
        ...

    def progress(
        self, name: Ref, screener: str | None = None, *, stage: Stage = ..., curve: bool = True
    ) -> ReviewProgress:
        """Where screening stands: of the review, or of one screener; its curve takes the longest."""
        ...

    def superseded(self, name: Ref, screener: str | None = None, *, stage: Stage = ...) -> str:
        """Why the statement that was kept on stopping holds no longer; else empty."""
        ...

    def conflicts(self, name: Ref, *, stage: Stage = ...) -> Sequence[Conflict]:
        """Records that screeners decided differently."""
        ...

    def resolve(
        self,
        name: Ref,
        number: int,
        label: Label,
        screener: str = "",
        *,
        stage: Stage = ...,
        reasons: Sequence[str] = (),
        note: str = "",
    ) -> ReviewEvent:
        """Decide a conflict."""
        ...

    def agreement(self, name: Ref, *, stage: Stage = ...) -> Sequence[Agreement]:
        """How far each two screeners agree."""
        ...

    def prisma(self, name: Ref) -> PrismaCounts:
        """The numbers of the PRISMA flow diagram."""
        ...

    def prisma_svg(self, name: Ref) -> str:
        """The diagram as SVG."""
        ...

    def prisma_png(self, name: Ref) -> bytes:
        """The diagram as PNG."""
        ...

    def stop(self, name: Ref, screener: str = "", *, stage: Stage = ...) -> ReviewEvent:
        """End screening, and keep what can be said then."""
        ...

    def reopen(self, name: Ref, screener: str = "", *, stage: Stage = ...) -> ReviewEvent:
        """Take screening up again."""
        ...

    def export(self, name: Ref, form: str, *, only: Label | None = None) -> Iterator[bytes]:
        """The review as a file, a form of ``screening_files.FILE_FORMS``; ``only`` the records of this label."""
        ...

    def import_(self, file: BinaryIO, name: str = "", *, screener: str = "") -> Review:
        """Take in a review that was exported as ``record``."""
        ...
