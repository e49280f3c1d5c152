"""GML 2 and 3, read by GDAL; the file is looked through before, and GDAL gets a link to it in a folder of our own.

There it finds no schema and no .gfs, writes its own without touching the user's folder, and every value stays text.
Reference: OGC 07-036 (GML 3.2.1), OGC 09-048r3 (names of coordinate systems), GDAL's GML driver.
"""

import codecs
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyogrio
from pyproj import CRS

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.formats.base import Format, broken, link
from geobill.intake.formats.kml_shapes import local
from geobill.intake.formats.xml_safety import DeepWatch, XmlText, check_xml

_MEMBERS = ("member", "featureMember", "featureMembers")
_PLACES = ("posList", "pos", "coordinates", "lowerCorner", "upperCorner", "X", "Y", "Z")
_NO_NUMBER = re.compile(r"[^\s0-9.,;:eE+-]")
_NOT_FINITE = re.compile(r"(?i)\b[+-]?(?:nan|inf(?:inity)?)\b")
_CODE = re.compile(r"(\d+|CRS\d+)\s*$")
_XML_HEAD = re.compile(r"^\ufeff?\s*<\?xml[^>]*\?>")
_SETTINGS = {"GML_FIELDTYPES": "ALWAYS_STRING", "GML_DOWNLOAD_SCHEMA": "NO", "GML_SKIP_RESOLVE_ELEMS": "ALL"}


class _Look(DeepWatch):
    """Counts features by type, gathers the names of systems, and reads every coordinate for what is no number."""

    def __init__(self, path: Path):
        super().__init__(path)
        self.features: Counter[str] = Counter()
        self.systems: dict[str, None] = {}
        self._text: list[str] | None = None

    def start(self, tag: str, attributes: Any) -> None:
        if self.inside and local(self.inside[-1]) in _MEMBERS:
            self.features[local(tag)] += 1
        super().start(tag, attributes)
        if "srsName" in attributes:
            self.systems[attributes["srsName"]] = None
        if local(tag) in _PLACES:
            self._text = []

    def data(self, text: str) -> None:
        """Keep the text of coordinates."""
        if self._text is not None:
            self._text.append(text)

    def end(self, tag: str) -> None:
        super().end(tag)
        if self._text is None:
            return
        text, self._text = "".join(self._text), None
        odd = _NO_NUMBER.search(_NOT_FINITE.sub("0", text))
        if odd:
            shown = text[max(0, odd.start() - 20) : odd.start() + 20].strip()
            raise broken(self.path, f"one of its coordinates is no number ({shown!r})")


@dataclass(frozen=True)
class _Seen:
    """What was seen on the way through a file: how its text is written, features by type, names of systems."""

    text: XmlText
    features: dict[str, int]
    systems: tuple[str, ...]


