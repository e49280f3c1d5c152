"""GeoJSON: text, in degrees of WGS 84 unless its old ``crs`` member says otherwise."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyproj import CRS

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.formats.base import Format, broken
from geobill.intake.formats.geojson_crs import opens_more, system_findings, system_of, without_links


def parsed(path: Path) -> Any:
    """Return the whole document, or raise InputError where it isn't JSON."""
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as e:
        raise broken(path, f"it isn't JSON ({e})") from None


def crs_member(path: Path) -> tuple[bool, Any]:
    """Whether the document has a ``crs`` member, and what it says."""
    raw = path.read_bytes()
    at, features = raw.find(b'"crs"'), raw.find(b'"features"')
    if at < 0:
        return False, None
    if at < features and raw.count(b'"crs"', 0, features) == 1:  # at the head, as all programs write it
        head = raw[at + len(b'"crs"') : features].decode("utf-8", "replace").lstrip().removeprefix(":").lstrip()
        try:
            return True, json.JSONDecoder().raw_decode(head)[0]
        except ValueError:
            pass
    document = parsed(path)
    return (isinstance(document, dict) and "crs" in document), document.get("crs") if isinstance(
        document, dict
    ) else None


_TYPE = re.compile(
    rb'"type"\s*:\s*"(?:Feature|FeatureCollection|GeometryCollection|(?:Multi)?(?:Point|LineString|Polygon))"'
)
_TOPOLOGY = re.compile(rb'"type"\s*:\s*"Topology"')


class GeoJSON(Format):
    """GeoJSON (RFC 7946 and the older form that may name a coordinate system)."""

    name = "GeoJSON"
    suffixes = (".geojson", ".json")
    driver = "GeoJSON"
    mark = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"type"\s*:\s*"FeatureCollection"')
    reads = "features with their properties, in degrees or in the system that the old `crs` member names"
    leaves_out = "TopoJSON"
    # dates and lists stay the text that they are: an id like 2024-01-01 is no date
    open_options = {"DATE_AS_STRING": "YES", "ARRAY_AS_STRING": "YES"}  # noqa: RUF012

    def check(self, path: Path) -> None:
        """See that the text begins and ends as one JSON object."""
        text = path.read_bytes().strip(b" \t\r\n\0\xef\xbb\xbf")
        if text[:1] != b"{":
            raise broken(path, "it doesn't begin as a GeoJSON object does")
        if text[-1:] != b"}":
            raise broken(path, "it ends in the middle of an object")
        if not _TYPE.search(text) or _TOPOLOGY.search(text):
            raise InputError(
                f"{path.name} is JSON, but not GeoJSON (it has no features of that form): export it as GeoJSON."
            )
        if opens_more(text):
            raise InputError(
                f"{path.name} is written so that a reader would open other files or addresses: nothing was read. Ask for the file as "
                "QGIS exports it."
            )

    def fitted(self, path: Path, folder: Callable[[], Path]) -> Path:
        """Return a copy whose ``crs`` member is no link where it is one: the library would fetch it."""
        text = path.read_bytes()
        closed = without_links(text)
        if closed is text or closed == text:
            return path
        to = folder() / path.name
        to.write_bytes(closed)
        return to

    def crs(self, path: Path, declared: CRS | None) -> tuple[CRS | None, tuple[Finding, ...]]:
        """Honour the ``crs`` member; one that can't be understood is no system, never silently WGS 84."""
        there, member = crs_member(path)
        if not there:
            return declared, ()
        return system_of(member), system_findings(path.name, member)

    def exact_numbers(self, path: Path, names: list[str], rows: int) -> dict[str, list[str | None]]:
        """Take the digits from the JSON text, whose whole numbers have no limit."""
        document = parsed(path)
        features = document.get("features", []) if isinstance(document, dict) else []
        if len(features) != rows:
            return {}
        out: dict[str, list[str | None]] = {}
        for name in names:
            values = [(f.get("properties") or {}).get(name) for f in features]
            if all(v is None or type(v) is int for v in values):
                out[name] = [None if v is None else str(v) for v in values]
        return out
