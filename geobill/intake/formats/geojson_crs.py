"""The ``crs`` member of older GeoJSON in all its forms, and what in a GeoJSON could make GDAL open something else.

Reference: GeoJSON 2008, 3 "Coordinate Reference System Objects" (name, link, null); RFC 7946 has none.
"""

import json
import re
from functools import lru_cache
from typing import Any

from pyproj import CRS
from pyproj.database import query_crs_info
from pyproj.enums import PJType
from pyproj.exceptions import CRSError

from geobill.domain.finding import Finding

_EPSG = re.compile(r"epsg[^0-9]*(?:[0-9.]+[:/])?(\d{4,6})(?!\d)", re.IGNORECASE)
_STRING = rb'"(?:[^"\\]|\\.)*"'
_INNER = rb"\{(?:[^{}\"]|" + _STRING + rb")*\}"
_MEMBER = re.compile(rb'"crs"\s*:\s*\{(?:[^{}"]|' + _STRING + rb"|" + _INNER + rb")*\}")
_LINK = re.compile(rb'("type"\s*:\s*)"(?:link|url)"', re.IGNORECASE)
_ESCAPED = re.compile(rb"\\u00([2-7][0-9a-fA-F])")


def system_of(member: Any) -> CRS | None:
    """Return the system that a ``crs`` member names; None where it names none, as ``null`` does. No link is opened."""
    name = _name(member)
    if name is None:
        return None
    if "CRS84" in name.upper():  # WGS 84 with the axes in the order that all GeoJSON has
        return CRS.from_epsg(4326)
    said = _EPSG.search(name)
    code = int(said[1]) if said else _codes().get(name.strip().casefold())
    try:
        return None if code is None else CRS.from_epsg(code)
    except CRSError:
        return None


@lru_cache(maxsize=1)
def _codes() -> dict[str, int]:
    """EPSG's systems by their names: PROJ itself would guess, and take an address or a path for something to open."""
    kinds = [PJType.GEOGRAPHIC_2D_CRS, PJType.PROJECTED_CRS]
    return {info.name.casefold(): int(info.code) for info in query_crs_info(auth_name="EPSG", pj_types=kinds)}


def _name(member: Any) -> str | None:
    if isinstance(member, str):
        return member
    if not isinstance(member, dict) or not isinstance(member.get("properties"), dict):
        return None
    said = member["properties"]
    for key in ("name", "urn", "href", "url"):
        if isinstance(said.get(key), str):
            return str(said[key])
    return f"EPSG:{said['code']}" if str(said.get("code", "")).isdigit() else None


def system_findings(file: str, member: Any) -> tuple[Finding, ...]:
    """Say what is wrong with a ``crs`` member that names no system, or is a link to one."""
    ask = "Ask the sender; then give it with --crs EPSG:n."
    if member is None:
        message = f"The crs member of {file} is null, which says that its coordinate system is unknown."
        return (Finding("crs_unreadable", "error", message, ask),)
    system, name = system_of(member), _name(member) or ""
    if system is None:
        message = f"The crs member of {file} names no coordinate system that is known: {json.dumps(member)[:120]}."
        return (Finding("crs_unreadable", "error", message, ask),)
    if "://" in name and "opengis.net" not in name:
        message = f"The crs member of {file} is a link ({name[:100]}): it was not opened, its address names EPSG:{system.to_epsg()}."
        return (Finding("crs_from_link", "warning", message, "Make sure that the sender means that system."),)
    return ()


def without_links(text: bytes) -> bytes:
    """Return the text with its ``crs`` links turned into what GDAL doesn't open; the text itself where there is none."""
    if not _LINK.search(text):
        return text
    return _MEMBER.sub(lambda found: _LINK.sub(rb'\1"none"', found[0]), text)


def opens_more(text: bytes) -> bool:
    """Whether GDAL could take the text for a recipe, or a link is hidden by escapes or within deeper objects."""
    plain = _ESCAPED.sub(lambda m: bytes.fromhex(m[1].decode("ascii")), text) if b"\\u00" in text else text
    if b"gdal_streamed_alg" in plain:
        return True
    if b'"crs"' not in plain or not _LINK.search(plain):
        return False
    members = re.findall(rb'"crs"\s*:\s*\{', plain)
    hidden = len(members) != len(_MEMBER.findall(plain)) or plain.count(b'"crs"') != text.count(b'"crs"')
    return hidden or len(_LINK.findall(plain)) != len(_LINK.findall(text))
