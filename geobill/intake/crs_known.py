"""Coordinate systems as files write them, told apart by datum and zone: which of Brazil's usual ones is meant.

Programs write the same system in many words, without its code, with parameters of a datum shift that aren't IBGE's. The
right operation is found by code, so each is traced to its code where only one fits; where several do, nobody guesses.
"""

import re
import unicodedata
from dataclasses import dataclass
from math import hypot

from pyproj import CRS
from pyproj.exceptions import CRSError

from geobill.domain.finding import Finding

UTM_ZONES = range(18, 26)  # those that Brazil lies in


@dataclass(frozen=True, eq=False)
class Datum:
    """A datum in use in Brazil, with its codes (as PROJ's database has them; a test compares).

    ``names`` is what its names look like without accents, capitals and signs; ``shift`` is the translation to SIRGAS 2000
    in metres (IBGE, Resolução do Presidente 1/2005; EPSG:15485, 5881, 6193), None where only a grid leads there.
    """

    name: str
    geographic: int
    names: str
    semi_major_m: float
    inverse_flattening: float
    shift: tuple[float, float, float] | None
    south: dict[int, int]
    north: dict[int, int]


def _run(first_code: int, zones: range) -> dict[int, int]:
    return {zone: first_code + at for at, zone in enumerate(zones)}


# most plausible first
DATUMS = (
    Datum("SIRGAS 2000", 4674, r"sirgas(de)?2000|americas2000", 6378137, 298.257222101, (0, 0, 0),
          _run(31978, UTM_ZONES), _run(31972, range(18, 23)) | {23: 6210, 24: 6211}),
    Datum("SAD69", 4618, r"(sad|southamerican(datum)?|sulamericano(de)?)(19)?69(?!(realizacao)?(de)?(19)?96)", 6378160, 298.25,
          (-67.35, 3.88, -38.22), _run(29188, UTM_ZONES), _run(29168, range(18, 23))),
    Datum("SAD69(96)", 5527, r"(sad|southamerican(datum)?|sulamericano(de)?)(19)?69(realizacao)?(de)?(19)?96", 6378160, 298.25,
          (-67.35, 3.88, -38.22), {18: 5875, 19: 5876, 20: 5877, 21: 5531, 22: 5858, 23: 5533, 24: 5534, 25: 5535}, {}),
    Datum("Corrego Alegre 1970-72", 4225, r"corregoalegre(?!(19)?61)", 6378388, 297, (-206.05, 168.28, -3.82),
          _run(22521, range(21, 26)), {}),
    Datum("Corrego Alegre 1961", 5524, r"corregoaleg(re)?(19)?61", 6378388, 297, None, _run(5536, range(21, 25)), {}),
    Datum("WGS 84", 4326, r"wgs(19)?84|worldgeodeticsystem(19)?84", 6378137, 298.257223563, (0, 0, 0),
          _run(32718, UTM_ZONES), _run(32618, UTM_ZONES)),
)  # fmt: skip
WEB_MERCATOR = 3857
_WEB_MERCATORS = {900913, 3785, 102113, 102100}
_NAMELESS = (
    r"(unknown|unnamed|undefined|undetermined|custom|desconhecido|naoidentificado|user|notspecified|unspecified).*|"
)
_OTHER_REALISATION = r"sirgascon|sirgas(de)?(19)?95|americadelsur(19)?95"


@dataclass(frozen=True)
class Identity:
    """What a system of somebody's file is: the codes that fit it, and how it was told (None: by its own names)."""

    codes: tuple[int, ...]
    how: str | None = None


def identify(crs: CRS, name: str) -> tuple[CRS | None, tuple[Finding, ...]]:
    """Trace a system to the code that it has among `DATUMS`; any other system comes back as it is.

    Parameters
    ----------
    crs : CRS
        Two-dimensional, as a file (or a user) wrote it.
    name : str
        Name of the file, for the findings.

    Returns
    -------
    CRS or None, tuple of Finding
        None where several systems fit (finding ``crs_ambiguous``, which names them).
    """
    base, findings = crs, []
    if crs.is_bound:
        base = crs.source_crs
    found = _identity(base)
    if len(found.codes) > 1 and crs.is_bound:
        found = _by_shift(found, _towgs84(crs))
    if len(found.codes) > 1:
        named = " or ".join(f"EPSG:{c} ({CRS.from_epsg(c).name})" for c in found.codes)
        message = f"The coordinate system written in {name} fits several: {named}; {found.how}."
        fix = f"They lie metres apart: ask the sender which one it is, then give it with --crs EPSG:{found.codes[0]} or the other."
        return None, (Finding("crs_ambiguous", "warning", message, fix),)
    if found.codes:
        base = CRS.from_epsg(found.codes[0])
        if found.how:
            message = f"The system of {name} was taken for EPSG:{found.codes[0]} ({base.name}): {found.how}."
            findings.append(
                Finding("crs_identified", "note", message, "Make sure with the sender that it is this one.")
            )
    if crs.is_bound:
        findings += _said_shift(crs, base, name)
    return base, tuple(findings)


