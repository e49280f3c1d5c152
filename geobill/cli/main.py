"""The command line: arguments in, pipeline calls, messages out. Heavy libraries load inside the commands, so that help is quick."""

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from geobill.cli import app as shared
from geobill.cli.app import COMMON, JsonOption, WorkspaceOption
from geobill.cli.batches import batch_app
from geobill.cli.bill import bill_app
from geobill.cli.case_sync import case_sync
from geobill.cli.cases import case_app
from geobill.cli.correct import correct
from geobill.cli.credit import credit_app
from geobill.cli.crs import crs_app
from geobill.cli.deadlines import deadlines
from geobill.cli.deposits import deposit_app, fee_app
from geobill.cli.detect import detect
from geobill.cli.doctor import doctor
from geobill.cli.explain import explain, verify
from geobill.cli.files import import_app
from geobill.cli.findings import finding_app
from geobill.cli.formats import formats
from geobill.cli.inspect import inspect
from geobill.cli.invoices import invoice_app
from geobill.cli.law import assess, law_app, statute_app
from geobill.cli.month import price
from geobill.cli.permits import decree_app, permit_app
from geobill.cli.policy import decision_app, policy_app
from geobill.cli.profiles import profile_app
from geobill.cli.qgis import qgis
from geobill.cli.serve import serve
from geobill.cli.setup import init, operator_app
from geobill.cli.simulate import report_app, simulate
from geobill.cli.suspensions import suspension_app
from geobill.cli.templates import templates_app
from geobill.errors import GeobillError

app = typer.Typer(
    name="geobill",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="From a utility's map files to what a city hall may charge for its streets: prices, decrees, invoices.",
)
app.command()(init)
app.add_typer(operator_app, name="operator")
app.add_typer(policy_app, name="policy")
app.add_typer(decision_app, name="decision", short_help="Decisions of the mayor on what the law leaves open.")
app.add_typer(law_app, name="law", short_help="The statute's dated figures.")
app.add_typer(statute_app, name="statute", short_help="Statutes, and sister laws by figures alone.")
app.add_typer(import_app, name="import")
app.add_typer(batch_app, name="batch", short_help="Imports: list, show, take back; rows that wait for a correction.")
app.add_typer(crs_app, name="crs")
app.add_typer(profile_app, name="profile")
app.add_typer(permit_app, name="permit")
app.add_typer(deposit_app, name="deposit", short_help="The deposit (caução): three monthly prices.")
app.add_typer(fee_app, name="fee", short_help="Emolumentos that a decree costs.")
app.add_typer(decree_app, name="decree")
app.command()(detect)
app.add_typer(
    finding_app, name="finding", short_help="What surveys found: what waits for a decision, what was decided."
)
app.add_typer(case_app, name="case", short_help="What is held against an operator, step by step (arts. 4, 9, 10, 12).")
case_app.command("sync")(case_sync)
app.command()(qgis)
app.command()(inspect)
app.command()(formats)
app.command()(price)
app.command()(assess)
app.add_typer(bill_app, name="bill")
app.command()(simulate)
app.add_typer(report_app, name="report")
app.add_typer(invoice_app, name="invoice")
app.command()(correct)
app.add_typer(credit_app, name="credit", short_help="Credits that are set off against a part of the debt (art. 14).")
app.add_typer(suspension_app, name="suspension", short_help="Orders of courts, and legal risks.")
app.add_typer(templates_app, name="templates")
app.command()(explain)
app.command()(verify)
app.command()(serve)
app.command()(deadlines)
app.command()(doctor)


@app.callback()
def before(
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the program's own trace where something fails.")] = False,
) -> None:
    """Options that may stand before the command."""
    COMMON.workspace, COMMON.json, COMMON.debug = workspace, json, debug


@app.command()
def demo(
    folder: Annotated[Path, typer.Argument(help="Folder to make.")] = Path("geobill-demo"),
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Run the main job on a small sample city that ships with the package."""
    from geobill.demo.run import run_demo

    data, lines = run_demo(folder, now=shared.now(), say=shared.say)
    shared.answer(data, json, lambda: "\n".join(lines))


@app.command()
def version(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """Print the version."""
    from geobill import __version__

    shared.answer({"version": __version__}, json, lambda: __version__)


def run() -> None:
    """Run the command line; the only place where a refusal is caught."""
    _speak_utf8()
    try:
        app(prog_name="geobill", standalone_mode=True)
    except GeobillError as error:
        if COMMON.debug:
            raise
        shared.refuse(error)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.stderr.write("geobill: interrupted; what was under way is undone.\n")
        sys.exit(1)
    except Exception as fault:
        if COMMON.debug:
            raise
        sys.stderr.write(
            f"geobill: a fault of the program, not of your files: {type(fault).__name__}: {fault}. Nothing was changed. "
            "Run the command again with --debug before its name and report what it prints.\n"
        )
        sys.exit(1)


def _speak_utf8() -> None:
    """Write UTF-8 to files and pipes: Windows would choose a code page there, which lacks letters of our messages."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8")


if __name__ == "__main__":
    run()
