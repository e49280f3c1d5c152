"""A value map: zones with a price of land, row by row; what zones do to each other is settled later."""

from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.intake.checks import (
    Check,
    check_carried,
    check_finite,
    check_has_geometry,
    check_numbers,
    check_positive,
    check_type,
    run_checks,
)
from geobill.intake.network import as_multi, decimal_text
from geobill.intake.reader import Layer
from geobill.intake.reading import Options, Part, Reading
from geobill.intake.rows import finish, prepare

KEYS = ("zone", "land_value")

CHECKS: tuple[Check, ...] = (
    check_has_geometry,
    check_type("Polygon", "MultiPolygon"),
    check_finite,
    check_carried,
    check_numbers("land_value"),
    check_positive("land_value", "land value", "value_missing", "value_not_positive", "reais per m²"),
)


def read_land_values(layer: Layer, options: Options, municipality: Municipality) -> Reading:
    """Read the zones of a value map; polygons may still be invalid.

    Parameters
    ----------
    layer : Layer
        From `reader.read_layer`.
    options : Options
        Mapping with both of `KEYS`; land values in reais per square metre.
    municipality : Municipality
        Most zones must touch it; single ones may lie beyond.

    Returns
    -------
    Reading
        ``accepted`` by `geobill.frames.ZONES`, except that polygons may be invalid; ``length_m`` is 0.

    Raises
    ------
    InputError
        If the whole file can't be used: mapping or coordinate system.
    """
    missing = [k for k in KEYS if k not in options.mapping]
    if missing:
        names = ", ".join(str(c) for c in layer.frame.columns if c != "geometry") or "none"
        raise InputError(
            f"A value map needs {' and '.join(f'--map {k}=COLUMN' for k in missing)}: without it nobody knows what a square "
            f"metre is worth, or where. The columns of {layer.path.name} are: {names}."
        )
    rows = prepare([Part(layer, options)], municipality, KEYS, "zone", None)
    rows.read_all(numbers=("land_value",))
    run_checks(rows, CHECKS)
    columns = {"zone": rows.ids, "land_value": decimal_text(rows.values["land_value"])}
    return finish(rows, columns, as_multi(rows.geometry, "Polygon"), measured=False)
