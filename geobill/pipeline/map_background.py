"""What lies under the review page's map: a folder of tiles ``{z}/{x}/{y}`` or a PMTiles file of images, brought by whoever serves."""

import struct
from dataclasses import dataclass
from pathlib import Path

from geobill.errors import InputError

IMAGES: dict[str, str] = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
}  # by how a tile's name ends
MOST_ZOOM = 24
# PMTiles version 3, header: the kind of tile at byte 99 (2 PNG, 3 JPEG, 4 WebP, 5 AVIF; 1 is vector), least and greatest zoom behind
MAGIC, HEADER_BYTES, KIND_AT = b"PMTiles\x03", 127, 99
KINDS_OF_IMAGES = frozenset({2, 3, 4, 5})


@dataclass(frozen=True)
class Background:
    """Tiles that lie under the map: in one file, or in a folder."""

    path: Path
    min_zoom: int
    max_zoom: int

    @property
    def is_file(self) -> bool:
        """Say whether it is a PMTiles file."""
        return self.path.is_file()


def read_background(path: Path) -> Background:
    """Look at what was given as background.

    Raises
    ------
    InputError
        If it isn't there, holds no tiles of the form ``{z}/{x}/{y}.png`` (``.jpg``, ``.webp``), or is no PMTiles file of images.
    """
    if path.is_dir():
        zooms = sorted(
            int(p.name) for p in path.iterdir() if _is_number(p.name) and int(p.name) <= MOST_ZOOM and p.is_dir()
        )
        if not zooms:
            raise InputError(
                f"--background {path} holds no folder of a zoom level: the map asks for {{z}}/{{x}}/{{y}}.png (or .jpg, .webp), y "
                "counted from the north. Name the folder that holds the folders 0, 1, 2 … (gdal2tiles --xyz makes such a one)."
            )
        return Background(path, zooms[0], zooms[-1])
    if not path.is_file():
        raise InputError(
            f"--background {path} is not there. Name a folder of tiles or a .pmtiles file, or leave it out."
        )
    with path.open("rb") as file:
        header = file.read(HEADER_BYTES)
    if not header.startswith(MAGIC) or len(header) < HEADER_BYTES:
        raise InputError(
            f"--background {path} is neither a folder of tiles nor a PMTiles file (version 3). Name one of these, or leave it out."
        )
    kind, low, high = struct.unpack_from("<BBB", header, KIND_AT)
    if kind not in KINDS_OF_IMAGES:
        raise InputError(
            f"--background {path} holds vector tiles, which need a style of their own: the map shows images. Give PMTiles of PNG, "
            "JPEG or WebP (gdal_translate to MBTiles, then pmtiles convert)."
        )
    return Background(path, low, high)


def find_tile(folder: Path, z: int, x: int, y: int) -> tuple[Path, str] | None:
    """Return a tile of a folder with its type of content; None where there is none, or where it leads out of the folder."""
    if not (0 <= z <= MOST_ZOOM and 0 <= x < 2**z and 0 <= y < 2**z):
        return None
    root = folder.resolve()
    for ending, kind in IMAGES.items():
        path = (root / str(z) / str(x) / f"{y}{ending}").resolve()
        if path.is_relative_to(root) and path.is_file():
            return path, kind
    return None


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit()
