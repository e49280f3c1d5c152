"""What every command shares: options that stand before or after its name, one answer, one way to refuse."""

import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.errors import GeobillError, InputError

WorkspaceOption = Annotated[
    Path | None,
    typer.Option("-w", "--workspace", help="The workspace's folder (else GEOBILL_WORKSPACE, else the current folder)."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output and nothing else there.")]


@dataclass
class Common:
    """Options given before the command's name."""

    workspace: Path | None = None
    json: bool = False
    debug: bool = False


COMMON = Common()


def named_workspace(given: Path | None) -> Path | None:
    """Return the workspace's folder as named after the command, before it, or by the environment."""
    from_environment = os.environ.get("GEOBILL_WORKSPACE")
    return given or COMMON.workspace or (Path(from_environment) if from_environment else None)


def open_given(given: Path | None) -> Any:
    """Open the workspace that the options name; one of an older version is copied and migrated first."""
    from geobill.store.workspace import open_workspace

    return open_workspace(named_workspace(given) or Path(), now(), say)


def answer(data: dict[str, Any], as_json: bool, human: Callable[[], str]) -> None:
    """Print a command's answer on standard output: JSON, or lines for a person."""
    text = json.dumps(data, ensure_ascii=False, indent=1) if as_json or COMMON.json else human()
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def finding_lines(data: dict[str, Any]) -> list[str]:
    """Say the findings of an answer, for a person."""
    return [
        f"  {f['severity']}: {f['message'].rstrip('.')}; {f['fix']}"
        if f["fix"]
        else f"  {f['severity']}: {f['message']}"
        for f in data["findings"]
    ]


def say(message: str) -> None:
    """Tell a person how far a command is, on standard error."""
    sys.stderr.write(f"· {message}\n")
    sys.stderr.flush()


def today() -> date:
    """Today on this machine: the command line is the only clock."""
    return date.today()


def now() -> str:
    """Return this moment in UTC as ISO text with Z."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_mapping(pairs: list[str] | None) -> dict[str, str]:
    """Read ``--map KEY=COLUMN`` options."""
    mapping: dict[str, str] = {}
    for pair in pairs or []:
        key, sign, column = pair.partition("=")
        if not sign or not key.strip() or not column:
            raise InputError(f"--map {pair!r} is not of the form KEY=COLUMN, for example --map width=LARGURA.")
        if key.strip() in mapping:
            raise InputError(f"--map names {key.strip()} twice: say once which column holds it.")
        mapping[key.strip()] = column
    return mapping


def read_amount(text: str, option: str) -> Decimal:
    """Read reais that a user typed, with their cents."""
    if not re.fullmatch(r"-?\d{1,20}(\.\d{1,9})?", text.strip(), re.ASCII):
        raise InputError(f"{option} {text!r} is no amount: give reais as a number, for example 1234.56.")
    return Decimal(text.strip()) + Decimal("0.00")  # said as it is kept


def end_of_day(day: date) -> str:
    """Return the end of a day of this machine's calendar as UTC, ISO text with Z: what was recorded on it is before that."""
    return datetime.combine(day + timedelta(days=1), time()).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def refuse(error: GeobillError) -> None:
    """Say on standard error why a command did nothing."""
    sys.stderr.write(f"geobill: {error}\n")
    sys.stderr.flush()
