"""The store on a PostgreSQL server: the tests that such a server can make come out otherwise, and its own locks.

A server is started for the tests where its programs and the driver are installed.
"""

from __future__ import annotations

import inspect as signatures
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib import import_module
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from sqlalchemy import create_engine, inspect, make_url
from sqlalchemy.event import listen

from broadsheet.errors import BusyError, StoreError
from broadsheet.ingest import merge_papers, split_record
from broadsheet.model.screening import Plan
from broadsheet.store import Counts, Store, open_store, schema
from broadsheet.store.database import transaction
from broadsheet.store.lock import _SERVER_KEY
from broadsheet.store.migrate import run_migrations
from tests.libraries import until
from tests.makers import NOW, put, record, write
from tests.postgres import Server, programs, serving
from tests.test_store_reading_crash import ENVIRONMENT

pytest.importorskip("psycopg", reason="the PostgreSQL driver is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(programs() is None, reason="no PostgreSQL server to start; on Debian: apt install postgresql"),
]

_numbers = count(1)
DICTIONARY = "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'"
EMPTYING = "; ".join(f"DELETE FROM {name}" for name in schema.metadata.tables if name != "counters")
EMPTYING += "; UPDATE counters SET value = 0"

OF_SQLITE = {"test_store_errors", "test_store_migrate", "test_store_postgres"}
PORTABLE = sorted({path.stem for path in Path(__file__).parent.glob("test_store*.py")} - OF_SQLITE)
ONCE_IS_ENOUGH = (
    # what is refused or counted before any database is asked, and what a database cannot change
    *("test_names_that_", "test_what_is_no_integer", "test_words_that", "test_merges_that_make_no_sense"),
    *("test_text_digest", "test_number_of_", "test_a_decision_is_a_fixed_number", "test_no_events"),
    # speed, and what the planner of SQLite does
    *("test_forty_thousand", "test_what_is_asked_every_day", "test_events_after_one_are_found"),
    # below there is one that kills a writer of a server; several processes that screen are enough
    *("test_killed_at_any_moment", "test_two_processes_that_print"),
)
EXAMPLES = 8  # of each test by Hypothesis, which all have run on SQLite
for _portable in PORTABLE:
    for _name, _test in vars(import_module(f"tests.{_portable}")).items():
        if _name.startswith("test_") and "store" in signatures.signature(_test).parameters:
            assert _name not in globals(), f"two tests have the name {_name}"
            if not _name.startswith(ONCE_IS_ENOUGH):
                globals()[_name] = _test


