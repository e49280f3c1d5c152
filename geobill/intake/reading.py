"""What a user asks of an import, layer by layer, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

import geopandas as gpd

from geobill.domain.finding import CrsUse, Finding, LayerRead, SetAside
from geobill.intake.reader import Layer

UNITS_M = {"m": 1.0, "mm": 0.001, "ft": 0.3048}
# a row that was set aside: its place in the batch and in its layer, why, and its own columns as they came, by name
ASIDE: tuple[str, ...] = ("source_row", "layer", "row", "id", "reason_code", "reason", "columns", "geometry")


@dataclass(frozen=True)
class Options:
    """How one layer is read: the command line's options, and what a profile says of that layer.

    ``mapping`` says which column holds which key; ``default_width_m`` (metres) stands in where a width is absent;
    ``constants`` stand for all rows under keys that no column is mapped to (``permit``, ``status``, ``service``, ``level``);
    ``absent`` are the texts that say "not informed" under a key; ``statuses`` are the file's own words for a status;
    ``unit`` is what one unit of the file's coordinates is, for drawings in millimetres or feet (0.3048 m);
    ``length_precision_m`` and ``duplicate_stretch`` are policies of the workspace.
    """

    operator: str | None = None
    crs: str | None = None
    default_width_m: Decimal | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    unit: str = "m"
    constants: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, frozenset[str]] = field(default_factory=dict)
    statuses: Mapping[str, str] = field(default_factory=dict)
    duplicate_stretch: Literal["set_aside", "bill"] = "set_aside"
    length_precision_m: Decimal = Decimal("0.01")


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
    ``aside`` holds the rows that were set aside, in the order of ``set_aside``, by `ASIDE`. ``length_m`` is the sum of
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
