"""A town with one zone of R$ 4,00 a square metre and a permit at any stage of its life; figures that a person works out.

4,000 m × 0.50 m × R$ 4.00 × 3 % × 50 % × 1.00 = R$ 120.00; 1.5 m³ × R$ 150.00 = R$ 225.00; a month is R$ 345.00.
"""

from workspaces import (
    add_operator,
    confirm_law,
    done,
    geobill,
    import_zones,
    maps,
    write_cabinets,
    write_network,
    write_zones,
)

NETWORK = maps("segment=id", "width=largura", "installed_on=implantado", "removed_on=retirado")
CABINETS = maps("equipment=id", "volume=volume", "installed_on=implantado")
MONTHLY, DEPOSIT = "345.00", "1035.00"
PAPERS = {
    "works": ("--works-opinion", "Parecer SMO 41/2026", "--works-on", "2026-10-05", "--works-by", "Eng. Rui Prado"),
    "legal": ("--legal-opinion", "Parecer SMAJ 12/2026", "--legal-on", "2026-10-08"),
    "mayor": ("--mayor-authorisation", "Despacho GP 9/2026", "--mayor-on", "2026-10-10"),
}
ACT = {"number": "8.001/2026", "date": "2026-11-03", "signatory": "Ana Prefeita", "published-on": "2026-11-05"}


def make_town(folder):
    """Make a workspace with the zone, three operators and nothing in the street."""
    folder.mkdir(parents=True, exist_ok=True)
    root = folder / "ws"
    done("init", root)
    confirm_law(root)
    for id_, name, kind in (
        ("alfa", "Alfa Telecomunicações S.A.", "private"),
        ("beta", "Beta Gás S.A.", "private"),
        ("daec", "Departamento de Águas", "municipal"),
    ):
        add_operator(root, id_, name, kind)
    import_zones(root, write_zones(folder / "mapa.geojson", ("Todo", "4", -7000, 0, 5000, 2000)))
    return root


def add_permit(root, number="P1", operator="alfa", **more):
    options = [part for key, value in more.items() for part in (f"--{key.replace('_', '-')}", value)]
    return done("permit", "add", "--number", number, "--operator", operator, *options, workspace=root)


def import_line(root, name, metres, y, *options, operator="alfa", width=0.5, **columns):
    """Import one line of so many metres, at its own height on the map."""
    file = write_network(root.parent / f"{name}.geojson", (name, width, [(-4000, y), (metres - 4000, y)], columns))
    return done("import", "network", file, "--operator", operator, *NETWORK, *options, workspace=root)


def import_cabinet(root, name, volume, *options, operator="alfa"):
    file = write_cabinets(root.parent / f"{name}.geojson", (name, volume, (10, 10)))
    return done("import", "cabinets", file, "--operator", operator, *CABINETS, *options, workspace=root)


def request(root, number="P1"):
    """Register the permit and bring in what is planned under it."""
    add_permit(root, number, process="4.512/2026", project="Rede do Centro", requested_on="2026-09-01")
    import_line(root, f"{number}-linha", 4000, 1000, "--permit", number, "--status", "planned")
    import_cabinet(root, f"{number}-armario", 1.5, "--permit", number, "--status", "planned")


def approve(root, number="P1", papers=("works", "legal", "mayor")):
    for paper in papers:
        done("permit", "approve", "--number", number, *PAPERS[paper], workspace=root)


def pay_deposit(root, number="P1", amount=DEPOSIT, on="2026-10-20", receipt="881"):
    paid = ("--amount", amount, "--paid-on", on, "--receipt", receipt)
    return done("deposit", "record", "--permit", number, *paid, workspace=root)


def pay_fee(root, number="P1", on="2026-10-20", receipt="882"):
    return done(
        "fee", "record", "--permit", number, "--amount", "312.40", "--paid-on", on, "--receipt", receipt, workspace=root
    )


def act_options(**changes):
    return [part for key, value in (ACT | changes).items() for part in (f"--{key}", value)]


def issue(root, permit="P1", **changes):
    """Issue a decree that must be issuable."""
    return done("decree", "issue", "--permit", permit, *act_options(**changes), workspace=root)


def refused(root, *command):
    """Run a command that must be refused without a trace; return what it says."""
    answer = geobill(*command, workspace=root)
    assert (answer.code, answer.out) == (1, ""), answer
    assert "Traceback" not in answer.err
    return answer.err


def refused_issue(root, permit="P1", **changes):
    return refused(root, "decree", "issue", "--permit", permit, *act_options(**changes))


def grant(root, number="P1"):
    """Take a requested permit through to its decree."""
    approve(root, number)
    pay_deposit(root, number)
    pay_fee(root, number)
    return issue(root, number)


def second_permit(root, metres=2000):
    """Grant a second permit, whose metres lower everybody's R: 4,000 m and 2,000 m are above 5 km."""
    add_permit(root, "P2")
    import_line(root, "P2-linha", metres, 1500, "--permit", "P2", "--status", "planned")
    approve(root, "P2")
    pay_deposit(root, "P2", "1000.00", receipt="901")
    pay_fee(root, "P2", receipt="902")
    return issue(root, "P2", number="8.010/2026", date="2026-12-04", **{"published-on": "2026-12-05"})
