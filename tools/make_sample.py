"""Makes reports/sample/ anew: one invoice, one draft decree and the page of the sample town's month.

usage: python tools/make_sample.py [DIR]      (DIR: reports/sample)
"""

import sys
import tempfile
from pathlib import Path

from geobill.demo.city import CITY_MONTH
from geobill.demo.run import run_demo
from geobill.domain.dates import BillingMonth
from geobill.pipeline.billing import open_desk
from geobill.pipeline.month_page import month_page
from geobill.store.ledger import Ledger
from geobill.store.workspace import open_workspace

SAMPLE = Path(__file__).resolve().parents[1] / "reports/sample"
PAPERS = ("fatura-2026-000001-alfa.pdf", "minuta-alfa.pdf")
NOW = "2026-12-01T12:00:00Z"  # no document bears it


def make_sample(folder: Path) -> list[Path]:
    """Run the sample town's month and keep one paper of each kind; the page links only what is kept.

    Parameters
    ----------
    folder : Path
        Where the files go; those of the same name are replaced.

    Returns
    -------
    list of Path
        The files made.
    """
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "demo")
        run_demo(root, now=NOW, say=lambda _: None)
        files = [(name, (root / "documents" / name).read_bytes()) for name in PAPERS]
        workspace, month = open_workspace(root / "workspace"), BillingMonth.parse(CITY_MONTH)
        with workspace.database.write() as connection:
            desk = open_desk(workspace, connection, month, NOW, lambda _: None)
            invoices = Ledger(connection, workspace.database.tables).load_invoices(month)
            files += month_page(desk, invoices, PAPERS)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files:
        (folder / name).write_bytes(content)
    return [folder / name for name, _ in files]


if __name__ == "__main__":
    for file in make_sample(Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE):
        print(f"{file.name}: {file.stat().st_size:,} bytes")
