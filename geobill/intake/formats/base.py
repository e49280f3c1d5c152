"""What every file format answers: which files belong together, whether they are whole, and how their text is encoded."""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyogrio
from pyproj import CRS

from geobill.domain.finding import Finding
from geobill.errors import InputError
from geobill.intake.text import Texts


class Format:
    """One file format. A new one is a module beside this with a subclass, plus its line in ``FORMATS``."""

    name: ClassVar[str] = ""
    suffixes: ClassVar[tuple[str, ...]] = ()
    driver: ClassVar[str] = ""
    open_options: ClassVar[Mapping[str, str]] = {}
    fid_is_column: ClassVar[bool] = False  # the key column is a column that people see and map
    reads_itself: ClassVar[bool] = False  # by `read_table`: the file library can't
    encodes: ClassVar[bool] = False  # its text may be in one of several encodings: --encoding chooses
    drawn_as: ClassVar[str | None] = None  # the column that says what a row was drawn as, for the reason it isn't taken
    mark: ClassVar[re.Pattern[bytes] | None] = None  # what only files of this format begin with
    reads: ClassVar[str] = ""  # what is read of it and what isn't, for `geobill formats`
    leaves_out: ClassVar[str] = ""

    def parts(self, path: Path) -> tuple[Path, ...]:
        """Files that make up the data, in a fixed order, the named one among them."""
        return (path,)

    def check(self, path: Path) -> None:
        """Raise InputError where the bytes show that the file is broken or cut short."""

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether a file's first bytes show that it is of this format, whatever it is called."""
        return self.mark is not None and self.mark.match(head) is not None

    def fitted(self, path: Path, folder: Callable[[], Path]) -> Path:
        """Return the file as the library reads it right: itself, or a copy in a new ``folder`` where it says too little."""
        return path

    def unit(self, path: Path) -> str | None:
        """Return what ``--unit`` would say of the unit that a drawing's header names; None where it names none of those."""
        return None

    def remarks(self, path: Path) -> tuple[Finding, ...]:
        """Say what a person should know about the data as a whole, whichever layer is read."""
        return ()

    def layers(self, path: Path) -> list[tuple[str, bool]]:
        """Name each layer, and say whether it has geometry."""
        return [(str(name), kind is not None) for name, kind in pyogrio.list_layers(path)]

    def promised(self, path: Path, layer: str) -> int | None:
        """Rows that the file says it has, where the library ends without a word if fewer can be read."""
        return None

    def read_table(self, path: Path, layer: str) -> tuple[pa.Table, np.ndarray, str | None]:
        """Read a layer's columns, its geometry as well-known binary and its system, where ``reads_itself``."""
        raise NotImplementedError(f"{self.name} is read by the file library")

    def iter_tables(self, path: Path, layer: str, rows: int) -> Iterator[tuple[pa.Table, np.ndarray, str | None]]:
        """Read as `read_table`, some ``rows`` at a time where the format can; at least one table comes."""
        yield self.read_table(path, layer)

    def iter_encoded(
        self, path: Path, layer: str, encoding: str, rows: int
    ) -> Iterator[tuple[pa.Table, np.ndarray | None, str | None]]:
        """Read as `iter_tables`, with text in an encoding where the format ``encodes``."""
        yield from self.iter_tables(path, layer, rows)

    def texts(self, path: Path) -> Texts | None:
        """Text as bytes, to find its encoding; None where the format leaves no choice."""
        return None

    def encoding(self, path: Path) -> tuple[str, tuple[Finding, ...]]:
        """Find the encoding of the text, and what should be said about how it was found out."""
        return "UTF-8", ()

    def library_encoding(self, path: Path, encoding: str) -> str:
        """Name of the encoding as the file library is to read it: itself, or Latin-1 where it must be read byte for byte."""
        return encoding

    def crs(self, path: Path, declared: CRS | None) -> tuple[CRS | None, tuple[Finding, ...]]:
        """Coordinate system that the file itself declares; ``declared`` is what the library made of it."""
        return declared, ()

    def findings(self, path: Path, layer: str) -> tuple[Finding, ...]:
        """Say what should be known about one layer before any of its rows is looked at."""
        return ()

    def encoded_findings(self, path: Path, layer: str, encoding: str) -> tuple[Finding, ...]:
        """Return `findings`, where the format ``encodes`` with its text in an encoding."""
        return self.findings(path, layer)

    def exact_numbers(self, path: Path, names: list[str], rows: int) -> dict[str, list[str | None]]:
        """Digits as the file writes them, for columns whose whole numbers a float can't hold; {} where unknown."""
        return {}


def broken(path: Path, what: str) -> InputError:
    """Build the one sentence for a file that can't be trusted to be whole."""
    return InputError(
        f"{path.name} is broken: {what}. Part of the network would be missing from the bill without anybody noticing: "
        "ask for the file again, or copy it again with everything that belongs to it."
    )


def link(part: Path, to: Path) -> None:
    """Give a file or folder a second name; a copy where the system makes no links for this user, as on Windows."""
    try:
        to.symlink_to(part.resolve(), target_is_directory=part.is_dir())
    except OSError:
        (shutil.copytree if part.is_dir() else shutil.copyfile)(part, to)