class GML(Format):
    """GML with simple features; every feature type is a layer."""

    name = "GML"
    suffixes = (".gml",)
    driver = "GML"
    reads_itself = True
    reads = "GML 2 and 3; every feature type is a layer; axes by the name of the system; every column as text"
    leaves_out = "schemas and links (nothing is fetched); features within features; all but one geometry of a row"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether the first element speaks of GML."""
        plain = head.replace(b"\0", b"")
        return b"http://www.opengis.net/gml" in plain and b"<kml" not in plain

    def check(self, path: Path) -> None:
        """See that it is whole and safe, and that coordinates are numbers."""
        with path.open("rb") as file:
            head = file.read(1 << 16)
        if b"<OGR" in head.replace(b"\0", b""):  # OGRVRTDataSource and its kin: recipes for GDAL to open other files
            raise InputError(
                f"{path.name} is a recipe for GDAL, not GML: a reader would open other files. Nothing was read; ask for the data "
                "themselves."
            )
        _see(path)

    def fitted(self, path: Path, folder: Callable[[], Path]) -> Path:
        """Return a link to the file in a folder of ours; a copy in UTF-8 where it is in something else."""
        seen = _see(path)
        to = folder() / f"{path.stem}.gml"
        if codecs.lookup(seen.text.encoding).name == "utf-8" and seen.text.end == path.stat().st_size:
            link(path, to)
            return to
        decoder = codecs.getincrementaldecoder(seen.text.encoding)("replace")
        with seen.text.open() as file, to.open("w", encoding="utf-8", newline="") as out:
            first = True
            while block := file.read(1 << 20):
                text = decoder.decode(block)
                out.write(_XML_HEAD.sub('<?xml version="1.0" encoding="UTF-8"?>', text) if first else text)
                first = False
        return to

    def remarks(self, path: Path) -> tuple[Finding, ...]:
        """Say what was put right in the text."""
        return _see(path).text.findings

    def layers(self, path: Path) -> list[tuple[str, bool]]:
        """Name each feature type."""
        pyogrio.set_gdal_config_options(_SETTINGS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [(str(name), kind is not None) for name, kind in pyogrio.list_layers(path)]

    def iter_tables(self, path: Path, layer: str, rows: int) -> Iterator[tuple[pa.Table, np.ndarray, str | None]]:
        """Read a feature type; refuse it where GDAL finds fewer features than there are, or rows in several systems."""
        seen = _see(path)
        pyogrio.set_gdal_config_options(_SETTINGS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            opened = pyogrio.open_arrow(path, layer=layer, batch_size=rows, use_pyarrow=True, EXPOSE_GML_ID="YES")
        done = 0
        with opened as (meta, reader):
            if meta["crs"] is None and len({_code(s) for s in seen.systems}) > 1:
                raise InputError(
                    f"{layer} in {path.name} has rows in several coordinate systems ({', '.join(seen.systems)[:200]}). One system "
                    "is asked for a whole layer, and lengths in the wrong one would price the network wrongly: ask for the "
                    "file in one system."
                )
            for batch in reader:
                if batch.num_rows:
                    done += batch.num_rows
                    yield _parted(pa.Table.from_batches([batch]), meta)
            if not done:
                yield _parted(reader.schema.empty_table(), meta)
        if done < seen.features.get(layer, 0):
            raise broken(path, f"{seen.features[layer]} features of {layer} are in it and only {done} can be read")

    def crs(self, path: Path, declared: CRS | None) -> tuple[CRS | None, tuple[Finding, ...]]:
        """Return what GDAL made of srsName; say where it names a system that nobody knows."""
        seen = _see(path)
        if declared is not None or not seen.systems:
            return declared, ()
        message = f"The coordinate system that {path.name} names is unknown: {', '.join(seen.systems)[:200]}."
        return None, (Finding("crs_unreadable", "error", message, "Ask the sender; then give it with --crs EPSG:n."),)


def _see(path: Path) -> _Seen:
    path = path.resolve()  # the link and the file are the same
    state = path.stat()
    return _look(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _look(path: Path, changed: int, size: int) -> _Seen:
    watch = _Look(path)
    text = check_xml(path, watch)
    return _Seen(text, dict(watch.features), tuple(watch.systems))


def _code(system: str) -> str:
    found = _CODE.search(system)
    return found[1] if found else system


def _parted(table: pa.Table, meta: dict[str, Any]) -> tuple[pa.Table, np.ndarray, str | None]:
    """Part the geometry from the columns; lists (an element that stands several times) become text."""
    last = table.num_columns - 1
    if last >= 0 and pa.types.is_binary(table.schema[last].type):
        drawn = table.column(last).to_numpy(zero_copy_only=False)
        table = table.remove_column(last)
    else:
        drawn = np.full(table.num_rows, None, dtype=object)
    for at, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            texts = [None if v is None else json.dumps(v, ensure_ascii=False) for v in table.column(at).to_pylist()]
            table = table.set_column(at, field.name, pa.array(texts, pa.string()))
    return table, drawn, meta["crs"]
