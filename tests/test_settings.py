"""Settings: precedence, checks, and what each error names."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from broadsheet.errors import SettingsError
from broadsheet.settings import CONFIG_NAME, Settings, describe, load_settings, setting_names


def test_defaults_lie_in_one_folder(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, environ={})
    assert settings.home == tmp_path
    assert settings.database_url == f"sqlite:///{tmp_path / 'broadsheet.db'}"
    assert settings.index_dir.parent == settings.models_dir.parent == tmp_path


def test_argument_beats_variable_beats_platform(tmp_path: Path) -> None:
    environ = {"BROADSHEET_HOME": str(tmp_path / "variable")}
    assert load_settings(tmp_path / "argument", environ).home == tmp_path / "argument"
    assert load_settings(None, environ).home == tmp_path / "variable"
    assert load_settings(None, {}).home.name == "broadsheet"


def test_variable_beats_file_beats_default(tmp_path: Path) -> None:
    (tmp_path / CONFIG_NAME).write_text('page_size = 7\nport = 99\nencoder = "none"\n')
    settings = load_settings(tmp_path, {"BROADSHEET_PORT": "100"})
    assert (settings.page_size, settings.port, settings.encoder, settings.host) == (7, 100, "none", "127.0.0.1")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("port = 'x'", "port must be a whole number"),
        ("port = 70000", "port must be between 0 and 65535"),
        ("port = 1.5", "port must be a whole number"),
        ("port = true", "port must be a whole number"),
        ("weight_dense = true", "weight_dense must be a number"),
        ("weight_dense = nan", "weight_dense must be between"),
        ("weight_dense = 1.01", "weight_dense must be between"),
        ("encoder = 5", "encoder must be text"),
        ("colour = 'red'", "unknown setting 'colour'; the settings are database"),
        ("port = ", "not valid TOML"),
    ],
)
def test_bad_file_names_file_and_setting(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / CONFIG_NAME).write_text(line)
    with pytest.raises(SettingsError, match=CONFIG_NAME) as error:
        load_settings(tmp_path, {})
    assert message in str(error.value)


def test_bad_variable_names_itself(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="BROADSHEET_PORT"):
        load_settings(tmp_path, {"BROADSHEET_PORT": "many"})


def test_every_default_is_within_its_own_bounds(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, {})
    for spec in fields(Settings):
        low, high = spec.metadata.get("low"), spec.metadata.get("high")
        if low is not None:
            assert low <= getattr(settings, spec.name) <= high


def test_two_libraries_never_meet(tmp_path: Path) -> None:
    a, b = load_settings(tmp_path / "a", {}), load_settings(tmp_path / "b", {})
    for name in ("database_url", "index_dir", "models_dir"):
        assert getattr(a, name) != getattr(b, name)


def test_description_covers_every_setting() -> None:
    assert [name for name, _, _ in describe()] == ["home", *setting_names()]
    assert all(meaning.endswith(".") for _, _, meaning in describe())
