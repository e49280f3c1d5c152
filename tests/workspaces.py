"""Small workspaces made by hand, and the command line run inside of the test's own process."""

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from unittest.mock import patch

from pricing.shapes import ORIGIN

from geobill.cli import main

MONTH, ISSUED_ON = "2026-11", "2026-12-01"
NETWORK_MAP = ("segment=id", "width=largura", "installed_on=implantado", "removed_on=retirado", "status=situacao")
CABINET_MAP = ("equipment=id", "volume=volume", "installed_on=implantado")
SYSTEM = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::31983"}}


@dataclass(frozen=True)
class Answer:
    """What a command did: exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def geobill(*args, workspace=None, env=None):
    """Run a command in this process, as the installed ``geobill`` would."""
    argv = ["geobill", *(["-w", str(workspace)] if workspace else []), *map(str, args)]
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", argv),
        patch.dict(os.environ, env or {}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main.run()
            code = 0
        except SystemExit as end:
            code = end.code or 0
    return Answer(code, out.getvalue(), err.getvalue())


def done(*args, workspace=None):
    """Run a command that must succeed; return its JSON."""
    answer = geobill(*args, "--json", workspace=workspace)
    assert answer.code == 0, answer.err
    return answer.json


def process(*args, **options):
    """Start a command as a process of its own."""
    command = [sys.executable, "-m", "geobill.cli.main", *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def maps(*pairs):
    """``--map`` options."""
    return [part for pair in pairs for part in ("--map", pair)]


def write_geojson(path, rows, crs=SYSTEM):
    """Write rows of (properties, geometry type, coordinates); None as type is a row without geometry."""
    features = [
        {"type": "Feature", "properties": p, "geometry": kind and {"type": kind, "coordinates": xy}}
        for p, kind, xy in rows
    ]
    head = {"type": "FeatureCollection", **({"crs": crs} if crs else {})}
    path.write_text(json.dumps({**head, "features": features}), encoding="utf-8")
    return path


def place(*xy):
    """Coordinates in metres from the origin of the tests, which lies inside Caieiras."""
    return [[ORIGIN[0] + x, ORIGIN[1] + y] for x, y in xy]


def write_network(path, *rows, crs=SYSTEM):
    """Write a network of (id, width, points, other columns …)."""
    lines = []
    for id_, width, points, *more in rows:
        columns = {"id": id_, "largura": width, "implantado": None, "retirado": None, "situacao": "permitted"}
        lines.append((columns | (more[0] if more else {}), "LineString", place(*points)))
    return write_geojson(path, lines, crs)


def write_zones(path, *zones, crs=SYSTEM):
    """Write a value map of (zone, value, x0, y0, x1, y1) rectangles."""
    rows = []
    for zone, value, x0, y0, x1, y1 in zones:
        ring = place((x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0))
        rows.append(({"zona": zone, "valor": value}, "Polygon", [ring]))
    return write_geojson(path, rows, crs)


def write_cabinets(path, *rows):
    """Write cabinets of (id, volume, (x, y))."""
    return write_geojson(
        path, [({"id": i, "volume": v, "implantado": None}, "Point", place(xy)[0]) for i, v, xy in rows]
    )


def import_network(workspace, file, operator, *more):
    return done("import", "network", file, "--operator", operator, *maps(*NETWORK_MAP), *more, workspace=workspace)


def import_zones(workspace, file, edition="2026", since="2001-01-01", *more):
    dated = ("--edition", edition, "--in-force-from", since)
    return done(
        "import", "land-values", file, *dated, *maps("zone=zona", "land_value=valor"), *more, workspace=workspace
    )


def import_cabinets(workspace, file, operator):
    return done("import", "cabinets", file, "--operator", operator, *maps(*CABINET_MAP), workspace=workspace)


def add_operator(workspace, id_, name, kind="private"):
    return done(
        "operator",
        "add",
        "--id",
        id_,
        "--name",
        name,
        "--kind",
        kind,
        "--cnpj",
        "11.222.333/0001-81",
        workspace=workspace,
    )


def bill(workspace, *more, month=MONTH, issued_on=ISSUED_ON):
    """Bill a month of a workspace that must be billable."""
    return done("bill", "--month", month, "--issued-on", issued_on, *more, workspace=workspace)


def confirm_law(workspace):
    """Record that somebody looked whether the law still stands: months of the next year can be priced."""
    done("law", "confirm", "--until", "2027-12-31", "--by", "the tests", workspace=workspace)


def make_workspace(folder):
    """Make a workspace of two zones, four operators, cabinets, a decision and rows set aside; nothing billed yet.

    alfa and beta owe something, gama's only line comes next year, daec is the municipality's own.
    """
    files, root = folder / "files", folder / "ws"
    files.mkdir(parents=True)
    done("init", root)
    confirm_law(root)
    for id_, name, kind in (
        ("alfa", "Alfa Telecomunicações S.A.", "private"),
        ("beta", "Beta Gás S.A.", "private"),
        ("gama", "Gama Fibra Ltda.", "private"),
        ("daec", "Departamento de Águas", "municipal"),
    ):
        add_operator(root, id_, name, kind)
    decision = ("--number", "12", "--date", "2026-01-15", "--signatory", "Prefeita", "--answer", "0.60")
    done("decision", "add", "--id", "D1", "--question", "above_100_km", *decision, workspace=root)
    zones = (("Centro", "10.50", 0, 0, 100, 100), ("Serra", "3", 100, 0, 200, 100), ("Vila", "7.25", 95, 60, 150, 100))
    import_zones(root, write_zones(files / "mapa.geojson", *zones))
    alfa = (
        ("A1", 0.6, [(10, 10), (180, 10)]),
        ("A2", 0.4, [(10, 20), (60, 20)], {"implantado": "2026-11-16"}),
        ("A3", 0.5, [(20, 30), (60, 30)], {"situacao": "clandestine"}),
        ("A4", 0.5, [(50, 80), (140, 80)]),
        ("A5", None, [(50, 90), (60, 90)]),
    )
    import_network(root, write_network(files / "alfa.geojson", *alfa), "alfa")
    import_network(root, write_network(files / "beta.geojson", ("B1", 0.5, [(110, 50), (190, 50)])), "beta")
    later = {"implantado": "2027-03-01"}
    import_network(root, write_network(files / "gama.geojson", ("G1", 0.5, [(110, 40), (190, 40)], later)), "gama")
    import_network(root, write_network(files / "daec.geojson", ("D1", 0.5, [(110, 30), (190, 30)])), "daec")
    import_cabinets(
        root, write_cabinets(files / "armarios.geojson", ("E1", "1,5", (5, 5)), ("E2", "2,345", (6, 5))), "beta"
    )
    return root
