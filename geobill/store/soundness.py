"""The store looked at without being touched: is the file whole, are its guards in place, do the books still say what was booked.

Everything is read through SQLite alone, read-only, so that a store that the other modules would refuse can be looked at.
"""

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import create_engine

from geobill.domain.health import Check
from geobill.domain.record import canonical_json, sha256
from geobill.store import gpkg
from geobill.store.geometry import register_functions
from geobill.store.survey_tables import SURVEY_FEATURES
from geobill.store.tables import FEATURES, LEDGER, SCHEMA_VERSION

Look = Callable[[sqlite3.Connection, int], list[Check]]
RESTORE = "Restore the workspace from a copy; keep this file, so that what was issued since can be read from it."
LEDGER_UNTIL = {1: 5, 2: 9, 3: 23, 4: 24}  # how many of the ledger's tables a store of an older version has
SURVEYS_SINCE = 5  # version of the store that has surveys
NOTES_SINCE = 3  # version of the store that has notes and cases beside the invoices
SHOWN = 5  # of many alike, in one message
REFERENCE_MOMENT = "2000-01-01T00:00:00.000Z"  # of an empty store made in memory, to compare with; nobody reads it


def examine_store(path: Path, srid: int) -> list[Check]:
    """Look at an embedded store of the system with this EPSG code; nothing is written, not even a lock file.

    A journal of a command that was cut off is left as it is: then the last whole state can't be read without being
    repaired, and only that is said.
    """
    if not path.is_file():
        fix = "Name your workspace with -w DIR, or make one with geobill init DIR."
        return [Check("store", "fault", f"{path.name} is not there", fix)]
    busy = _busy(path)
    if any(check.state == "fault" for check in busy):
        return busy
    try:
        with look_into(path) as connection:
            stands, version = _version(connection)
            found = [*busy, stands]
            if version is not None:
                for look in LOOKS:
                    found += _looked(look, connection, version)
                found += _looked(_systems, connection, srid)
            return found
    except sqlite3.Error as error:
        return [*busy, Check("store", "fault", f"{path.name} can't be read (SQLite: {error})", RESTORE)]


