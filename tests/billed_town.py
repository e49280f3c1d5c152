"""A town of two operators, two zones and a billed month, whose files can be edited and imported again."""

import json
import shutil
from decimal import Decimal

from workspaces import add_operator, bill, done, import_network, import_zones, place, write_network, write_zones

from geobill.domain.invoice import Invoice
from geobill.pipeline.invoices import list_booked
from geobill.store.workspace import open_workspace

MONTH, ISSUED_ON = "2026-10", "2026-11-03"
ZONES = (("Centro", "40", -2000, 0, 0, 2000), ("Serra", "16", 0, 0, 2000, 2000))
# a month: 1,000 m × 0.50 m × R$ 40 × 3 % × 50 % = R$ 300.00, 800 m × 0.60 m × R$ 16 × 0.015 = R$ 115.20;
# beta's 500 m × 0.50 m × R$ 40 × 0.015 = R$ 150.00
ALFA = (("A1", 0.5, [(-1500, 100), (-500, 100)]), ("A2", 0.6, [(200, 300), (1000, 300)]))
BETA = (("B1", 0.5, [(-900, 500), (-400, 500)]),)
ALFA_TOTAL, BETA_TOTAL = Decimal("415.20"), Decimal("150.00")


def make_billed_town(folder, *months):
    """Make the town and bill its months."""
    files, root = folder / "files", folder / "ws"
    files.mkdir(parents=True)
    done("init", root)
    add_operator(root, "alfa", "Alfa Telecomunicações S.A.")
    add_operator(root, "beta", "Beta Gás S.A.")
    import_zones(root, write_zones(files / "mapa.geojson", *ZONES))
    import_network(root, write_network(files / "alfa.geojson", *ALFA), "alfa")
    import_network(root, write_network(files / "beta.geojson", *BETA), "beta")
    for month in months or (MONTH,):
        bill(root, "--due", "2026-12-15", month=month, issued_on=ISSUED_ON)
    return root


def copy_town(town, tmp_path):
    """Copy a town, with its files, to be changed."""
    return shutil.copytree(town.parent, tmp_path / "town") / "ws"


def edit(root, owner, id_=None, points=None, **columns):
    """Change one row of an operator's file, or take it out with ``columns=None``, and import it in place of the old."""
    path = root.parent / "files" / f"{owner}.geojson"
    data = json.loads(path.read_text(encoding="utf-8"))
    for row in data["features"]:
        if id_ in (None, row["properties"]["id"]):
            row["properties"] |= columns
            if points is not None:
                row["geometry"]["coordinates"] = place(*points)
    path.write_text(json.dumps(data), encoding="utf-8")
    return import_network(root, path, owner, "--replace")


def new_values(root, *zones):
    """Put another map in place of the edition, as when an error in it was found."""
    return import_zones(
        root, write_zones(root.parent / "files" / "mapa.geojson", *zones), "2026", "2001-01-01", "--replace"
    )


def correct(root, *more, month=MONTH, issued_on="2026-12-01"):
    return done(
        "correct", "--month", month, "--reason", "Medição em campo", "--issued-on", issued_on, *more, workspace=root
    )


def price(root, owner, month=MONTH):
    """What an operator's month costs now."""
    found = [o for o in done("price", "--month", month, workspace=root)["operators"] if o["operator"] == owner]
    return Decimal(found[0]["total"]) if found else Decimal("0.00")


def demanded(root, owner, month=MONTH):
    """What all standing invoices and notes demand of an operator for a month, added up from the records."""
    total = Decimal("0.00")
    for booked in list_booked(open_workspace(root), operator=owner):
        paper = booked.paper
        if isinstance(paper, Invoice):
            total += paper.total if str(paper.month) == month and booked.cancelled is None else 0
        else:
            total += sum(line.amount for line in paper.lines if str(line.month) == month and paper.kind != "fine")
    return total
