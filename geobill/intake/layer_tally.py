"""All that is counted of one layer while its rows pass by: shapes, columns, ids, lengths."""

from collections.abc import Sequence
from dataclasses import replace

import geopandas as gpd
import numpy as np
import pandas as pd
from pyproj import CRS

from geobill.domain.finding import Finding
from geobill.domain.network import Municipality
from geobill.intake.column_tally import ColumnTally, Repeats, Widths
from geobill.intake.declared import DIFFERS, declared_unit, differing
from geobill.intake.profile import Profile, Proposal, propose
from geobill.intake.shape_tally import ShapeTally
from geobill.intake.shapes import Shapes, join_shapes, shape_findings
from geobill.intake.value_columns import read_numbers


class LayerTally:
    """All that is counted of one layer."""

    def __init__(
        self,
        name: str,
        crs: CRS | None,
        municipality: Municipality,
        profiles: Sequence[Profile],
        known: Profile | None = None,
    ):
        self.name, self.crs, self._profiles, self._known = name, crs, profiles, known
        self.shapes = ShapeTally(crs, municipality)
        self.columns: dict[str, ColumnTally] = {}
        self.proposal: Proposal | None = None
        self.wide: list[str] = []
        self._built: list[Shapes] = []
        self._repeats, self._widths = Repeats(), Widths()
        self._lengths: list[tuple[np.ndarray, np.ndarray]] = []  # declared, drawn

    def add(self, frame: gpd.GeoDataFrame, shapes: Shapes) -> None:
        """Count the next rows."""
        names = [str(c) for c in frame.columns if c != "geometry"]
        number = frame.index.to_numpy() + 1
        self._built.append(replace(shapes, geometry=None))
        first = not self.columns
        drawn = self.shapes.add(frame.geometry.to_numpy(), np.isin(number, list(shapes.unbuilt)))
        for name in names:
            column = self.columns.setdefault(name, ColumnTally(name))
            column.add(frame[name])
            if column.holds_wide_numbers and name not in self.wide:
                self.wide.append(name)
        if first:
            self.proposal = propose(self.name, names, self._profiles, self.shapes.shape(), self._known)
        if self._id_column is not None:
            self._repeats.add(frame[self._id_column], number)
        width = self._proposed("width")
        if width is not None:
            self._widths.add(frame[width], number)
        declared = self._proposed("declared_length")
        if declared is not None:
            self._lengths.append((_numbers(frame[declared]), drawn))

    def _proposed(self, key: str) -> str | None:
        """Column that is proposed for a key."""
        return self.proposal.mapping.get(key) if self.proposal else None

    @property
    def has_widths(self) -> bool:
        """Whether every row has a width in the column that is proposed for it."""
        column = self._proposed("width")
        return column is not None and self.columns[column].is_full

    @property
    def _id_column(self) -> str | None:
        return self._proposed("segment") or self._proposed("equipment")

    def findings(self) -> list[Finding]:
        """Say what an import would find in the rows."""
        found = []
        if not self.shapes.rows:
            found.append(Finding("no_rows", "warning", f"Layer {self.name} has no rows.", "Was the export finished?"))
        found += [*shape_findings(join_shapes(self._built)), *self.shapes.findings(self.name)]
        rows = tuple(self._repeats.rows().tolist())
        if rows:
            message = f"{len(rows)} rows share their {self._id_column} with another row: they can't be told apart."
            found.append(Finding("duplicate_id", "warning", message, "Ask for ids that are unique.", rows=rows))
        return [*found, *self._width_findings(), *self._declared()]

    def _width_findings(self) -> list[Finding]:
        """Say which rows have no width that can be read."""
        column, found = self._proposed("width"), []
        blank, unreadable, example = self._widths.faults()
        if blank:
            message = f"{len(blank)} row(s) have no width in {column}: set aside unless --default-width."
            fix = "Ask the operator for the widths."
            found.append(Finding("width_missing", "warning", message, fix, rows=blank))
        if unreadable:
            message = f"{len(unreadable)} row(s) have a width in {column} that can't be read: set aside. {example}"
            fix = "Ask the operator for figures in metres."
            found.append(Finding("number_unreadable", "warning", message, fix, rows=unreadable))
        return found

    def _declared(self) -> list[Finding]:
        """Say where the lengths that are declared aren't those that are drawn, where both are known."""
        if not self._lengths or self.shapes.elsewhere:
            return []
        declared, drawn = (np.concatenate(side) for side in zip(*self._lengths, strict=True))
        both = (declared > 0) & (drawn > 0)
        column, found = self._proposed("declared_length"), []
        unit = declared_unit(declared[both] / drawn[both])
        if unit is not None:
            message = f"{column} holds lengths in {unit.name}, as it seems, and not in metres."
            fix = "Ask the operator for metres, or name the unit of declared_length in a profile."
            found.append(Finding("declared_length_unit", "warning", message, fix))
            declared = declared / unit.per_metre
        off = both.copy()
        off[both] = differing(declared[both], drawn[both])
        rows = tuple((np.flatnonzero(off) + 1).tolist())
        if rows:
            message = (
                f"{len(rows)} of {int(both.sum())} row(s) declare a length in {column} more than {DIFFERS:.0%} off the drawn "
                f"one: {declared[off].sum():.2f} m for {drawn[off].sum():.2f} m drawn."
            )
            fix = "The drawn length is charged, unless the policy says otherwise: ask the operator which is right."
            found.append(Finding("declared_length_differs", "warning", message, fix, rows=rows))
        return found


def _numbers(values: pd.Series) -> np.ndarray:
    """Numbers of a column for a comparison, NaN where there is none."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values.to_numpy(dtype=float, na_value=np.nan)
    read = read_numbers(values, str(values.name)).values
    return np.array([np.nan if v is None else float(v) for v in read], dtype=float)