@contextmanager
def look_into(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store read-only; one in write-ahead mode that nobody has open is read without making its log anew."""
    with path.open("rb") as file:
        write_ahead = file.read(20)[18:20] == b"\x02\x02"
    log = path.with_name(f"{path.name}-wal")
    alone = write_ahead and not (log.exists() and log.stat().st_size)
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' * alone}", uri=True)) as connection:
        register_functions(connection)
        yield connection


def _looked(look: Look, connection: sqlite3.Connection, number: int) -> list[Check]:
    """Run one look; what SQLite or a record refuses is a finding too."""
    try:
        return look(connection, number)
    except (sqlite3.Error, zlib.error, ValueError, LookupError, TypeError) as error:
        name = (look.__name__).removeprefix("_").replace("_", " ")
        return [Check(name, "fault", f"can't be read: {type(error).__name__}: {error}", RESTORE)]


def _busy(path: Path) -> list[Check]:
    """Whether somebody has the store open, or was cut off while writing."""
    journal, log = (path.with_name(f"{path.name}-{end}") for end in ("journal", "wal"))
    if journal.exists() and journal.stat().st_size:
        return [
            Check(
                "locks",
                "fault",
                f"{journal.name} stands beside the store: a command is writing now, or one was cut off",
                "If a geobill or QGIS is at work, wait for it and ask again. If not, run any command that writes: SQLite goes back "
                "to the last whole state by itself. Never delete the journal.",
            )
        ]
    if log.exists() and log.stat().st_size:
        fix = "Save and close it there; geobill works meanwhile, but copies of the .gpkg alone would lack what is in the log."
        return [
            Check("locks", "warning", f"{log.name} stands beside the store: QGIS or another program has it open", fix)
        ]
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, timeout=0)) as connection:
            connection.isolation_level = None
            if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):  # trying there would make the log anew
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            fix = "Wait for it, or save and close it there."
            return [Check("locks", "warning", "another program is writing to the store", fix)]
    except sqlite3.DatabaseError:
        pass  # said by the other looks
    return [Check("locks", "ok", "nobody else is writing to the store")]


def _version(connection: sqlite3.Connection) -> tuple[Check, int | None]:
    try:
        row = connection.execute("SELECT version FROM geobill_schema").fetchone()
    except sqlite3.OperationalError:
        fix = "Name another workspace with -w DIR."
        return Check("schema version", "fault", "it is no geobill store: it lacks geobill_schema", fix), None
    version = row[0] if row else None
    if version == SCHEMA_VERSION:
        return Check("schema version", "ok", f"{version}, as this geobill writes it"), version
    if version is None or not 1 <= version <= SCHEMA_VERSION:
        message = f"{version}, and this geobill knows up to {SCHEMA_VERSION}"
        return Check("schema version", "fault", message, "Use the geobill that made it, or a newer one."), None
    message = f"{version}, older than {SCHEMA_VERSION}: the next command copies the store beside itself and migrates it"
    return Check("schema version", "warning", message, "Make room for a second copy of the store."), version


def _integrity(connection: sqlite3.Connection, _: int) -> list[Check]:
    said = [row[0] for row in connection.execute("PRAGMA integrity_check(20)")]
    if said != ["ok"]:
        return [Check("integrity", "fault", f"SQLite finds the file damaged: {'; '.join(said[:SHOWN])}", RESTORE)]
    return [Check("integrity", "ok", "SQLite finds the file whole")]


def _references(connection: sqlite3.Connection, _: int) -> list[Check]:
    loose = connection.execute("PRAGMA foreign_key_check").fetchall()
    if loose:
        where = ", ".join(sorted({f"{table} → {target}" for table, _, target, _ in loose}))
        message = f"{len(loose)} rows point to rows that aren't there: {where}"
        return [Check("references", "fault", message, f"Something else than geobill wrote to the store. {RESTORE}")]
    return [Check("references", "ok", "every row points to rows that are there")]


def _shape(connection: sqlite3.Connection, version: int) -> list[Check]:
    """Compare tables, columns, indexes and the ledger's guards with those of a new store of the same version."""
    from geobill.store.migrations import upgrade

    engine = create_engine("sqlite://")
    with engine.connect() as fresh, fresh.begin():
        upgrade(fresh, since=None, srid=4674, now=REFERENCE_MOMENT, until=str(version))
        meant = _objects(fresh.connection.dbapi_connection)  # type: ignore[arg-type]
    there = _objects(connection)
    gone = {name for kind, name in meant if kind == "table" and (kind, name) not in there}
    lacking = sorted(f"table {name}" for name in gone) + sorted(
        f"{kind} {name}"
        for kind, name in meant
        if kind in ("column", "index") and name.partition(".")[0] not in gone and (kind, name) not in there
    )
    guards = {name for kind, name in meant if kind == "trigger"}
    off = sorted(g for g in guards if there.get(("trigger", g)) != meant["trigger", g])
    found = []
    if lacking:
        message = f"the store lacks {', '.join(lacking[:SHOWN])}"
        found.append(Check("tables", "fault", message, f"Something else than geobill changed its form. {RESTORE}"))
    else:
        found.append(Check("tables", "ok", "every table, column and index is there"))
    if off:
        message = f"the ledger's guards {', '.join(off[:SHOWN])} are missing or changed: rows could be changed unseen"
        fix = f"Compare the invoices with their papers (the digest is printed on them). {RESTORE}"
        found.append(Check("ledger guards", "fault", message, fix))
    else:
        found.append(Check("ledger guards", "ok", f"{len(guards)} triggers keep the ledger from being changed"))
    return found


def _objects(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """Tables with their columns, named indexes, and triggers as written."""
    found: dict[tuple[str, str], str] = {}
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall():
        found[kind, name] = " ".join(str(sql).split())
        if kind == "table" and not name.startswith(("rtree_", "sqlite_")):
            for _, column, *_ in connection.execute(f'PRAGMA table_info("{name}")').fetchall():
                found["column", f"{name}.{column}"] = ""
    return {key: sql for key, sql in found.items() if not key[1].startswith("sqlite_")}


def _numbers(connection: sqlite3.Connection, version: int) -> list[Check]:
    """Whether each year's series of invoices and notes runs from 1 without a gap, and in the order of the days of issue."""
    query = "SELECT series_year, sequence, number, issued_on, due_on FROM invoices"
    if version >= NOTES_SINCE:  # a credit note has no due day
        query += " UNION ALL SELECT series_year, sequence, number, issued_on, coalesce(due_on, issued_on) FROM notes"
    query += " ORDER BY series_year, sequence"
    gaps, odd, back, last = [], [], [], {}
    for year, sequence, number, issued_on, due_on in connection.execute(query):
        before, day = last.get(year, (0, ""))
        if sequence != before + 1:
            gaps.append(f"{year}/{before + 1:06d}")
        if number != f"{year}/{sequence:06d}" or issued_on[:4] != str(year) or due_on < issued_on:
            odd.append(number)
        if issued_on < day:
            back.append(number)
        last[year] = (sequence, max(day, issued_on))
    found = []
    if gaps:
        message = f"the series has gaps, at {', '.join(gaps[:SHOWN])}: an invoice or a note is missing or was numbered by hand"
        found.append(Check("invoice numbers", "fault", message, f"An auditor will ask for it. {RESTORE}"))
    if odd:
        message = f"number, year and dates don't agree: {', '.join(odd[:SHOWN])}"
        found.append(Check("invoice dates", "fault", message, f"Compare with the papers. {RESTORE}"))
    if back:
        message = f"issued on an earlier day than the number before it: {', '.join(back[:SHOWN])}"
        fix = "Allowed (--issued-on), but an auditor may ask why; the ledger keeps the moment of each (issued_at)."
        found.append(Check("invoice dates", "warning", message, fix))
    if not found:
        series = ", ".join(f"{year}: {sequence}" for year, (sequence, _) in last.items()) or "none issued yet"
        found.append(Check("invoice numbers", "ok", f"gapless, in the order of their days ({series})"))
    return found


def _records(connection: sqlite3.Connection, version: int) -> list[Check]:
    """Whether each booked record still has its digest, and the columns beside it say the same."""
    wrong, count = [], 0
    lines = {number: (n, cents) for number, n, cents in connection.execute(_LINES)}
    query = "SELECT number, month, operator, issued_on, due_on, total_cents, digest, record FROM invoices"
    for number, month, operator, issued_on, due_on, cents, digest, text in connection.execute(query):
        count += 1
        record = json.loads(text)
        booked = (record["number"], record["month"], record["operator"]["id"], record["issued_on"], record["due_on"])
        said = booked == (number, month, operator, issued_on, due_on) and record["total"] == _reais(cents)
        true = digest == record["digest"] == sha256(canonical_json({**record, "digest": ""}))
        if not (said and true and lines.get(number, (0, 0)) == (len(record["lines"]), cents)):
            wrong.append(f"invoice {number}")
    if version >= 2:
        for number, digest, text in connection.execute("SELECT number, digest, record FROM decrees"):
            count += 1
            if digest != sha256(text):
                wrong.append(f"decree {number}")
    if version >= NOTES_SINCE:
        query = "SELECT number, kind, operator, issued_on, due_on, total_cents, digest, record FROM notes"
        for number, kind, operator, issued_on, due_on, cents, digest, text in connection.execute(query):
            count += 1
            record = json.loads(text)
            booked = (record["number"], record["kind"], record["operator"]["id"], record["issued_on"], record["due_on"])
            said = booked == (number, kind, operator, issued_on, due_on) and record["total"] == _reais(cents)
            if not (said and digest == record["digest"] == sha256(canonical_json({**record, "digest": ""}))):
                wrong.append(f"note {number}")
    return _verdict(
        "records", wrong, count, "no longer say what was booked", "of invoices, notes and decrees have their digests"
    )


_LINES = "SELECT invoice, count(*), sum(amount_cents) FROM invoice_lines GROUP BY invoice"


def _reais(cents: int) -> str:
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def _documents(connection: sqlite3.Connection, version: int) -> list[Check]:
    """Whether each document's bytes still have their SHA-256."""
    wrong, count = [], 0
    tables = ("documents", "decree_documents", "note_documents", "case_documents")
    for table in tables[: 4 if version >= NOTES_SINCE else version]:
        for name, digest, content in connection.execute(f"SELECT file_name, sha256, content FROM {table}"):
            count += 1
            if sha256(content) != digest:
                wrong.append(name)
    return _verdict("documents", wrong, count, "aren't the bytes that were issued", "stored as issued, to the byte")


def _archive(connection: sqlite3.Connection, _: int) -> list[Check]:
    """Whether each archived input still has its SHA-256, so that an invoice can be computed again."""
    wrong, count = [], 0
    for digest, kind, packed in connection.execute("SELECT sha256, kind, content FROM archive"):
        count += 1
        try:
            true = sha256(zlib.decompress(packed)) == digest
        except (zlib.error, TypeError):
            true = False
        if not true:
            wrong.append(f"{kind} {digest[:12]}…")
    return _verdict(
        "archive", wrong, count, "aren't what invoices were computed from", "archived inputs have their digests"
    )


def _verdict(name: str, wrong: list[str], count: int, fault: str, well: str) -> list[Check]:
    if wrong:
        more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        message = f"{len(wrong)} of {count} {fault}: {', '.join(wrong[:SHOWN])}{more}"
        return [Check(name, "fault", message, f"Something else than geobill changed them, or the disk did. {RESTORE}")]
    return [Check(name, "ok", f"{count} {well}")]


def _geopackage(connection: sqlite3.Connection, version: int) -> list[Check]:
    """Whether GDAL and QGIS will know the file and list every table."""
    wrong = []
    for pragma, meant in (("application_id", gpkg.APPLICATION_ID), ("user_version", gpkg.USER_VERSION)):
        stands = connection.execute(f"PRAGMA {pragma}").fetchone()[0]
        if stands != meant and not (pragma == "user_version" and 10200 <= stands < 20000):  # QGIS may write another 1.x
            wrong.append(f"{pragma} is {stands}")
    listed = {row[0] for row in connection.execute("SELECT table_name FROM gpkg_contents")}
    own = (
        "geobill_schema",
        "operators",
        "batches",
        "editions",
        *(name for name in FEATURES if version >= SURVEYS_SINCE or name not in SURVEY_FEATURES),
        *LEDGER[: LEDGER_UNTIL.get(version, len(LEDGER))],
    )
    wrong += [f"{name} isn't listed in gpkg_contents" for name in own if name not in listed]
    if wrong:
        message = f"QGIS may not show all of it: {', '.join(wrong[:SHOWN])}"
        return [
            Check(
                "GeoPackage",
                "warning",
                message,
                "geobill reads it all the same. Restore it from a copy where QGIS is needed.",
            )
        ]
    return [Check("GeoPackage", "ok", "its tables are listed for QGIS")]


def _systems(connection: sqlite3.Connection, srid: int) -> list[Check]:
    """Whether the layers, and each geometry in them, are in the system that the settings name."""
    other = []
    for table, stands in connection.execute("SELECT table_name, srs_id FROM gpkg_geometry_columns").fetchall():
        if stands != srid:
            other.append(f"{table} is listed in EPSG:{stands}")
        if table in FEATURES:
            # bytes 5 to 8 of a GeoPackage blob, in the byte order that bit 1 of byte 4 tells
            query = f"SELECT DISTINCT substr(geom, 4, 1), substr(geom, 5, 4) FROM {table}"
            codes = {
                int.from_bytes(code, "little" if flags[0] & 1 else "big") for flags, code in connection.execute(query)
            }
            other += [f"{table} has geometry in EPSG:{code}" for code in sorted(codes - {srid})]
    if other and not _holds_places(connection):
        message = f"EPSG:{srid} by the settings; nothing is in the store yet, and the next command takes it"
        return [Check("coordinate system", "ok", message)]
    if other:
        message = f"the settings say EPSG:{srid}, but {', '.join(other[:SHOWN])}: lengths of two systems would be mixed"
        return [
            Check(
                "coordinate system",
                "fault",
                message,
                f"Put the old crs back into geobill.toml. If it was never changed: {RESTORE}",
            )
        ]
    return [Check("coordinate system", "ok", f"all geometry is in EPSG:{srid}")]


def _holds_places(connection: sqlite3.Connection) -> bool:
    """Whether anything depends on the system; an older store lacks some of the tables."""
    there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return any(
        table in there and connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone() is not None
        for table in gpkg.HOLD_PLACES
    )


LOOKS: tuple[Look, ...] = (_integrity, _references, _shape, _numbers, _records, _documents, _archive, _geopackage)
