"""Looks that change nothing: two ways of pricing side by side, and the notches of the scale of R."""

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli import complete
from geobill.cli.app import JsonOption, WorkspaceOption
from geobill.cli.month import MonthOption
from geobill.errors import InputError

report_app = typer.Typer(no_args_is_help=True, help="Reports for those who decide; they change nothing.")

Values = list[str] | None
PolicyOption = Annotated[
    Values,
    typer.Option("--policy", metavar="KEY=VALUE", help="Scenario: a policy value; above_100_km also takes an R."),
]
ProfileOption = Annotated[
    str | None,
    typer.Option("--profile", help="Scenario: a named profile of geobill.toml.", autocompletion=complete.profiles),
]
EditionOption = Annotated[str | None, typer.Option("--edition", help="Scenario: an imported edition of the value map.")]
MapFileOption = Annotated[
    Path | None,
    typer.Option("--land-values", metavar="FILE", help="Scenario: a proposed value map, read and not imported."),
]
LayerOption = Annotated[str | None, typer.Option("--layer", help="Layer of the scenario's map.")]
MapOption = Annotated[
    Values, typer.Option("--map", metavar="KEY=COLUMN", help="Columns of the scenario's map: zone, land_value.")
]
CrsOption = Annotated[str | None, typer.Option("--crs", metavar="EPSG:n", help="Coordinate system of that map.")]
FigureOption = Annotated[
    Values, typer.Option("--figure", metavar="NAME=VALUE", help="Scenario: a proposed figure of law.")
]
BracketsOption = Annotated[
    Path | None, typer.Option("--brackets", metavar="FILE", help="Scenario: a proposed scale of R, as TOML.")
]
AtOption = Annotated[
    str | None, typer.Option("--at", metavar="YYYY-MM", help="Scenario: law, policy and map of another month.")
]
BasePolicyOption = Annotated[
    Values, typer.Option("--base-policy", metavar="KEY=VALUE", help="The same for the base; may be repeated.")
]
BaseProfileOption = Annotated[
    str | None,
    typer.Option("--base-profile", help="The same for the base.", autocompletion=complete.profiles),
]
BaseEditionOption = Annotated[str | None, typer.Option("--base-edition", help="The same for the base.")]
BaseMapFileOption = Annotated[
    Path | None, typer.Option("--base-land-values", metavar="FILE", help="The same for the base.")
]
BaseLayerOption = Annotated[str | None, typer.Option("--base-layer", help="Layer of the base's map.")]
BaseMapOption = Annotated[
    Values, typer.Option("--base-map", metavar="KEY=COLUMN", help="Columns of the base's map: zone, land_value.")
]
BaseCrsOption = Annotated[str | None, typer.Option("--base-crs", metavar="EPSG:n", help="Coordinate system of it.")]
BaseFigureOption = Annotated[
    Values, typer.Option("--base-figure", metavar="NAME=VALUE", help="The same for the base; may be repeated.")
]
BaseBracketsOption = Annotated[
    Path | None, typer.Option("--base-brackets", metavar="FILE", help="The same for the base.")
]
BaseAtOption = Annotated[str | None, typer.Option("--base-at", metavar="YYYY-MM", help="The same for the base.")]
CsvOption = Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the table, for a spreadsheet.")]
HtmlOption = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the page, one file.")]