def datum_of(crs: CRS) -> Datum | None:
    """Return the datum among `DATUMS` that a system with a code rests on; None for any other."""
    geodetic = crs.geodetic_crs
    code = None if geodetic is None else geodetic.to_epsg()
    return next((d for d in DATUMS if d.geographic == code), None)


def same_grid(crs: CRS, datum: Datum) -> int | None:
    """Code of the system on another datum with the same way of drawing: the same UTM zone, or degrees; None if none."""
    if crs.is_geographic:
        return datum.geographic
    zone = utm_zone(crs)
    return None if zone is None else (datum.south if zone[1] else datum.north).get(zone[0])


def _identity(crs: CRS) -> Identity:
    declared = _declared(crs)
    if declared in _WEB_MERCATORS or _is_web_mercator(crs):
        return Identity((WEB_MERCATOR,))
    datums, how = _datums(crs)
    if not datums:
        return Identity(())
    if crs.is_geographic:
        degrees = all(abs(a.unit_conversion_factor - 0.017453292519943295) < 1e-9 for a in crs.axis_info)
        return Identity(tuple(d.geographic for d in datums) if degrees and _greenwich(crs) else (), how)
    zone = utm_zone(crs)
    if zone is None:
        return Identity(())
    codes = [c for d in datums if (c := (d.south if zone[1] else d.north).get(zone[0])) is not None]
    said = re.search(r"(?:zone|zona|fuso|utm)[^0-9]{0,6}(\d{1,2})([ns])?", _fold(crs.name))
    if codes and said and (int(said[1]) != zone[0] or (said[2] and (said[2] == "s") != zone[1])):
        south = zone[1] if said[2] is None else said[2] == "s"
        other = [c for d in datums if (c := (d.south if south else d.north).get(int(said[1]))) is not None]
        if other:
            return Identity((*codes, *other), "its name and its parameters contradict each other")
    if declared is not None and codes and declared not in codes and not _means(declared, codes):
        return Identity((*codes, declared), "its code and its parameters contradict each other")
    if declared in codes:
        return Identity((declared,))
    return Identity(tuple(codes), how)


def _is_web_mercator(crs: CRS) -> bool:
    conversion = crs.coordinate_operation
    if conversion is None or conversion.method_name != "Popular Visualisation Pseudo Mercator":
        return False
    return all(p.value == 0 for p in conversion.params)


def _datums(crs: CRS) -> tuple[list[Datum], str | None]:
    """Datums that a system's names and its ellipsoid leave possible, and what isn't as it should be."""
    geodetic = crs.geodetic_crs
    if geodetic is None or geodetic.datum is None or geodetic.ellipsoid is None:
        return [], None
    names = [_fold(n) for n in (crs.name, geodetic.name, geodetic.datum.name)]
    if any(re.search(_OTHER_REALISATION, n) for n in names):
        return [], None
    nameless = [re.fullmatch(_NAMELESS, n) is not None for n in names[1:]]
    named = {d for n in names if not n.startswith("unknownbasedon") and (d := _named(n)) is not None}
    shaped = [d for d in DATUMS if _shaped(geodetic, d, 5e-7)]
    if not named:
        how = "nothing in it names a datum, so its ellipsoid alone had to tell"
        return (shaped, how) if all(nameless) else ([], None)
    fitting = [d for d in DATUMS if d in named and _shaped(geodetic, d, 0.004)]
    if len(named) > 1 or not fitting:
        possible = [d for d in DATUMS if d in named or (not fitting and d in shaped)]
        return possible, "its names contradict each other" if len(named) > 1 else "its name and its ellipsoid disagree"
    exact = _shaped(geodetic, fitting[0], 1e-5)
    return fitting, None if exact else f"its name says so, though its ellipsoid is {geodetic.ellipsoid.name}"