@pytest.fixture(autouse=True)
def _fewer_examples(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "_hypothesis_internal_use_settings"
    if usual := getattr(request.function, name, None):
        monkeypatch.setattr(request.function, name, settings(usual, max_examples=EXAMPLES))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def url(server: Server) -> Iterator[str]:
    """Address of a new database."""
    name = f"t{next(_numbers)}"
    yield server.create(name)
    server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def shared_url(server: Server) -> str:
    """Address of a database with our tables, which most tests share one after another."""
    # Where it can, it orders texts as a dictionary does, unlike SQLite.
    address = server.create("shared", DICTIONARY if server.version >= 15 else "")
    open_store(address).close()
    return address


@pytest.fixture
def store(shared_url: str) -> Iterator[Store]:
    """A store without anything in it: to empty one takes a tenth of the time that making one does."""
    with open_store(shared_url, timeout=60) as opened:
        with opened.engine.begin() as connection:
            connection.exec_driver_sql(EMPTYING)
        yield opened


def test_importing_judging_and_opening_again(url: str) -> None:
    with open_store(url) as library:
        put(library, record("Sparse Maps", "2401.00001", key="a"), record("", "2401.00001", abstract="Same.", key="b"))
        assert library.counts().papers == 1
        new = split_record(library, 2, now=NOW)
        merge_papers(library, new, 1, now=NOW)
    with open_store(url, read_only=True) as library:
        assert library.papers([new])[new].id == 1
        assert library.problems() == []
        with pytest.raises(StoreError, match="reading only"):
            write(library, record("C"))


def test_migrations_make_the_same_tables(server: Server, url: str) -> None:
    def tables(address: str) -> dict[str, object]:
        engine = create_engine(address)
        seen = inspect(engine)
        found = {
            table: (
                [(c["name"], str(c["type"]), c["nullable"]) for c in seen.get_columns(table)],
                sorted((i["name"], tuple(i["column_names"]), i["unique"]) for i in seen.get_indexes(table)),
            )
            for table in seen.get_table_names()
        }
        engine.dispose()
        return found

    engine = create_engine(url)
    with transaction(engine, "scratch", write=True) as connection:
        run_migrations(connection, "scratch")
    migrated = tables(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    engine.dispose()
    open_store(url).close()
    assert tables(url) == migrated
    assert len(migrated) == 21


HOLDER = """
import sys
from broadsheet.store import open_store
with open_store(sys.argv[1]) as store, store.writing():
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_second_writer_is_told_who_the_first_is(store: Store, shared_url: str) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLDER, shared_url], env=ENVIRONMENT, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        with pytest.raises(BusyError, match=rf"process {process.pid} \(-c .* is writing"), store.writing(timeout=0.2):
            pass
        assert store.counts().papers == 0
        process.kill()
    with store.writing():  # the server may take a moment to see that the process is gone
        write(store, record("B"))
    assert store.counts().papers == 1


DECIDING = """
import sys
from broadsheet.store import open_store
from tests.review_makers import decision
with open_store(sys.argv[1], timeout=60) as store, store.writing():
    while True:
        print(store.screening.add_events(1, [decision(n) for n in range(1, 301)])[-1].id, flush=True)
"""


def test_killed_while_it_writes_nothing_said_is_lost_and_the_next_goes_on(store: Store, shared_url: str) -> None:
    store.screening.add_review("Statins", Plan(), NOW)
    for life in range(2):
        command = [sys.executable, "-c", DECIDING, shared_url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=ENVIRONMENT) as process:
            assert process.stdout is not None
            said = [int(process.stdout.readline()) for _ in range(3 + life)]
            process.kill()
            said += [int(line) for line in process.stdout.readlines() if line.endswith(b"\n")]
        with store.writing():
            kept = [event.id for event in store.screening.events(1)]
        assert kept == list(range(1, len(kept) + 1))
        assert len(kept) % 300 == 1  # all of a step or nothing
        assert said[-1] in (len(kept), len(kept) - 300)


def test_holder_is_one_of_the_same_database(url: str, shared_url: str) -> None:
    with ExitStack() as stack:
        stores = [stack.enter_context(open_store(address, timeout=0.01)) for address in (url, shared_url)]
        for number, store in enumerate(stores):
            engine = create_engine(store.engine.url, connect_args={"application_name": f"holder {number}"})
            stack.callback(engine.dispose)
            held = stack.enter_context(engine.connect())
            held.exec_driver_sql(f"SELECT pg_advisory_lock({_SERVER_KEY['key']})")
        for number, store in enumerate(stores):
            with pytest.raises(BusyError, match=f"^holder {number} is writing"):
                write(store, record("A"))


def test_lock_is_given_back_after_each_write(store: Store, shared_url: str) -> None:
    with open_store(shared_url, timeout=60) as other:
        for _ in range(3):
            write(store, record("A"))
            write(other, record("B"))
        assert [p.id for p in other.iterate_papers()] == [1, 2, 3, 4, 5, 6]


def test_writing_many_times_needs_no_new_connections(store: Store) -> None:
    made: list[object] = []
    listen(store.engine, "connect", lambda connection, _: made.append(connection))
    for _ in range(5):
        write(store, record("A"))
    assert len(made) <= 2


def break_off(server: Server, whose: str) -> None:
    """End the server's side of connections, as a restart or an administrator would."""
    ours = f"SELECT pid FROM pg_stat_activity WHERE datname = 'shared' AND {whose}"
    server.execute(f"SELECT pg_terminate_backend(pid) FROM ({ours}) AS ours")
    until(lambda: server.ask(f"SELECT count(*) FROM ({ours}) AS ours") == 0)


HOLDS_THE_LOCK = "pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted)"


def test_connections_closed_by_the_server_are_made_again(store: Store, server: Server) -> None:
    write(store, record("A"))
    break_off(server, "true")
    assert store.counts().papers == 1
    break_off(server, "true")
    write(store, record("B"))
    assert store.counts().papers == 2


def test_writer_whose_connection_breaks_is_told_and_does_not_go_on(
    store: Store, server: Server, shared_url: str
) -> None:
    with store.writing():
        write(store, record("A"))
        break_off(server, HOLDS_THE_LOCK)
        with open_store(shared_url) as other:  # another may write now, so the first must not
            write(other, record("B"))
        with pytest.raises(StoreError, match=r"connection to the database server broke .*do it again"):
            write(store, record("C"))
        with pytest.raises(StoreError, match="broke while writing; what was written before is kept"):
            write(store, record("D"))
    assert [paper.title for paper in store.iterate_papers()] == ["A", "B"]
    write(store, record("C"))
    assert [paper.title for paper in store.iterate_papers()] == ["A", "B", "C"]


def test_connection_that_breaks_inside_a_step_leaves_nothing_of_it(store: Store, server: Server) -> None:
    def breaking(*_: object) -> None:
        break_off(server, HOLDS_THE_LOCK)

    with store.writing():
        listen(store.engine, "after_cursor_execute", breaking, once=True)
        with pytest.raises(StoreError, match="connection to the database server broke"):
            write(store, record("A"))
    assert store.counts() == Counts(0, 0, 0)
    assert write(store, record("A")).seq == 1


def test_server_that_stops_and_comes_back(store: Store, server: Server) -> None:
    write(store, record("A"))
    server.stop()
    try:
        for use in (store.counts, lambda: write(store, record("B"))):
            with pytest.raises(StoreError, match=r"shared: no connection to the database server .*check that it runs"):
                use()
    finally:
        server.start()
    assert store.counts().papers == 1
    write(store, record("B"))
    assert store.counts().papers == 2


def test_questions_of_one_answer_see_one_state(store: Store, shared_url: str) -> None:
    with open_store(shared_url) as other:

        def meanwhile(*_: object) -> None:
            write(other, record("A"), record("B"))

        listen(store.engine, "after_cursor_execute", meanwhile, once=True)
        assert store.counts() == Counts(0, 0, 0)
    assert store.counts() == Counts(2, 2, 2)


def test_several_that_make_the_tables_at_once(url: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        for opened in threads.map(lambda _: open_store(url, timeout=60), range(4)):
            assert opened.counts() == Counts(0, 0, 0)
            opened.close()


def test_order_is_that_of_characters_whatever_the_server_likes(store: Store) -> None:
    write(store, *[record(name, source=name) for name in ("b", "A", "a", "B", "ä")])
    assert list(store.sources()) == ["A", "B", "a", "b", "ä"]


def test_server_that_is_not_there_and_no_password_is_shown() -> None:
    for who in ("me:secret@127.0.0.1:1/x", "127.0.0.1:1/x?user=me&password=secret"):
        with pytest.raises(StoreError, match=r"^127\.0\.0\.1:1/x: no connection .*check that it runs") as caught:
            open_store(f"postgresql://{who}")
        assert "secret" not in str(caught.value)


def test_database_that_is_not_there(server: Server) -> None:
    with pytest.raises(StoreError, match=r"no connection.*database \"nowhere\" does not exist.*setting `database`"):
        open_store(server.url("nowhere"))


def test_short_form_of_the_address(store: Store, shared_url: str) -> None:
    for form in ("postgresql", "postgres"):
        with open_store(shared_url.replace("postgresql+psycopg", form)) as opened:
            assert opened.counts().papers == 0


def test_database_that_cannot_hold_every_text(server: Server) -> None:
    address = server.create("western", "TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    with pytest.raises(StoreError, match=r"keeps texts as LATIN1.*--encoding=UTF8"):
        open_store(address)


def test_user_who_may_not_make_tables(server: Server, url: str) -> None:
    server.execute("CREATE ROLE guest LOGIN")
    server.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC", database=make_url(url).database or "")
    with pytest.raises(StoreError, match=r"may not do this \(permission denied.*OWNER TO"):
        open_store(url.replace("me@", "guest@"))


def test_server_that_takes_no_writes(shared_url: str) -> None:
    address = f"{shared_url}&options=-c%20default_transaction_read_only%3Don"
    with open_store(address) as opened, pytest.raises(StoreError, match="takes no writes; it may be a standby"):
        write(opened, record("A"))


def test_other_servers_are_refused() -> None:
    with pytest.raises(StoreError, match="mysql: no database that Broadsheet knows"):
        open_store("mysql://me@localhost/papers")


def test_options_of_the_address_are_kept_beside_ours(shared_url: str) -> None:
    with (
        open_store(f"{shared_url}&options=-c%20statement_timeout%3D12345") as opened,
        opened.engine.connect() as connection,
    ):
        assert connection.exec_driver_sql("SHOW statement_timeout").scalar() == "12345ms"
