"""Files in; clean frames and findings out."""

import os

# Recipes and services: drivers that open other files or addresses than the one that was named. What somebody sends may be
# such a recipe under a map's name; the content is looked at as well, but a driver that isn't there can't be fooled. Each
# of the two file libraries has a GDAL of its own, which reads this once, when it starts, and complains of names it lacks.
_IN_BOTH = ("OGR_VRT", "WFS", "OAPIF", "CSW", "Carto", "Elasticsearch", "NGW", "AmigoCloud", "PLSCENES")
_IN_PYOGRIO = ("GDALG", "HTTP", "OGCAPI", "EEDA", "ADBC")
_asked = os.environ.get("GDAL_SKIP", "").split(",")  # perhaps that of a geobill that started this one


def _skip(names: tuple[str, ...]) -> None:
    """Name each driver once: GDAL complains of what it doesn't find a second time."""
    os.environ["GDAL_SKIP"] = ",".join(dict.fromkeys([n for n in _asked if n and n not in _IN_PYOGRIO] + list(names)))


_skip(_IN_BOTH + _IN_PYOGRIO)
import pyogrio  # noqa: E402, F401

_skip(_IN_BOTH)
