"""What all parts of a screening model share: parameters that can be written down and read again."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from broadsheet.errors import InputError

Value = bool | int | float | str


class Part:
    """A part of a screening model in scikit-learn's conventions: ``__init__`` stores its parameters and nothing else.

    What is learned ends in ``_`` and is never in the record: it follows from records, labels and parameters.
    """

    name: ClassVar[str]

    def parameters(self) -> dict[str, Value]:
        """The parameters by name, in the order of ``__init__``."""
        return {name: getattr(self, name) for name in _defaults(type(self))}

    def to_record(self) -> dict[str, Value]:
        """Plain values for JSON: ``part`` (its name) and the parameters."""
        return {"part": self.name, **self.parameters()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """The part that a record describes; what it leaves out has its default.

        Raises InputError for another part's record, a field that is unknown or one of the wrong kind, naming it.
        """
        if record.get("part") != cls.name:
            raise InputError(f"part of a screening model: {record.get('part')!r}, expected {cls.name!r}")
        given = {name: value for name, value in record.items() if name != "part"}
        defaults = _defaults(cls)
        if unknown := sorted(given.keys() - defaults.keys()):
            known = ", ".join(defaults) or "none"
            raise InputError(f"{cls.name}: unknown parameter {unknown[0]!r}; it has {known}")
        return cls(**{name: _fitting(cls.name, name, value, defaults[name]) for name, value in given.items()})


def _defaults(cls: type) -> dict[str, Value]:
    return {p.name: p.default for p in inspect.signature(cls).parameters.values()}


def _fitting(part: str, name: str, value: Any, default: Value) -> Value:
    """The value, if it is of the default's kind (a whole number will do for a fraction)."""
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not type(default) or (isinstance(value, float) and not math.isfinite(value)):
        raise InputError(f"{name} of {part}: {value!r:.40} is not a {type(default).__name__}")
    return value


def one_of(record: Any, parts: Mapping[str, type[Part]], role: str) -> Part:
    """The part that a record describes, among those that can have this role; raises InputError for any other."""
    name = record.get("part") if isinstance(record, Mapping) else None
    if not isinstance(name, str) or name not in parts:
        raise InputError(f"{role} of the screening model: {name!r} is none of {', '.join(sorted(parts))}")
    return parts[name].from_record(record)
