"""What every file format answers: which files belong together, whether they are whole, and how their text is encoded."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyogrio
from pyproj import CRS

from geobill.domain.finding import Finding
from geobill.errors import InputError


class Format:
    """One file format. A new one is a module beside this with a subclass, plus its line in ``FORMATS``."""

    name: ClassVar[str] = ""
    suffixes: ClassVar[tuple[str, ...]] = ()
    driver: ClassVar[str] = ""
    open_options: ClassVar[Mapping[str, str]] = {}
    fid_is_column: ClassVar[bool] = False  # the key column is a column that people see and map
    reads_itself: ClassVar[bool] = False  # by `read_table`: the file library can't

    def parts(self, path: Path) -> tuple[Path, ...]:
        """Files that make up the data, in a fixed order, the named one among them."""
        return (path,)

    def check(self, path: Path) -> None:
        """Raise InputError where the bytes show that the file is broken or cut short."""

    def layers(self, path: Path) -> list[tuple[str, bool]]:
        """Name each layer, and say whether it has geometry."""
        return [(str(name), kind is not None) for name, kind in pyogrio.list_layers(path)]

    def read_table(self, path: Path, layer: str) -> tuple[pa.Table, np.ndarray, str | None]:
        """Read a layer's columns, its geometry as well-known binary and its system, where ``reads_itself``."""
        raise NotImplementedError(f"{self.name} is read by the file library")

    def encoding(self, path: Path) -> tuple[str, tuple[Finding, ...]]:
        """Find the encoding of the text, and what should be said about how it was found out."""
        return "UTF-8", ()

    def crs(self, path: Path, declared: CRS | None) -> tuple[CRS | None, tuple[Finding, ...]]:
        """Coordinate system that the file itself declares; ``declared`` is what the library made of it."""
        return declared, ()

    def exact_numbers(self, path: Path, names: list[str], rows: int) -> dict[str, list[str | None]]:
        """Digits as the file writes them, for columns whose whole numbers a float can't hold; {} where unknown."""
        return {}


def broken(path: Path, what: str) -> InputError:
    """Build the one sentence for a file that can't be trusted to be whole."""
    return InputError(
        f"{path.name} is broken: {what}. Part of the network would be missing from the bill without anybody noticing: "
        "ask for the file again, or copy it again with everything that belongs to it."
    )
