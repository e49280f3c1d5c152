"""Which program printed a paper: kept beside it, so that a later one knows whether its own print must be the same."""

import json
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pyproj
import shapely

from geobill.domain.record import canonical_json, sha256
from geobill.store.audit import Audit
from geobill.store.ledger import Ledger

KIND = "press"  # of the archive; a text names the paper's number
LIBRARIES: tuple[str, ...] = ("typst", "pikepdf", "jinja2", "shapely", "geopandas", "pandas", "numpy", "pyogrio")
SOURCES: tuple[str, ...] = (".py", ".j2", ".css", ".docx")


def keep_press(ledger: Ledger, number: str) -> None:
    """Keep with an issued number which program prints its papers."""
    ledger.archive(KIND, canonical_json({"of": number, "press": this_press()}))


def load_presses(audit: Audit) -> dict[str, dict[str, str]]:
    """Return the program of each number that has one; what was issued before geobill kept it has none."""
    kept = (json.loads(content) for _, content in audit.archive_rows(KIND))
    return {one["of"]: one["press"] for one in kept}


@cache
def this_press() -> dict[str, str]:
    """Return this very program: its version and sources, and the libraries that draw and print."""
    root = Path(__file__).parents[1]
    sources = [p for p in sorted(root.rglob("*")) if p.suffix in SOURCES and p.is_file()]
    text = "".join(f"{p.relative_to(root).as_posix()} {sha256(p.read_bytes())}\n" for p in sources)
    return {
        "geobill": version("geobill"),
        "program": sha256(text),
        "python": ".".join(platform.python_version_tuple()[:2]),
        "geos": shapely.geos_version_string,
        "proj": pyproj.proj_version_str,
        **{name: version(name) for name in LIBRARIES},
    }


def press_differences(one: dict[str, str], other: dict[str, str]) -> str:
    """Say what differs between two programs: "geobill 0.1.0 → 0.2.0, typst 0.14.0 → 0.15.2"; empty where nothing does.

    Examples
    --------
    >>> press_differences({"typst": "0.14.0"}, {"typst": "0.15.2"}), press_differences({"typst": "1"}, {"typst": "1"})
    ('typst 0.14.0 → 0.15.2', '')
    """
    names = [n for n in dict.fromkeys([*one, *other]) if one.get(n) != other.get(n)]
    said = [f"{n} {one.get(n, '?')} → {other.get(n, '?')}" for n in names if n != "program"]
    return ", ".join(said or ["the program's own text"] if names else [])
