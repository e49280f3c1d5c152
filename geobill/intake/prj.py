"""What a .prj says: well-known text of any dialect and encoding, and what people put there instead of it."""

import codecs
import re

from pyproj import CRS
from pyproj.exceptions import CRSError

from geobill.intake.crs import plane

LARGEST = 65_536  # bytes; a longer one is something else


def read_prj(content: bytes) -> CRS | None:
    """Read the system that a .prj names; None where it names none that can be understood.

    The file library guesses a code from the names and drops the datum shift that the text may bring, so the text itself is
    read: WKT 1 and 2 (GDAL's and ESRI's), PROJJSON, a PROJ string, ``EPSG:31983`` or the bare code.
    """
    if len(content) > LARGEST:
        return None
    text = _decoded(content)
    code = re.fullmatch(r"(?:\+?init=)?(?:EPSG:+)?(\d{4,6})", text, re.ASCII | re.IGNORECASE)
    if not code and not re.match(r"[A-Z]{5,}[A-Z0-9_]*\s*[\[(]|\{|\+proj=", text, re.ASCII | re.IGNORECASE):
        return None
    if re.search(r"init=|grids=(?!@null)", text) and not code:  # names of files, which a file doesn't get to open
        return None
    try:
        return plane(CRS.from_epsg(int(code[1])) if code else CRS.from_user_input(text))
    except CRSError:
        return None


def _decoded(content: bytes) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = content.decode("utf-16", "replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("cp1252", "replace")
    return text.replace("\0", "").strip()
