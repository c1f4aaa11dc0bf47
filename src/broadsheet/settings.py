"""Settings in one frozen object: defaults, then ``broadsheet.toml`` in the library's folder, then ``BROADSHEET_*``.

The only module that reads ``os.environ``. Names, defaults and meanings for the docs come from the dataclass itself.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
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
    sources: tuple[str, ...] = _setting(
        (), "What `broadsheet update` asks, such as `arxiv:cs.LG` and `huggingface`; see `broadsheet sources --help`."
    )
    update_at: str = _setting(
        "06:30", "Local time at which `broadsheet serve` updates, once a day; empty means never by itself."
    )
    enrich: tuple[str, ...] = _setting(
        (), "Services that are asked for what papers lack, in order: `crossref`, `openalex`, `semanticscholar`, `dblp`."
    )
    enrich_limit: int = _setting(
        500, "Papers for which one update asks each of these services at most.", low=1, high=100_000
    )
    contact: str = _setting("", "Your e-mail address, sent to sources that give faster answers to who names one.")
    openalex_key: str = _setting("", "Key for OpenAlex; shown to nobody.")
    semanticscholar_key: str = _setting("", "Key for Semantic Scholar; shown to nobody.")
    zotero_key: str = _setting("", "Key for the Zotero API; shown to nobody.")
    arxiv_holidays: tuple[str, ...] = _setting(
        (), "Further days (`2026-12-24`) on which arXiv announces nothing, beside the holidays that are known."
    )
    mirrors: tuple[str, ...] = _setting(
        (), "Other addresses for hosts, as `HOST=URL`: `export.arxiv.org=https://mirror.example.org/arxiv`."
    )
    allow_private_addresses: bool = _setting(
        False, "Whether sources may lie in private networks or on this machine, such as a feed of your own."
    )
    max_download_bytes: int = _setting(
        100_000_000, "Answers larger than this are given up.", low=100_000, high=10_000_000_000
    )
    max_upload_bytes: int = _setting(
        100_000_000,
        "What is sent to the site to fill a review may be this large at once.",
        low=100_000,
        high=10_000_000_000,
    )
    reader: str = _setting("me", "The reader whose paper the site and the commands show where no other is named.")
    front_size: int = _setting(10, "Papers on the front page of an edition.", low=5, high=50)
    sections: int = _setting(6, "Areas that have a section of their own in an edition.", low=0, high=30)
    section_size: int = _setting(8, "Papers in each section of an edition.", low=1, high=50)
    discovery_size: int = _setting(3, "Discoveries in an edition; 0 for none.", low=0, high=20)
    site_url: str = _setting(
        "", "Where readers reach this site, such as `https://papers.example.org`; for the links in what is sent."
    )
    mail_from: str = _setting("", "Sender of the daily mail: `Daily paper <paper@example.org>`.")
    smtp_host: str = _setting("", "Server that mail is given to; empty means that no mail is sent.")
    smtp_port: int = _setting(
        0,
        "Its port; 0 means by security: 465 for `auto` and `ssl`, 587 for `starttls`, 25 for `plain`.",
        low=0,
        high=65535,
    )
    smtp_security: str = _setting(
        "auto",
        "`ssl` (TLS from the start), `starttls`, `plain` (no encryption), or `auto`: `ssl` on port 465, elsewhere "
        "STARTTLS where the server offers it, and never a password without encryption.",
    )
    smtp_user: str = _setting("", "Name to log in with at that server; empty means without logging in.")
    smtp_password: str = _setting("", "Password for it, often one made for programs; shown to nobody.")
    smtp_ca_file: str = _setting(
        "", "File of certificates (PEM) that the mail server's is checked with; empty means those of the system."
    )

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


_WANTED = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "tuple[str, ...]": "a list of texts",
}


def _truth(value: Any) -> bool:
    """TOML's true and false, and the words for them in a variable."""
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}
    if not isinstance(value, str) or value.strip().lower() not in words:
        raise ValueError
    return words[value.strip().lower()]


def _texts(value: Any) -> tuple[str, ...]:
    """A list of texts; in a variable they stand with blanks between them."""
    if isinstance(value, str):
        return tuple(value.split())
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError
    return tuple(item.strip() for item in value)


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
        if kind == "bool":
            return _truth(value)
        if kind.startswith("tuple"):
            return _texts(value)
        if not isinstance(value, str):
            raise ValueError
        return value
    except (TypeError, ValueError):
        wanted = _WANTED[kind]
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


def edit_list(home: str | Path | None, name: str, change: Callable[[list[str]], list[str]]) -> tuple[Path, list[str]]:
    """Change a list in the library's settings file, whose other lines and comments stay; the file and the new list.

    Raises SettingsError where the file is not valid, or where a variable would overrule it.
    """
    import tomlkit

    settings = load_settings(home)
    file = settings.home / CONFIG_NAME
    variable = PREFIX + name.upper()
    if variable in os.environ:
        raise SettingsError(f"{variable} is set and would overrule {file}; change it there, or unset it")
    document = tomlkit.parse(file.read_text("utf-8")) if file.exists() else tomlkit.document()
    changed = change(list(getattr(settings, name)))
    listed = tomlkit.array()
    listed.extend(changed)
    document[name] = listed.multiline(len(changed) > 1)
    settings.home.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(tomlkit.dumps(document), "utf-8")
    part.replace(file)
    return file, changed


def proxies() -> dict[str, str]:
    """Proxies by scheme as the environment names them (``HTTP_PROXY``, ``HTTPS_PROXY``, ``NO_PROXY`` under ``no``)."""
    from urllib.request import getproxies

    return getproxies()


def describe() -> list[tuple[str, str, str]]:
    """(name, default, meaning) of every setting, for the docs."""

    def shown(default: Any) -> str:
        if isinstance(default, tuple):
            return str(list(default))
        if isinstance(default, bool):
            return str(default).lower()
        return repr(default) if isinstance(default, str) else str(default)

    return [
        (spec.name, "the platform's data folder" if spec.name == "home" else shown(spec.default), spec.metadata["help"])
        for spec in fields(Settings)
    ]
