"""Files of what was seen in the field, read: lines and equipment, each from the layers that hold them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import geopandas as gpd

from geobill.domain.finding import Finding, SetAside
from geobill.domain.network import Municipality
from geobill.frames import EQUIPMENT, SEGMENTS, SURVEY_EQUIPMENT, SURVEY_LINES
from geobill.intake.reader import Layer, read_layers
from geobill.intake.reading import Options, Part, Reading
from geobill.intake.survey import read_survey_equipment, read_survey_lines, survey_kinds


@dataclass(frozen=True)
class FieldFile:
    """A file of what was seen: which layers of it, and how they are read."""

    path: Path
    layers: tuple[str, ...]
    options: Options


@dataclass(frozen=True)
class Seen:
    """What was read of a file: lines and equipment by ``frames.SURVEY_LINES`` and ``SURVEY_EQUIPMENT``, with the reports."""

    lines: gpd.GeoDataFrame
    equipment: gpd.GeoDataFrame
    readings: tuple[Reading, ...]
    layers: tuple[Layer, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def sha256(self) -> str:
        """Digest of the file."""
        return self.layers[0].sha256

    @property
    def layer(self) -> str:
        """Names of the layers that were read."""
        return ", ".join(layer.name for layer in self.layers)

    @property
    def read(self) -> int:
        """Rows read: those taken and those set aside."""
        return sum(reading.read for reading in self.readings)

    @property
    def set_aside(self) -> tuple[SetAside, ...]:
        """Rows that couldn't be used."""
        return tuple(s for reading in self.readings for s in reading.set_aside)


def read_field_file(source: FieldFile, place: Municipality, operators: Sequence[str]) -> Seen:
    """Read a survey's lines and equipment.

    Raises
    ------
    InputError
        If the file or a layer can't be used, or the mapping names a key that neither has.
    """
    layers = read_layers(source.path, source.layers, encoding=source.options.encoding)
    lines, boxes = survey_kinds([Part(layer, source.options) for layer in layers])
    drawn = read_survey_lines(lines, place, operators) if lines else None
    placed = read_survey_equipment(boxes, place, operators) if boxes else None
    readings = tuple(r for r in (drawn, placed) if r is not None)
    return Seen(
        _empty(SURVEY_LINES, place) if drawn is None else drawn.accepted,
        _empty(SURVEY_EQUIPMENT, place) if placed is None else placed.accepted,
        readings,
        tuple(layers),
        tuple(dict.fromkeys(f for reading in readings for f in reading.findings)),
    )


def as_permitted(seen: Seen) -> tuple[gpd.GeoDataFrame, gpd.GeoDataFrame]:
    """Return the rows of a file as if it were on record, by ``frames.SEGMENTS`` and ``frames.EQUIPMENT``."""
    made = []
    for frame, columns in ((seen.lines, SEGMENTS), (seen.equipment, EQUIPMENT)):
        absent = {c: None for c in columns if c not in frame.columns and c != "status"}
        made.append(frame.assign(**absent, status="permitted")[[*columns]])
    return made[0], made[1]


def _empty(columns: Sequence[str], place: Municipality) -> gpd.GeoDataFrame:
    return gpd.GeoDataFrame({c: [] for c in columns if c != "geometry"}, geometry=[], crs=place.srid)
