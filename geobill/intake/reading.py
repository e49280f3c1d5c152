"""What a user asks of an import, layer by layer, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

import geopandas as gpd

from geobill.domain.finding import CrsUse, Finding, LayerRead, SetAside
from geobill.intake.reader import Layer

UNITS_M = {"m": 1.0, "mm": 0.001, "cm": 0.01, "km": 1000.0, "ft": 0.3048, "in": 0.0254}
_LENGTHS = {"m": "1", "cm": "0.01", "mm": "0.001", "km": "1000", "ft": "0.3048"}
# what one unit of a column's figures is in metres or cubic metres, exactly, by key
UNIT_FACTORS: Mapping[str, Mapping[str, Decimal]] = {
    **{
        key: {unit: Decimal(factor) for unit, factor in _LENGTHS.items()}
        for key in ("width", "declared_length", "length", "breadth", "height")
    },
    "volume": {"m3": Decimal(1), "l": Decimal("0.001")},
}


@dataclass(frozen=True)
class Options:
    """How one layer is read: the command line's options, and what a profile says of that layer.

    ``mapping`` says which column holds which key; ``default_width_m`` (metres) stands in where a width is absent;
    ``constants`` stand for all rows under keys that no column is mapped to (``permit``, ``status``, ``service``, ``level``);
    ``absent`` are the texts that say "not informed" under a key; ``statuses`` are the file's own words for a status;
    ``units`` are those of a column's figures, by key (`UNIT_FACTORS`); metres and cubic metres where none is named;
    ``unit`` is what one unit of the file's coordinates is, for drawings in millimetres or feet (0.3048 m);
    ``length_precision_m`` and ``duplicate_stretch`` are policies of the workspace; ``encoding`` is that of the file's text,
    where the user knows better than the file.
    """

    operator: str | None = None
    crs: str | None = None
    default_width_m: Decimal | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    unit: str = "m"
    constants: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, frozenset[str]] = field(default_factory=dict)
    statuses: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    duplicate_stretch: Literal["set_aside", "bill"] = "set_aside"
    length_precision_m: Decimal = Decimal("0.01")
    encoding: str | None = None


@dataclass(frozen=True)
class Part:
    """One layer, and how it is read; an import takes one or more."""

    layer: Layer
    options: Options


@dataclass(frozen=True)
class Reading:
    """One file, row by row: ``read = len(accepted) + len(set_aside)``.

    ``accepted`` follows a column contract of `geobill.frames`, in the workspace's system; its ``source_row`` counts
    through all layers in the order in which they were read, as ``layers`` says.
    ``aside`` holds the rows that were set aside, in the order of ``set_aside``, by `geobill.frames.ASIDE`. ``length_m`` is the sum of
    the accepted lengths, each rounded once (0 where there are no lines); ``bounds`` is (minx, miny, maxx, maxy) of
    what was accepted, None where nothing was.
    """

    accepted: gpd.GeoDataFrame
    set_aside: tuple[SetAside, ...]
    read: int
    crs: CrsUse
    findings: tuple[Finding, ...]
    length_m: Decimal
    bounds: tuple[float, float, float, float] | None
    layers: tuple[LayerRead, ...]
    aside: gpd.GeoDataFrame