def simulate(
    month: MonthOption,
    until: Annotated[
        str | None, typer.Option(metavar="YYYY-MM", help="Last month, where several are added up.")
    ] = None,
    policy: PolicyOption = None,
    profile: ProfileOption = None,
    edition: EditionOption = None,
    land_values: MapFileOption = None,
    layer: LayerOption = None,
    map_: MapOption = None,
    crs: CrsOption = None,
    figure: FigureOption = None,
    brackets: BracketsOption = None,
    at: AtOption = None,
    base_policy: BasePolicyOption = None,
    base_profile: BaseProfileOption = None,
    base_edition: BaseEditionOption = None,
    base_land_values: BaseMapFileOption = None,
    base_layer: BaseLayerOption = None,
    base_map: BaseMapOption = None,
    base_crs: BaseCrsOption = None,
    base_figure: BaseFigureOption = None,
    base_brackets: BaseBracketsOption = None,
    base_at: BaseAtOption = None,
    csv: CsvOption = None,
    html: HtmlOption = None,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the chart by operator: .svg or .png.")
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Compare two ways of pricing: policies, dates, map editions, proposed rates. Nothing is written to the books."""
    from geobill.cli.simulated import simulation_answer, simulation_summary
    from geobill.documents.simulation import render_simulation, simulation_chart, simulation_csv
    from geobill.domain.dates import BillingMonth
    from geobill.pipeline.simulate import months_from
    from geobill.pipeline.simulate import simulate as run
    from geobill.store.settings import replace_file

    opened = shared.open_given(workspace)
    outputs = {"--csv": csv, "--html": html, "--chart": chart}
    _check_outputs(opened, outputs)
    if chart is not None and chart.suffix.lower() not in (".svg", ".png"):
        raise InputError(f"--chart {chart} is neither .svg nor .png: name a file of one of the two.")
    first = BillingMonth.parse(month)
    months = months_from(first, BillingMonth.parse(until) if until else first)
    base = _ask(
        opened, base_policy, base_profile, base_edition, base_land_values, base_layer, base_map, base_crs,
        base_figure, base_brackets, base_at, "--base-",
    )  # fmt: skip
    scenario = _ask(
        opened, policy, profile, edition, land_values, layer, map_, crs, figure, brackets, at, "--"
    )  # fmt: skip
    found = run(opened, months, base, scenario, shared.say)
    facts = (found.simulation, found.base, found.scenario, found.changes)
    if csv is not None:
        replace_file(csv, simulation_csv(found.simulation))
    if html is not None:
        replace_file(html, render_simulation(*facts, found.figures, opened.settings.authority))
    if chart is not None:
        replace_file(chart, simulation_chart(found.simulation, chart.suffix.lower()))
    data = simulation_answer(*facts, [str(p) for p in outputs.values() if p is not None])
    shared.answer(data, json, lambda: simulation_summary(data))


@report_app.command("notches")
def notches(
    month: Annotated[
        str | None, typer.Option(metavar="YYYY-MM", help="The month that is looked at (else this one).")
    ] = None,
    csv: CsvOption = None,
    html: HtmlOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Report whose extension lies where declaring more metres lowers the bill (art. 7), and by how much."""
    from geobill.cli.simulated import notches_answer, notches_summary
    from geobill.documents.notches import notches_csv, render_notches
    from geobill.domain.dates import BillingMonth
    from geobill.pipeline.notches import report_notches
    from geobill.store.settings import replace_file

    opened = shared.open_given(workspace)
    outputs = {"--csv": csv, "--html": html}
    _check_outputs(opened, outputs)
    today = shared.today()
    found = report_notches(opened, BillingMonth.parse(month) if month else BillingMonth.of(today))
    if csv is not None:
        replace_file(csv, notches_csv(found.report))
    if html is not None:
        replace_file(html, render_notches(found.report, found.figures, opened.settings.authority))
    data = notches_answer(found.report, [str(p) for p in outputs.values() if p is not None])
    shared.answer(data, json, lambda: notches_summary(data))


def _ask(
    opened: Any,
    policy: Values,
    profile: str | None,
    edition: str | None,
    land_values: Path | None,
    layer: str | None,
    map_: Values,
    crs: str | None,
    figure: Values,
    brackets: Path | None,
    at: str | None,
    prefix: str,
) -> Any:
    """How one side is to be priced, from its options."""
    from geobill.domain.dates import BillingMonth
    from geobill.law.supposed import parse_brackets
    from geobill.pipeline.simulate import Ask

    if land_values is None and (layer or map_ or crs):
        raise InputError(
            f"{prefix}layer, {prefix}map and {prefix}crs say how a map is read: give it with {prefix}land-values FILE."
        )
    figures = {
        name: _number(name, text) for name, text in _pairs(figure, f"{prefix}figure", "price_per_m3=160").items()
    }
    return Ask(
        policy=_pairs(policy, f"{prefix}policy", "reducer_method=graduated"),
        profile=profile,
        edition=edition,
        land_values=None if land_values is None else _map_file(opened, land_values, layer, map_, crs),
        figures=figures,
        brackets=() if brackets is None else parse_brackets(_text(brackets, f"{prefix}brackets"), brackets.name),
        law_of=BillingMonth.parse(at) if at else None,
    )


def _map_file(opened: Any, path: Path, layer: str | None, pairs: Values, crs: str | None) -> Any:
    from geobill.intake.reading import Options
    from geobill.pipeline.simulate import MapFile

    rules = opened.settings.policy
    options = Options(
        operator=None,
        crs=crs,
        default_width_m=None,
        mapping=shared.read_mapping(pairs),
        duplicate_stretch=rules.duplicate_stretch,
        length_precision_m=rules.length_precision_m,
    )
    return MapFile(path, layer, options)


def _pairs(given: Values, option: str, example: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in given or []:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip() or not value.strip():
            raise InputError(f"{option} {pair!r} is not of the form NAME=VALUE, for example {option} {example}.")
        if key.strip() in found:
            raise InputError(f"{option} names {key.strip()} twice: give it one value.")
        found[key.strip()] = value.strip()
    return found


def _number(name: str, text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise InputError(f"{name} can't be {text!r}: give a number with a decimal point, for example 0.03.") from None


def _text(path: Path, option: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(f"{option} {path} can't be read: {fault}. Name a text file in UTF-8.") from None


def _check_outputs(opened: Any, outputs: dict[str, Path | None]) -> None:
    """Refuse before anything is priced what couldn't be written, or would write over the workspace's own files."""
    own = {opened.database.path.resolve(), (opened.root / "geobill.toml").resolve()}
    issued = (opened.root / "documents").resolve()
    named = [p.resolve() for p in outputs.values() if p is not None]
    for option, path in outputs.items():
        if path is None:
            continue
        if path.resolve() in own or path.resolve().is_relative_to(issued):
            raise InputError(f"{option} {path} is the workspace's own file, or stands among its papers: name another.")
        if named.count(path.resolve()) > 1:
            raise InputError(f"{option} {path} is named for two results: name a file for each.")
        if not path.absolute().parent.is_dir() or path.is_dir():
            raise InputError(f"{option} {path} can't be written: name a file in a folder that exists.")
