"""What the geometries of a layer are and where they lie, counted batch by batch in bounded memory."""

from collections.abc import Mapping
from decimal import Decimal

import geopandas as gpd
import numpy as np
import shapely
from pyproj import CRS, Proj

from geobill.domain.finding import Finding
from geobill.domain.money import plain
from geobill.domain.network import Municipality
from geobill.frames import whole_units
from geobill.intake.checks import STRAY_M
from geobill.intake.crs import best_operation, same_system, transform
from geobill.intake.ground import inside, reach_beyond
from geobill.intake.lines import open_lines
from geobill.intake.reading import Options

_COLLECTION = shapely.GeometryType.GEOMETRYCOLLECTION.value
PRECISION_M = Options().length_precision_m
SAMPLED = 15_000  # geometries kept at most twice as many, evenly over the layer
_NAMES = {
    -1: None, 0: "Point", 1: "LineString", 2: "LinearRing", 3: "Polygon", 4: "MultiPoint", 5: "MultiLineString",
    6: "MultiPolygon", 7: "GeometryCollection",
}  # fmt: skip
_KINDS = {"points": (0, 4), "lines": (1, 2, 5), "polygons": (3, 6)}
_ASK = "They are set aside at import: ask the sender for them."
# code: severity, what is said of n rows, what to do
_ROWS: Mapping[str, tuple[str, str, str]] = {
    "no_geometry": ("warning", "row(s) have no geometry, so no place and no length.", _ASK),
    "invalid_geometry": (
        "warning", "row(s) have a coordinate that is no number, or infinite: nobody knows where they lie.", _ASK
    ),
    "zero_length": ("warning", "line(s) have no length.", _ASK),
    "invalid_polygon": (
        "warning", "polygon(s) are invalid (crossing edges).",
        "They are repaired at import and the change of area reported; better, repair them at the source.",
    ),
}  # fmt: skip


class Sample:
    """Geometries taken evenly over a layer whose length isn't known: one in ``one_in``."""

    def __init__(self, most: int = SAMPLED):
        self.one_in = 1
        self._most, self._seen = most, 0
        self._kept: list[np.ndarray] = []

    def add(self, geometry: np.ndarray) -> None:
        """Look at the next rows."""
        first = -self._seen % self.one_in
        self._kept.append(geometry[first :: self.one_in].copy())  # a view would keep all of the rows
        self._seen += len(geometry)
        while sum(map(len, self._kept)) > 2 * self._most:
            self._kept = [self.geometry[::2].copy()]
            self.one_in *= 2

    @property
    def geometry(self) -> np.ndarray:
        """What was taken so far."""
        return np.concatenate(self._kept) if self._kept else np.array([], dtype=object)

    def frame(self) -> gpd.GeoDataFrame:
        """Return the sample as a frame without a system."""
        return gpd.GeoDataFrame(geometry=gpd.GeoSeries(self.geometry))