def _named(folded: str) -> Datum | None:
    return next((d for d in DATUMS if re.search(d.names, folded)), None)


def _shaped(geodetic: CRS, datum: Datum, tolerance: float) -> bool:
    shape = geodetic.ellipsoid
    near = abs(shape.semi_major_metre - datum.semi_major_m) < 0.5
    return near and abs(shape.inverse_flattening - datum.inverse_flattening) < tolerance


def utm_zone(crs: CRS) -> tuple[int, bool] | None:
    """UTM zone of a projected system and whether it is a southern one; None where its parameters are others."""
    conversion = crs.coordinate_operation
    if conversion is None or conversion.method_name != "Transverse Mercator" or not _greenwich(crs):
        return None
    if any(abs(axis.unit_conversion_factor - 1) > 1e-9 for axis in crs.axis_info):
        return None
    value = {p.name: p.value for p in conversion.params}
    meridian, northing = value.get("Longitude of natural origin", 999), value.get("False northing", -1)
    plain = (
        value.get("Latitude of natural origin") == 0
        and value.get("Scale factor at natural origin") == 0.9996
        and value.get("False easting") == 500_000
        and northing in (0, 10_000_000)
    )
    zone = (meridian + 183) / 6
    return (round(zone), northing > 0) if plain and abs(zone - round(zone)) < 1e-6 else None


def _greenwich(crs: CRS) -> bool:
    return crs.prime_meridian is None or crs.prime_meridian.longitude == 0


def _declared(crs: CRS) -> int | None:
    """Code that a system's own text carries, whatever its parameters."""
    said = crs.to_json_dict().get("id") or {}
    code = str(said.get("code", ""))
    return int(code) if said.get("authority") in ("EPSG", "ESRI") and code.isdigit() else None


def _means(code: int, codes: list[int]) -> bool:
    """Whether a code, withdrawn since, was the same system: EPSG:29183 became 29193."""
    try:
        crs = CRS.from_epsg(code)
    except CRSError:
        return True  # a number that some program made up says nothing against the parameters
    datums, _ = _datums(crs)
    zone = utm_zone(crs)
    if zone is None:
        return crs.is_geographic and any(d.geographic in codes for d in datums)
    return any((d.south if zone[1] else d.north).get(zone[0]) in codes for d in datums)


def _towgs84(bound: CRS) -> list[float]:
    return [float(v) for v in bound.coordinate_operation.towgs84] if bound.coordinate_operation else []


def _by_shift(found: Identity, given: list[float]) -> Identity:
    """Of several codes keep the one whose datum has exactly the shift that the file brings."""
    fitting = []
    for code in found.codes:
        datum = datum_of(CRS.from_epsg(code))
        if (
            datum
            and datum.shift
            and given
            and max(abs(a - b) for a, b in zip(given[:3], datum.shift, strict=True)) < 0.005
        ):
            fitting.append(code)
    return Identity((fitting[0],), "its shift to WGS 84 is that datum's") if len(fitting) == 1 else found


def _said_shift(bound: CRS, base: CRS, name: str) -> list[Finding]:
    """Say where a file brings parameters of a datum shift (TOWGS84) that aren't IBGE's; IBGE's are used."""
    datum = datum_of(base)
    given = _towgs84(bound)
    if not given or datum is None:
        return []
    wanted = datum.shift
    if wanted is None:
        apart = "for that datum IBGE gives a grid and no such parameters"
    else:
        metres = hypot(*(a - b for a, b in zip(given[:3], wanted, strict=True)))
        if metres < 0.05 and not any(given[3:]):
            return []
        shown = ", ".join(f"{v:g}" for v in wanted)
        apart = f"IBGE's are {shown} (RPR 1/2005)" + (f", {metres:.1f} m apart" if not any(given[3:]) else "")
    message = (
        f"{name} brings its own shift to WGS 84 (TOWGS84 {', '.join(f'{v:g}' for v in given)}); {apart}. "
        f"The file's was left aside: {base.name} was carried over by IBGE's parameters or grid."
    )
    fix = "Compare a known corner with the street; if the file was made with its own parameters, ask for it in SIRGAS 2000."
    return [Finding("crs_towgs84_ignored", "warning", message, fix)]


def _fold(text: str) -> str:
    """Letters and digits of a name, without accents and capitals."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]", "", plain)
