"""Settings in one frozen object: defaults, then ``broadsheet.toml`` in the library's folder, then ``BROADSHEET_*``.

The only module that reads ``os.environ``. Names, defaults and meanings for the docs come from the dataclass itself.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from broadsheet.errors import SettingsError

CONFIG_NAME = "broadsheet.toml"
PREFIX = "BROADSHEET_"


def _setting(default: Any, help_: str, *, low: float | None = None, high: float | None = None) -> Any:
    return field(default=default, metadata={"help": help_, "low": low, "high": high})


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one library: keys of ``broadsheet.toml`` and, in capitals, ``BROADSHEET_`` variables."""

    home: Path = field(metadata={"help": "The folder that holds everything of this library."})
    database: str = _setting("", "SQLAlchemy URL of the database; empty means SQLite in the library's folder.")
    models: str = _setting("", "Folder of converted encoder models; empty means `models` in the library's folder.")
    encoder: str = _setting(
        "e5-small", "`e5-small`, `minilm`, `sentence-transformers:NAME`, `openai:URL#MODEL`, or `none`."
    )
    encoder_key: str = _setting("", "Key that is sent to the server of an `openai:` encoder; shown to nobody.")
    encode_workers: int = _setting(2, "Processes that make vectors in the background.", low=1, high=64)
    weight_dense: float = _setting(0.4, "Share of the vector score in the hybrid score of a question.", low=0, high=1)
    weight_dense_cjk: float = _setting(0.7, "The same for a question in Chinese, Japanese or Korean.", low=0, high=1)
    boost_title: float = _setting(
        0.0, "Weight of a word in the title beside its weight of 1 in title and abstract together.", low=0, high=100
    )
    boost_authors: float = _setting(0.3, "Weight of a word in the author list.", low=0, high=100)
    page_size: int = _setting(20, "Results on a page.", low=1, high=200)
    host: str = _setting("127.0.0.1", "Address that `broadsheet serve` listens on.")
    port: int = _setting(8765, "Port that `broadsheet serve` listens on.", low=0, high=65535)
    max_entry_bytes: int = _setting(
        4_000_000, "Entries of an import larger than this are refused.", low=1_000, high=1_000_000_000
    )
    max_authors: int = _setting(10_000, "Entries with more authors than this are refused.", low=1, high=1_000_000)

    @property
    def database_url(self) -> str:
        """The database's URL with the default filled in."""
        return self.database or f"sqlite:///{self.home / 'broadsheet.db'}"

    @property
    def index_dir(self) -> Path:
        """Folder of the text and vector index; a cache that can be rebuilt."""
        return self.home / "index"

    @property
    def models_dir(self) -> Path:
        """Folder of converted encoder models; a cache that can be made again."""
        return Path(self.models).expanduser() if self.models else self.home / "models"


def default_home() -> Path:
    """The platform's data folder for broadsheet."""
    from platformdirs import user_data_path

    return user_data_path("broadsheet", appauthor=False)


def _convert(name: str, value: Any, kind: str, where: str) -> Any:
    try:
        if kind == "int":
            if isinstance(value, (bool, float)):
                raise ValueError
            return int(value)
        if kind == "float":
            if isinstance(value, bool):
                raise ValueError
            return float(value)
        if not isinstance(value, str):
            raise ValueError
        return value
    except (TypeError, ValueError):
        wanted = {"int": "a whole number", "float": "a number", "str": "text"}[kind]
        raise SettingsError(f"{where}: {name} must be {wanted}, not {value!r}") from None


def _checked(name: str, value: Any, where: str) -> Any:
    spec = next(f for f in fields(Settings) if f.name == name)
    converted = _convert(name, value, str(spec.type), where)
    low, high = spec.metadata.get("low"), spec.metadata.get("high")
    # Written so that not-a-number fails too.
    if low is not None and not low <= converted <= high:
        raise SettingsError(f"{where}: {name} must be between {low} and {high}, not {converted}")
    return converted


def _from_file(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not valid TOML ({error}); correct the file or remove it") from error
    known = setting_names()
    for name in table:
        if name not in known:
            raise SettingsError(f"{path}: unknown setting {name!r}; the settings are {', '.join(known)}")
    return {name: _checked(name, value, str(path)) for name, value in table.items()}


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    found = {name: environ[PREFIX + name.upper()] for name in setting_names() if PREFIX + name.upper() in environ}
    return {name: _checked(name, value, PREFIX + name.upper()) for name, value in found.items()}


def setting_names() -> list[str]:
    """Names of all settings that a file or a variable can hold (all but ``home``)."""
    return [f.name for f in fields(Settings) if f.name != "home"]


def load_settings(home: str | Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings of the library in ``home`` (else ``BROADSHEET_HOME``, else the platform's data folder).

    Raises SettingsError for an unknown name or a value of the wrong kind or range.
    """
    environ = os.environ if environ is None else environ
    chosen = home or environ.get(PREFIX + "HOME") or default_home()
    folder = Path(chosen).expanduser().absolute()
    return Settings(home=folder, **{**_from_file(folder / CONFIG_NAME), **_from_environment(environ)})


def describe() -> list[tuple[str, str, str]]:
    """(name, default, meaning) of every setting, for the docs."""

    def shown(default: Any) -> str:
        return repr(default) if isinstance(default, str) else str(default)

    return [
        (spec.name, "the platform's data folder" if spec.name == "home" else shown(spec.default), spec.metadata["help"])
        for spec in fields(Settings)
    ]
