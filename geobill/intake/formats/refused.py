"""Formats that people send and geobill doesn't read, each with the way to a file that it reads."""

import re
from dataclasses import dataclass

_OLE = rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the container of old office programs
_SEND = "send the network as GeoPackage, Shapefile, File Geodatabase or DXF"


@dataclass(frozen=True)
class RefusedFormat:
    """A format by its suffixes and, where it has one, the mark that its bytes begin with; ``way_out`` is what to do."""

    name: str
    suffixes: tuple[str, ...]
    way_out: str
    mark: re.Pattern[bytes] | None = None


def _mark(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern, re.DOTALL)


REFUSED: tuple[RefusedFormat, ...] = (
    RefusedFormat(
        "AutoCAD DWG", (".dwg",),
        "Make a DXF of it. AutoCAD: Save As, type 'AutoCAD 2000/LT2000 DXF' or later, as ASCII text. Without AutoCAD: ODA File "
        "Converter (output '2000 ASCII DXF'), or LibreCAD (Save As, DXF 2000). QGIS: Project, Import/Export, Import Layers "
        "from DWG/DXF, then save the layers as GeoPackage. Ask the sender for the drawing's unit and coordinate system",
        _mark(rb"AC(10\d\d|1\.\d|2\.\d)"),
    ),
    RefusedFormat("Excel 97-2003", (".xls",), "Open it in Excel or LibreOffice and save it as .xlsx", _mark(_OLE)),
    RefusedFormat(
        "MicroStation DGN", (".dgn",),
        "MicroStation: File, Save As, DXF (ASCII, 2000 or later), and ask for the drawing's unit and coordinate system",
        _mark(rb"(\x08\x05\x17\x00|[\x08\xc8]\x09\xfe\x02|" + _OLE + rb")"),
    ),
    RefusedFormat("Autodesk DWF", (".dwf", ".dwfx"), "It is a print, not the drawing: ask for the DWG's DXF", _mark(rb"\(DWF V")),
    RefusedFormat(
        "PDF", (".pdf",), f"A PDF is paper: it has no coordinates that hold. Ask the operator to {_SEND}", _mark(rb"\s*%PDF-")
    ),
    RefusedFormat("RAR archive", (".rar",), "Unpack it (7-Zip does) and pack the files as .zip", _mark(rb"Rar!\x1a\x07")),
    RefusedFormat("7z archive", (".7z",), "Unpack it with 7-Zip and pack the files as .zip", _mark(rb"7z\xbc\xaf\x27\x1c")),
    RefusedFormat(
        "compressed archive (tar, gzip, bzip2, xz)", (".gz", ".tgz", ".tar", ".bz2", ".xz", ".zst"),
        "Unpack it (7-Zip does) and pack the files as .zip", _mark(rb"(\x1f\x8b|BZh\d|\xfd7zXZ|\x28\xb5\x2f\xfd|.{257}ustar)"),
    ),
    RefusedFormat(
        "text document", (".doc", ".docx", ".odt", ".rtf"), f"A document is no map: ask the operator to {_SEND}",
        _mark(rb"(\{\\rtf|PK\x03\x04.{26}mimetypeapplication/vnd\.oasis\.opendocument\.text)"),
    ),
    RefusedFormat(
        "Access or Personal Geodatabase", (".mdb", ".accdb"),
        "Open it in ArcGIS and export its layers as a File Geodatabase or GeoPackage",
        _mark(rb"\x00\x01\x00\x00Standard (Jet|ACE) DB"),
    ),
    RefusedFormat(
        "OpenStreetMap", (".pbf", ".osm"), "Open it in QGIS, choose the lines of the network and save them as GeoPackage",
        _mark(rb"\x00\x00\x00.\x0a\x09OSMHeader"),
    ),
    RefusedFormat("GPX", (".gpx",), "Open it in QGIS and save its tracks as GeoPackage"),
    RefusedFormat("ArcInfo exchange file", (".e00",), "Open it in QGIS and save its layers as GeoPackage"),
    RefusedFormat(
        "project of QGIS or ArcGIS", (".qgz", ".qgs", ".mxd", ".aprx", ".lyr", ".lyrx", ".mpk", ".lpk", ".vrt"),
        "A project only points to the files with the data: send those",
    ),
    RefusedFormat(
        "picture", (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".jp2", ".ecw", ".sid", ".img", ".webp"),
        f"A picture has no lines that can be measured: ask the operator to {_SEND}",
        _mark(rb"(\x89PNG|\xff\xd8\xff|GIF8|BM.{4}\x00\x00\x00\x00|II\*\x00|MM\x00\*|II\+\x00|\x00\x00\x00\x0cjP  |RIFF.{4}WEBP)"),
    ),
    RefusedFormat(
        "web page", (".html", ".htm"),
        "The download failed and a page was saved in the file's place (a login, an error): download it again, signed in",
        _mark(rb"(?i)(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?(<!--.{0,500}-->\s*)?(<!doctype\s+html|<html)"),
    ),
)  # fmt: skip


def by_suffix(suffix: str) -> RefusedFormat | None:
    """Find the format that a suffix (lower case, with its point) stands for."""
    return next((r for r in REFUSED if suffix in r.suffixes), None)


def by_mark(head: bytes, suffix: str) -> RefusedFormat | None:
    """Find the format that a file's first bytes show; the one of its suffix first, where several share a mark."""
    marked = [r for r in REFUSED if r.mark is not None and r.mark.match(head)]
    return next((r for r in marked if suffix in r.suffixes), marked[0] if marked else None)
