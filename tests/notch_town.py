"""A town of one zone at R$ 4,00 (R$ 5,00 from December) whose networks stand in, before and beyond the notches of R.

A metre of 0.50 m costs 0.50 m × R$ 4.00 × 3 % × 50 % = R$ 0.03 at R = 1: alfa's 5,200 m cost R$ 140.40 at R = 0.90, beta's
4,900 m R$ 147.00, and longa's 101,000 m are held; at R = 0.60 they would cost R$ 1,818.00.
"""

from permit_town import import_cabinet, import_line, make_town
from workspaces import add_operator, import_network, import_zones, write_network, write_zones

MONTH = "2026-11"
COLUMNS = ("--map", "zone=zona", "--map", "land_value=valor")


def make_notch_town(folder, *, hostile=""):
    """Make the workspace; nothing is billed. ``hostile`` is added to a name."""
    root = make_town(folder)
    add_operator(root, "longa", f"Longa Linha S.A.{hostile}")
    import_line(root, "A1", 5200, 100)
    import_line(root, "B1", 4900, 200, operator="beta")
    import_cabinet(root, "E1", "2", operator="beta")
    lines = [(f"L{n}", 0.5, [(-5000, 300 + n), (5000, 300 + n)]) for n in range(10)]
    lines.append(("L10", 0.5, [(-500, 290), (500, 290)]))
    import_network(root, write_network(folder / "longa.geojson", *lines), "longa")
    later = write_zones(folder / "dezembro.geojson", ("Todo", "5", -7000, 0, 5000, 2000))
    import_zones(root, later, "dezembro", "2026-12-01")
    return root


def proposed_map(folder):
    """Write a map that nobody imported: two zones, one at R$ 8.00 and one at R$ 4.00, split at the origin, and a bad row."""
    zones = (("Oeste", "8", -7000, 0, 0, 2000), ("Leste", "4", 0, 0, 5000, 2000), ("Nada", None, 0, 0, 10, 10))
    return write_zones(folder / "proposta.geojson", *zones)
