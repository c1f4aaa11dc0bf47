"""The shape of the package: who may import whom, and what belongs in one place only."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shared import ROOT

SOURCE = ROOT / "src"
PACKAGE = SOURCE / "broadsheet"

# A module imports from lower levels only; siblings never import each other. Within a room anything goes.
LEVELS = {
    0: {"errors", "model", "data"},
    1: {"settings", "text", "identifiers", "venues", "signing", "mail_address"},
    2: {"query", "glossary", "metrics", "stats", "net"},
    3: {"sources", "store", "index", "encode", "rank", "learn"},
    4: {"ingest", "search", "feed", "screen"},
    5: {"library"},
    6: {"web", "api", "mcp", "mail"},
    7: {"cli"},
    8: {"__main__"},
}
LEVEL_OF = {room: level for level, rooms in LEVELS.items() for room in rooms}

MAX_LINES = 500

# None of these may be loaded by `import broadsheet` or `broadsheet --help`.
HEAVY = ("sklearn", "onnxruntime", "onnx", "faiss", "torch", "sqlalchemy", "tantivy", "numpy", "fastapi", "tokenizers")
HEAVY += ("httpx", "lxml", "feedparser", "bibtexparser", "rispy", "openpyxl")

SQL_MODULES = {"sqlalchemy", "sqlite3", "alembic", "psycopg"}
SQL_TEXT = re.compile(
    r"\s*(SELECT\s.+\sFROM\s|INSERT\s+INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|(CREATE|DROP)\s+(TABLE|INDEX)\s|PRAGMA\s)",
    re.DOTALL,
)


# Readers of files that are databases of other programs: nothing of ours is in them.
FOREIGN_DATABASES = {"broadsheet.sources.zotero_sqlite"}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def dotted(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(name: str) -> str:
    """The room of ``broadsheet.room.module``; empty for ``broadsheet`` itself."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else ""


def imported(tree: ast.Module, name: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """(line, absolute dotted name) of everything that a module imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = name.split(".") if is_package else name.split(".")[:-1]
                kept = package[: len(package) - (node.level - 1)]
                base = ".".join([*kept, base] if base else kept)
            # `from broadsheet import errors` names a room in its second half.
            whole = base == "broadsheet"
            yield from ((node.lineno, f"{base}.{alias.name}" if whole else base) for alias in node.names)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def breaches(path: Path, source: str | None = None) -> list[str]:
    """What a module imports against the table."""
    name = dotted(path)
    tree = parsed(path) if source is None else ast.parse(source)
    own = room_of(name)
    found = []
    for line, target in imported(tree, name, path.name == "__init__.py"):
        room = room_of(target)
        ours = target.startswith("broadsheet.") and not room.startswith("__")
        if ours and room != own and (not own or LEVEL_OF.get(room, 99) >= LEVEL_OF[own]):
            found.append(f"{name}:{line} imports {target}")
    return found


def test_every_room_has_a_level() -> None:
    rooms = {room_of(dotted(path)) for path in modules()} - {""}
    assert rooms <= set(LEVEL_OF), f"give these a level in the table: {sorted(rooms - set(LEVEL_OF))}"


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_imports_go_down_only(path: Path) -> None:
    assert breaches(path) == []


@pytest.mark.parametrize(
    ("module", "source", "allowed"),
    [
        ("store/a.py", "from broadsheet.model import Paper", True),
        ("store/a.py", "from broadsheet.store.b import x", True),
        ("store/a.py", "from .b import x", True),
        ("store/a.py", "from ..model import Paper", True),
        ("store/a.py", "from broadsheet.index import x", False),
        ("store/a.py", "from ..index import x", False),
        ("store/a.py", "from .. import index", False),
        ("store/a.py", "from broadsheet import index", False),
        ("store/a.py", "from broadsheet import __version__", True),
        ("store/a.py", "import broadsheet.library", False),
        ("store/a.py", "def f():\n    from broadsheet.web import x", False),
        ("store/__init__.py", "from ..library import x", False),
        ("store/deep/__init__.py", "from ...library import x", False),
        ("store/deep/__init__.py", "from ..types import x", True),
        ("settings.py", "from broadsheet.text import x", False),
        ("__init__.py", "from broadsheet.library import x", False),
        ("cli/a.py", "from broadsheet.web import x", True),
    ],
)
def test_the_rule_itself(module: str, source: str, allowed: bool) -> None:
    assert (breaches(PACKAGE / module, source) == []) is allowed


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= MAX_LINES


def reads_environment(tree: ast.Module) -> list[int]:
    """Lines with ``os.environ``, ``os.getenv`` or ``from os import environ``."""
    names = {"environ", "environb", "getenv", "getenvb"}

    def reads(node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr in names and ast.unparse(node.value) == "os"
        return isinstance(node, ast.ImportFrom) and node.module == "os" and bool(names & {a.name for a in node.names})

    return [node.lineno for node in ast.walk(tree) if isinstance(node, (ast.Attribute, ast.ImportFrom)) and reads(node)]


def test_only_settings_reads_the_environment() -> None:
    readers = {dotted(path): reads_environment(parsed(path)) for path in modules()}
    assert readers.pop("broadsheet.settings")
    assert {name: lines for name, lines in readers.items() if lines} == {}


def test_sql_is_in_the_store_only() -> None:
    found = []
    for path in modules():
        name, tree = dotted(path), parsed(path)
        if room_of(name) == "store" or name in FOREIGN_DATABASES:
            continue
        for line, target in imported(tree, name, path.name == "__init__.py"):
            if target.split(".")[0] in SQL_MODULES:
                found.append(f"{name}:{line} imports {target}")
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL_TEXT.match(node.value):
                found.append(f"{name}:{node.lineno} holds SQL")
    assert found == []


@pytest.mark.parametrize(
    ("text", "is_sql"),
    [
        ("SELECT id FROM papers", True),
        ("\n  INSERT INTO papers VALUES (1)", True),
        ("PRAGMA integrity_check", True),
        ("Select a venue to narrow the results", False),
        ("delete from the list", False),
    ],
)
def test_what_counts_as_sql(text: str, is_sql: bool) -> None:
    assert bool(SQL_TEXT.match(text)) is is_sql


@pytest.mark.parametrize(
    "statement",
    [
        "import broadsheet",
        "from broadsheet.cli import run; assert run(['--help']) == 0",
        "from broadsheet.cli import run; assert run(['search', '--help']) == 0",
    ],
)
def test_what_a_light_start_must_not_load(statement: str) -> None:
    probe = f"import sys; {statement}; sys.stderr.write(','.join(m for m in {HEAVY!r} if m in sys.modules))"
    path = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); "
    done = subprocess.run([sys.executable, "-c", path + probe], capture_output=True, text=True, check=True)
    assert done.stderr == ""