class ShapeTally:
    """Kinds, bounds, lengths and faults of a layer's geometries, in its own system and in the workspace's."""

    def __init__(self, crs: CRS | None, municipality: Municipality):
        self._municipality = municipality
        target = CRS.from_user_input(municipality.crs)
        self._same = crs is not None and same_system(crs, target)
        self._operation = None if crs is None or self._same else best_operation(crs, municipality)
        self._own_metres = crs is not None and crs.is_projected and _metres(crs)
        self._degrees = crs if crs is not None and crs.is_geographic else None
        self._zone: Proj | None = None  # UTM where a layer in degrees lies, if that is elsewhere
        self.sample = Sample()
        self.rows = self.located = self.outside = 0
        self._types = np.zeros(8, dtype=np.int64)
        self._kind: list[np.ndarray] = []  # a byte for each row
        self._bounds = np.array([np.inf, np.inf, -np.inf, -np.inf])
        self._units = self._own_units = 0
        self._nowhere = False  # whether a line's coordinates are no place in the layer's own system
        self._faults: dict[str, list[np.ndarray]] = {}
        self._reach_m = 0.0
        self.has_heights = False

    @property
    def carries(self) -> bool:
        """Whether the layer's system is known and leads to the workspace's."""
        return self._same or self._operation is not None

    def add(self, geometry: np.ndarray, unbuilt: np.ndarray) -> np.ndarray:
        """Count the next rows; ``unbuilt`` marks those whose geometry couldn't be built, which are told elsewhere.

        Returns
        -------
        numpy.ndarray of float
            Plan length of each line in the workspace's system, in metres; NaN where there is none.
        """
        number = np.arange(self.rows + 1, self.rows + len(geometry) + 1)
        self.rows += len(geometry)
        self.has_heights |= bool((shapely.has_z(geometry) | shapely.has_m(geometry)).any())
        drawn = shapely.force_2d(geometry) if self.has_heights else geometry
        types = shapely.get_type_id(drawn)
        self._types += np.bincount(types[types >= 0], minlength=8)
        if (types == _COLLECTION).any():  # an import reads those of lines alone as lines
            drawn = drawn.copy()
            open_lines(drawn, np.ones(len(drawn), dtype=bool))
            types = shapely.get_type_id(drawn)
        self._kind.append(types.astype(np.int8))
        missing = (types < 0) | shapely.is_empty(drawn)
        bounds = shapely.bounds(drawn)
        finite = _all_finite(drawn, len(drawn))
        self._note("no_geometry", number[missing & ~unbuilt])
        self._note("invalid_geometry", number[~missing & ~finite])
        polygons = np.isin(types, _KINDS["polygons"]) & ~missing & finite
        self._note("invalid_polygon", number[polygons][~shapely.is_valid(drawn[polygons])])
        sound = ~missing & finite
        if sound.any():
            low, high = bounds[sound, :2].min(axis=0), bounds[sound, 2:].max(axis=0)
            self._bounds = np.r_[np.minimum(self._bounds[:2], low), np.maximum(self._bounds[2:], high)]
        self.sample.add(drawn[sound])
        self.located += int(sound.sum())
        return self._measure(drawn, number, sound, np.isin(types, _KINDS["lines"]) & sound)

    def _measure(self, drawn: np.ndarray, number: np.ndarray, sound: np.ndarray, lines: np.ndarray) -> np.ndarray:
        lengths = np.full(len(drawn), np.nan)
        own = shapely.length(drawn[lines])
        if self._own_metres:
            self._own_units += int(whole_units(own, PRECISION_M).sum())
        if not self.carries:
            self._note("zero_length", number[lines][own == 0])
            return lengths
        there = drawn if self._operation is None else transform(drawn, self._operation.transformer)
        lengths[lines] = shapely.length(there[lines])
        known = np.isfinite(lengths)
        units = whole_units(np.where(known, np.minimum(lengths, 1e9), 0), PRECISION_M)
        self._units += int(units.sum())
        self._note("zero_length", number[known & (units == 0)])
        outside = sound & ~inside(there, self._municipality)
        if self._degrees is not None and lines.any() and outside.sum() * 2 > sound.sum():
            spot = shapely.length(self._on_the_spot(drawn[lines]))
            placed = np.isfinite(spot)
            self._nowhere = self._nowhere or not placed.all()
            self._own_units += int(whole_units(np.where(placed, spot, 0), PRECISION_M).sum())
        elif self._degrees is not None:
            self._own_units += int(units.sum())
        beyond = np.where(sound, reach_beyond(there, self._municipality), 0)
        self.outside += int(outside.sum())
        self._note("outside_municipality", number[outside | (beyond > STRAY_M)])
        reaching = ~outside & (beyond > 0) & (beyond <= STRAY_M)
        self._note("reaches_outside", number[reaching])
        self._reach_m = max(self._reach_m, float(beyond[reaching].max(initial=0)))
        return lengths

    def _on_the_spot(self, lines: np.ndarray) -> np.ndarray:
        """Draw lines in degrees in the UTM zone in which the first of them lies, so that they can be measured."""
        assert self._degrees is not None
        if self._zone is None:
            lon, lat, *_ = shapely.bounds(lines[0])
            shape = self._degrees.ellipsoid
            zone = {"proj": "utm", "zone": min(max(int((lon + 180) // 6) + 1, 1), 60), "south": bool(lat < 0)}
            self._zone = Proj({**zone, "a": shape.semi_major_metre, "rf": shape.inverse_flattening})
        return shapely.transform(lines, self._zone, interleaved=False)

    def _note(self, code: str, rows: np.ndarray) -> None:
        if len(rows):
            self._faults.setdefault(code, []).append(rows)

    # -- what came of it

    @property
    def elsewhere(self) -> bool:
        """Whether most of it lies outside the municipality: then its system is doubtful, not its rows."""
        return self.outside * 2 > self.located

    def types(self) -> dict[str, int]:
        """Return how many rows are of each geometry type, the most frequent first."""
        order = np.argsort(-self._types, kind="stable")
        return {str(_NAMES[int(t)]): int(self._types[t]) for t in order if self._types[t]}

    def shape(self) -> str | None:
        """Return what most rows are: lines, points or polygons; None where there is nothing."""
        counts = {kind: int(self._types[list(ids)].sum()) for kind, ids in _KINDS.items()}
        most = max(counts, key=lambda kind: counts[kind])
        return most if counts[most] else None

    def bounds(self) -> list[float] | None:
        """Return (minx, miny, maxx, maxy) in the layer's own system; None where nothing has a place."""
        return [float(b) for b in self._bounds] if self.located else None

    def length(self) -> str | None:
        """Return the plan length of all lines in metres, each rounded once; None where it can't be known."""
        if self.carries and not self.elsewhere:
            return _text(self._units)
        if self._nowhere:
            return None
        if self._own_metres or self._degrees is not None:
            return _text(self._own_units)
        return _text(self._units) if self.carries else None

    def findings(self, layer: str) -> list[Finding]:
        """Say which rows an import would set aside, or repair, for their geometry."""
        found = []
        for code, (severity, what, fix) in _ROWS.items():
            found += self._finding(code, severity, what, fix, layer)
        if self.has_heights:
            message = "Heights or measures along the line are left out: lengths are those of the plan."
            found.append(Finding("heights_dropped", "note", message, layer=layer))
        return [*found, *self._other_kinds(layer), *([] if self.elsewhere else self._beyond(layer))]

    def _beyond(self, layer: str) -> list[Finding]:
        m = self._municipality
        what = f"row(s) lie wholly outside {m.name} and {m.margin_m:g} m around it, or have a vertex far astray."
        fix = (
            "They are set aside at import: nothing is due for them here. Correct those that belong to the municipality."
        )
        reach = f"row(s) reach beyond {m.name}, by up to {self._reach_m:,.0f} m; all their metres count in R."
        cut = "Cut them at the municipality's border if what lies beyond isn't in its streets."
        return [
            *self._finding("outside_municipality", "warning", what, fix, layer),
            *self._finding("reaches_outside", "warning", reach, cut, layer),
        ]

    def _other_kinds(self, layer: str) -> list[Finding]:
        """Say which rows aren't of the kind that most are; in a layer of lines they can't be charged as network."""
        shape, kinds = self.shape(), np.concatenate(self._kind) if self._kind else np.array([], dtype=np.int8)
        if shape is None:
            return []
        others = (kinds >= 0) & ~np.isin(kinds, _KINDS[shape])
        if not others.any():
            return []
        rows = tuple((np.flatnonzero(others) + 1).tolist())
        said = ", ".join(sorted({str(_NAMES[int(k)]) for k in np.unique(kinds[others])}))
        message = f"{len(rows)} row(s) are {said}, where the layer's others are {shape}."
        fix = f"An import of {shape} sets them aside: import them apart, or ask for their axis as lines."
        return [Finding("wrong_geometry_type", "warning", message, fix, layer, rows)]

    def _finding(self, code: str, severity: str, what: str, fix: str, layer: str) -> list[Finding]:
        rows = self._faults.get(code)
        if not rows:
            return []
        numbers = tuple(np.concatenate(rows).tolist())
        return [Finding(code, severity, f"{len(numbers)} {what}", fix, layer, numbers)]  # type: ignore[arg-type]


def _text(units: int) -> str:
    return plain(Decimal(units) * PRECISION_M)


def _metres(crs: CRS) -> bool:
    return all(axis.unit_conversion_factor == 1 for axis in crs.axis_info[:2])


def _all_finite(geometry: np.ndarray, rows: int) -> np.ndarray:
    """Whether every coordinate of each row is a finite number; True where there are none."""
    xy, row = shapely.get_coordinates(geometry, return_index=True)
    finite = np.ones(rows, dtype=bool)
    finite[row[~np.isfinite(xy).all(axis=1)]] = False
    return finite
