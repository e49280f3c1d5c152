"""What a user asks of an import, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

import geopandas as gpd

from geobill.domain.finding import CrsUse, Finding, SetAside

UNITS_M = {"m": 1.0, "mm": 0.001, "ft": 0.3048}


@dataclass(frozen=True)
class Options:
    """The command line's options for one file.

    ``mapping`` says which column holds which key; ``default_width_m`` (metres) stands in where a width is absent;
    ``permit`` and ``status`` stand for all rows where the file has no column for them; ``unit`` is what one unit
    of the file's coordinates is, for drawings in millimetres or feet (0.3048 m);
    ``length_precision_m`` and ``duplicate_stretch`` are policies of the workspace.
    """

    operator: str | None = None
    crs: str | None = None
    default_width_m: Decimal | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    unit: str = "m"
    permit: str | None = None
    status: str | None = None
    duplicate_stretch: Literal["set_aside", "bill"] = "set_aside"
    length_precision_m: Decimal = Decimal("0.01")


@dataclass(frozen=True)
class Reading:
    """One file, row by row: ``read = len(accepted) + len(set_aside)``.

    ``accepted`` follows a column contract of `geobill.frames`, in the workspace's system. ``length_m`` is the sum of
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
