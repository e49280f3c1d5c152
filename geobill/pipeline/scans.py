"""Scans of signed papers, as they go into the archive."""

from pathlib import Path

from geobill.errors import InputError

MAX_MB = 25
_FIRST_BYTES = {"PDF": b"%PDF-", "PNG": b"\x89PNG\r\n\x1a\n", "JPEG": b"\xff\xd8\xff"}


def read_scan(path: Path) -> bytes:
    """Return the bytes of a scanned paper: a PDF, PNG or JPEG, told by its first bytes and not by its name.

    Raises
    ------
    InputError
        If it can't be read, is of another form, or has more than ``MAX_MB`` (10⁶ bytes each): the archive only grows.
    """
    try:
        size = path.stat().st_size
        content = path.read_bytes() if size <= MAX_MB * 10**6 else b""
    except OSError as fault:
        raise InputError(f"The scan {path} can't be read: {fault.strerror}. Nothing was recorded.") from None
    if size > MAX_MB * 10**6:
        raise InputError(
            f"The scan {path} has {size / 10**6:.1f} MB, more than the {MAX_MB} MB that are kept of one paper, for ever. Nothing was "
            "recorded. Scan it with fewer dots an inch, or in grey."
        )
    if not content.startswith(tuple(_FIRST_BYTES.values())):
        raise InputError(
            f"The scan {path} is none of {', '.join(_FIRST_BYTES)} by its first bytes, and might not open when somebody asks for the "
            "paper in years. Nothing was recorded. Give the paper itself, scanned."
        )
    return content
