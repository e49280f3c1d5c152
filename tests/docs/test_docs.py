"""The documentation beside the program: every command, option, key and code is in it, and nothing that doesn't exist."""

import ast
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest
import typer
from workspaces import ISSUED_ON, MONTH, done, geobill, make_workspace

from geobill.billing.compare import CAUSES as MONTH_CAUSES
from geobill.billing.permits import PAPERS
from geobill.cli.main import app
from geobill.documents.gpkg_styles import STATES as PIECE_STATES
from geobill.documents.held_words import HELD
from geobill.documents.words import FLAGS
from geobill.domain.apostila import CAUSES as APOSTILA_CAUSES
from geobill.domain.deadline import CODES as DEADLINES
from geobill.domain.finding import REASON_CODES
from geobill.domain.network import KINDS, STATUSES
from geobill.domain.permit import ACTS, STATES
from geobill.intake.cabinets import KEYS as CABINET_KEYS
from geobill.intake.formats import FORMATS
from geobill.intake.land_values import KEYS as VALUE_KEYS
from geobill.intake.network import KEYS as NETWORK_KEYS
from geobill.law.policy import KEYS
from geobill.law.statutes import STATUTES, load_statute

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
USER_PAGES = ("README.md", "analista.md", "financeiro.md", "revisor.md", "juridico.md")
COMMON = {"-w", "--workspace", "--json", "--help"}
HEADING = re.compile(r"^#{2,3} `(geobill[\w -]*)`$", re.MULTILINE)
ALWAYS_ASKED = {("geobill bill", "--month")}  # asked for by the command itself: its subcommands have their own
EXIT_CODES = ("0", "1", "2")
TELLS_FAULTS = {"geobill doctor"}  # exit 1 where the machine isn't sound, which is no matter of this page


def page(name):
    return (DOCS / name).read_text(encoding="utf-8")


def walk(command, path=("geobill",)):
    yield " ".join(path), command
    for name, below in getattr(command, "commands", {}).items():
        yield from walk(below, (*path, name))


COMMANDS = dict(walk(typer.main.get_command(app)))
GROUPS = {path for path, command in COMMANDS.items() if getattr(command, "commands", None)}


def own(command):
    """Parameters of a command besides those that all have."""
    return [p for p in command.params if not COMMON.intersection(p.opts)]


def shown_name(parameter):
    """How the reference names a parameter: its long option, or an argument's word in capitals."""
    if parameter.param_type_name == "option":
        return max(parameter.opts, key=len)
    return (parameter.metavar or parameter.name.upper()).strip("[]")


def sections():
    text = page("comandos.md")
    heads = list(HEADING.finditer(text))
    ends = [m.start() for m in heads[1:]] + [len(text)]
    return [(m[1], text[m.end() : end]) for m, end in zip(heads, ends, strict=True)]


SECTIONS = dict(sections())


def rows(section):
    """Rows of a section's table of options: name, metavar, default."""
    found = {}
    for first, default in re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", section.replace(r"\|", "¦"), re.MULTILINE):
        name, _, metavar = first.replace("¦", "|").partition(" ")
        assert name not in found, f"{name} stands twice"
        found[name] = (metavar, default.strip())
    return found


# -- the reference


def test_the_reference_has_a_section_for_each_command_and_no_other():
    counted = Counter(name for name, _ in sections())
    assert set(counted) == set(COMMANDS)
    assert set(counted.values()) == {1}


@pytest.mark.parametrize("path", COMMANDS)
def test_a_section_has_exactly_the_options_of_its_command(path):
    assert set(rows(SECTIONS[path])) == {shown_name(p) for p in own(COMMANDS[path])}


@pytest.mark.parametrize("path", COMMANDS)
def test_a_section_tells_defaults_metavars_and_what_must_be_given(path):
    documented = rows(SECTIONS[path])
    for parameter in own(COMMANDS[path]):
        name = shown_name(parameter)
        metavar, default = documented[name]
        if parameter.required or (path, name) in ALWAYS_ASKED:
            wanted = "obrigatória"
        elif parameter.default in (None, False, "") or parameter.multiple:
            wanted = "—"
        else:
            wanted = f"`{parameter.default}`"
        assert default == wanted, (path, name)
        if parameter.param_type_name == "option":
            assert bool(metavar) != bool(parameter.is_flag or name.endswith("-completion")), (path, name)
            declared = parameter.metavar
            assert declared in (None, metavar), (path, name)


def test_every_command_takes_the_options_that_are_said_to_be_common():
    for path, command in COMMANDS.items():
        if path in GROUPS - {"geobill", "geobill bill"}:
            continue
        given = {o for p in command.params for o in p.opts}
        assert {"-w", "--workspace", "--json"} <= given, path
    head = page("comandos.md").split("## `geobill`")[0]
    assert all(f"`{option}" in head for option in COMMON)
    assert "`GEOBILL_WORKSPACE`" in head


def test_every_exit_code_is_told():
    head = page("comandos.md").split("## `geobill`")[0]
    assert re.findall(r"^\| `(\d)` \|", head, re.MULTILINE) == list(EXIT_CODES)


def test_a_section_of_each_command_says_what_it_answers():
    leaves = set(COMMANDS) - (GROUPS - {"geobill bill"})
    assert [p for p in sorted(leaves) if "\nJSON: " not in SECTIONS[p]] == []


def answer_keys(path):
    (line,) = re.findall(r"^JSON: (.+)$", SECTIONS[path], re.MULTILINE)
    return re.findall(r"`(\w+)`", line.split(";")[0])


def test_the_keys_told_are_those_of_the_answers(tmp_path):
    root = make_workspace(tmp_path)
    permit = ("permit", "add", "--number", "1/2026", "--operator", "alfa", "--requested-on", "2026-09-01")
    papers = ("--works-opinion", "A", "--legal-opinion", "B", "--mayor-authorisation", "C", "--date", "2026-10-05")
    paid = ("--permit", "1/2026", "--amount", "100000", "--paid-on", "2026-10-06", "--receipt", "R1")
    act = ("--date", "2026-11-03", "--signatory", "Ana Prefeita", "--published-on", "2026-11-05")
    network = tmp_path / "files" / "alfa.geojson"
    planned = ("--operator", "alfa", "--map", "segment=id", "--map", "width=largura", "--permit", "1/2026")
    moved = network.rename(network.with_name("projeto.geojson"))
    scan = tmp_path / "decisao.pdf"
    scan.write_bytes(b"%PDF-1.7")
    plain_figures = tmp_path / "conta.json"
    plain_figures.write_text('{"date": "2026-11-30", "equipment": [{"volume_m3": "1.20"}]}', encoding="utf-8")
    calls = {
        "geobill init": ("init", tmp_path / "outra"),
        "geobill operator add": ("operator", "add", "--id", "zeta", "--name", "Zeta S.A."),
        "geobill operator list": ("operator", "list"),
        "geobill policy set": ("policy", "set", "on_border", "lower"),
        "geobill policy show": ("policy", "show"),
        "geobill policy profiles": ("policy", "profiles"),
        "geobill policy history": ("policy", "history"),
        "geobill decision add": (
            *("decision", "add", "--id", "D2", "--number", "1", "--date", "2026-01-15", "--signatory", "Prefeita"),
            *("--question", "above_100_km", "--answer", "0.60", "--scan", scan),
        ),
        "geobill decision list": ("decision", "list"),
        "geobill decision show": ("decision", "show", "--id", "D2"),
        "geobill decision scan": ("decision", "scan", "--id", "D2", "--out", tmp_path / "papel.pdf"),
        "geobill law show": ("law", "show", "--on", ISSUED_ON),
        "geobill law confirm": ("law", "confirm", "--until", "2028-06-30", "--by", "Ana"),
        "geobill law amend": (
            *("law", "amend", "--act", "Decreto 9/2027", "--article", "1", "--file", scan, "--by", "Ana"),
            *("--figure", "price_per_m3", "--value", "162.45", "--date", "2027-01-01"),
        ),
        "geobill statute new": (
            *("statute", "new", "--like", "caieiras-lei-3057-2001", ROOT / "tests" / "law" / "vila_ficticia.toml"),
            *("-w", tmp_path / "outra"),
        ),
        "geobill statute list": ("statute", "list"),
        "geobill assess": ("assess", "--statute", "caieiras-lei-3057-2001", plain_figures),
        "geobill inspect": ("inspect", moved),
        "geobill import land-values": (
            *("import", "land-values", tmp_path / "files" / "mapa.geojson", "--edition", "x", "--in-force-from"),
            *("2027-01-01", "--map", "zone=zona", "--map", "land_value=valor"),
        ),
        "geobill profile list": ("profile", "list"),
        "geobill profile show": ("profile", "show", "bdgd"),
        "geobill profile save": ("profile", "save", "alfa", "--layer", "rede", "--map", "width=largura"),
        "geobill permit add": permit,
        "geobill import network": ("import", "network", moved, *planned, "--status", "planned"),
        "geobill import cabinets": (
            *("import", "cabinets", tmp_path / "files" / "armarios.geojson", "--operator", "alfa", "--dry-run"),
            *("--map", "equipment=id", "--map", "volume=volume"),
        ),
        "geobill batch list": ("batch", "list"),
        "geobill batch show": ("batch", "show", "B00002"),
        "geobill batch quarantine": ("batch", "quarantine", "B00002", "--out", tmp_path / "fora"),
        "geobill batch undo": ("batch", "undo", "B00004", "--by", "Ana", "--reason", "x"),
        "geobill permit approve": ("permit", "approve", "--number", "1/2026", *papers),
        "geobill deposit demand": ("deposit", "demand", "--permit", "1/2026", "--on", "2026-10-05"),
        "geobill deposit record": ("deposit", "record", *paid),
        "geobill fee record": ("fee", "record", *paid),
        "geobill decree draft": ("decree", "draft", "--permit", "1/2026", "--on", "2026-11-03"),
        "geobill decree issue": ("decree", "issue", "--permit", "1/2026", "--number", "8/2026", *act),
        "geobill decree list": ("decree", "list"),
        "geobill permit list": ("permit", "list"),
        "geobill permit show": ("permit", "show", "--number", "1/2026"),
        "geobill price": ("price", "--month", MONTH),
        "geobill bill": ("bill", "--month", MONTH, "--issued-on", ISSUED_ON),
        "geobill bill check": ("bill", "check", "--month", MONTH),
        "geobill explain": ("explain", "2026/000001", "--line", "1"),
        "geobill verify": ("verify", "2026/000001"),
        "geobill deadlines": ("deadlines", "--from", ISSUED_ON, "--until", "2027-12-01"),
        "geobill credit add": (
            *("credit", "add", "--id", "C1", "--operator", "alfa", "--law", "Lei 5.000/2025", "--amount", "20.00"),
            *("--on", "2026-11-02"),
        ),
        "geobill credit list": ("credit", "list"),
        "geobill correct": ("correct", "--month", MONTH, "--reason", "x", "--issued-on", ISSUED_ON),
        "geobill invoice list": ("invoice", "list"),
        "geobill invoice show": ("invoice", "show", "2026/000001"),
        "geobill invoice cancel": (
            "invoice",
            "cancel",
            "2026/000002",
            "--reason",
            "x",
            "--by",
            "Ana",
            "--on",
            ISSUED_ON,
        ),
        "geobill simulate": ("simulate", "--month", MONTH, "--policy", "reducer_method=graduated"),
        "geobill report notches": ("report", "notches", "--month", MONTH),
        "geobill permit remove": ("permit", "remove", "--number", "1/2026", "--on", "2026-11-20"),
        "geobill deposit release": (
            *("deposit", "release", "--permit", "1/2026", "--on", "2026-12-01"),
            *("--reason", "retirada"),
        ),
        "geobill suspension add": (
            *(
                "suspension",
                "add",
                "--id",
                "S1",
                "--case",
                "1",
                "--court",
                "TJSP",
                "--kind",
                "final",
                "--effect",
                "accrues",
            ),
            *("--articles", "7", "--operator", "alfa", "--from", "2026-12-01"),
        ),
        "geobill suspension list": ("suspension", "list"),
        "geobill suspension show": ("suspension", "show", "S1"),
        "geobill suspension lift": (
            *("suspension", "lift", "S1", "--on", "2026-12-05", "--by", "Ana", "--reference", "R"),
            *("--months", "none", "--late-charges", "no"),
        ),
        "geobill suspension risks": ("suspension", "risks"),
        "geobill templates list": ("templates", "list"),
        "geobill templates copy": ("templates", "copy", "mapa.svg.j2"),
        "geobill doctor": ("doctor",),
        "geobill crs grids": ("crs", "grids"),
        "geobill crs boundary": ("crs", "boundary", tmp_path / "files" / "mapa.geojson"),
        "geobill formats": ("formats",),
        "geobill version": ("version",),
    }
    for path, call in calls.items():
        answered = set(
            geobill(*call, "--json", workspace=root).json if path in TELLS_FAULTS else done(*call, workspace=root)
        )
        told = set(answer_keys(path))
        if path == "geobill bill":
            told |= set(answer_keys("geobill price"))
        assert told == answered, path


# -- what the pages name


@pytest.mark.parametrize("name", sorted({*REASON_CODES, *STATUSES, *KINDS, *NETWORK_KEYS, *CABINET_KEYS, *VALUE_KEYS}))
def test_the_analyst_finds_every_reason_status_and_column_key(name):
    assert f"`{name}`" in page("analista.md") or (name in KINDS and f"`{name}`" in page("comandos.md"))


def test_the_analyst_finds_every_format():
    assert [f.name for f in FORMATS if f.name not in page("analista.md")] == []


@pytest.mark.parametrize("key", KEYS, ids=lambda k: k.key)
def test_the_legal_office_finds_every_policy_key_with_its_values_and_default(key):
    (row,) = re.findall(rf"^\| `{key.key}` \|.*$", page("juridico.md"), re.MULTILINE)
    assert f"**`{key.default}`**" in row
    if key.is_number:
        low, high = re.findall(r"[\d.]+", key.values[0])
        assert f"{low} a {high}" in row
    else:
        assert all(f"`{value}`" in row for value in key.values if " " not in value)


def test_no_policy_key_is_documented_that_does_not_exist():
    table = page("juridico.md").split("| Chave |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == {k.key for k in KEYS}


def test_the_legal_office_finds_every_figure_of_the_statutes_and_what_a_permit_goes_through():
    text = page("juridico.md")
    figures = {f.name for name in STATUTES for f in load_statute(name).figures.figures}
    named = figures | set(ACTS) | set(STATES) | set(PAPERS) | set(APOSTILA_CAUSES)
    assert sorted(n for n in named if f"`{n}`" not in text) == []


def test_the_legal_office_finds_every_refusal_of_a_decree():
    codes = called_with("Missing")
    assert {"deposit", "price_held", "granted_already"} <= codes
    assert sorted(c for c in codes if f"`{c}`" not in page("juridico.md")) == []


def test_the_reviewer_finds_every_flag_status_and_state():
    text = page("revisor.md")
    assert sorted(f for f in FLAGS if f"`{f}`" not in text or FLAGS[f] not in text) == []
    assert sorted(s for s in STATUSES if f"| `{s}` |" not in text) == []
    assert [s[0] for s in PIECE_STATES if f"| {s[0]} |" not in text] == []


def test_the_clerk_finds_every_cause_and_every_reason_to_hold():
    assert sorted(c for c in (*MONTH_CAUSES, *HELD) if f"`{c}`" not in page("financeiro.md")) == []


def test_every_finding_is_explained_to_somebody():
    codes = called_with("Finding", "note", "_lies")
    assert {"already_stored", "crs_missing", "width_unusual", "differs_from_issued"} <= codes
    text = page("analista.md") + page("financeiro.md") + page("juridico.md")
    assert sorted(c for c in codes if f"`{c}`" not in text) == []


def test_the_legal_office_finds_every_difference_that_verify_can_find_and_every_deadline():
    codes = called_with("Difference") | set(DEADLINES)
    assert {"input_altered", "document_differs", "limitation"} <= codes
    assert sorted(c for c in codes if f"`{c}`" not in page("juridico.md")) == []


def called_with(*functions):
    """Texts that the program gives as ``code`` to functions of these names."""
    found = set()
    for path in (ROOT / "geobill").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                not isinstance(node, ast.Call)
                or getattr(node.func, "id", getattr(node.func, "attr", "")) not in functions
            ):
                continue
            given = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "code")]
            found |= {g.value for g in given if isinstance(g, ast.Constant)}
    return found


# -- links and command lines


def anchors(path):
    """Anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#{1,6} (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


PAGES = sorted({ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")})


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    dead = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        if not there.exists() or (anchor and anchor not in anchors(there)):
            dead.append(target)
    assert dead == []


def test_the_index_leads_to_every_page():
    linked = set(re.findall(r"\]\(([^)#\s]+)\)", page("README.md")))
    assert {p.name for p in DOCS.glob("*.md")} - {"README.md"} <= linked


def command_lines():
    for path in (ROOT / "README.md", *(DOCS / name for name in (*USER_PAGES, "comandos.md"))):
        for block in re.findall(r"^```sh\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
            for line in block.splitlines():
                if line.strip():
                    yield pytest.param(line, id=f"{path.name}: {line[:60]}")


@pytest.mark.parametrize("line", list(command_lines()))
def test_a_command_line_in_the_pages_is_one_that_geobill_takes(line):
    words = shlex.split(line, comments=True)
    if words[0] in ("export", "cd"):
        return
    assert words[0] == "geobill", f"{words[0]} is no command of this house"
    assert mistakes(words[1:]) == []


def mistakes(words):
    """What is wrong with the words after ``geobill``, without running them."""
    path, found, places = "geobill", [], 0
    options = {o: p for p in COMMANDS[path].params for o in p.opts if o.startswith("-")}
    given = set()
    while words:
        word, words = words[0], words[1:]
        below = f"{path} {word}"
        if word.startswith("-"):
            parameter = options.get(word)
            if parameter is None:
                return [f"{path} has no option {word}"]
            given.add(parameter.name)
            if not parameter.is_flag:
                if not words or words[0].startswith("--"):
                    return [f"{word} lacks its value"]
                words = words[1:]
        elif below in COMMANDS and not places:
            path, given = below, set()
            options = {o: p for p in COMMANDS[path].params for o in p.opts if o.startswith("-")}
        elif path in GROUPS:
            return [f"there is no command {below}"]
        else:
            places += 1
    arguments = [p for p in COMMANDS[path].params if p.param_type_name == "argument"]
    if path in GROUPS - {"geobill bill"}:
        found.append(f"{path} isn't a command by itself")
    if not sum(p.required for p in arguments) <= places <= len(arguments):
        found.append(f"{path} takes {len(arguments)} argument(s), not {places}")
    asked = {p.name for p in own(COMMANDS[path]) if p.param_type_name == "option" and p.required}
    return [*found, *(f"{path} lacks {name}" for name in sorted(asked - given))]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("price --month 2026-11", []),
        ("-w caieiras bill check --month 2026-11", []),
        ("price", ["geobill price lacks month"]),
        ("price --mouth 2026-11", ["geobill price has no option --mouth"]),
        ("permit grant --number 1", ["there is no command geobill permit grant"]),
        ("price --month", ["--month lacks its value"]),
        ("inspect", ["geobill inspect takes 1 argument(s), not 0"]),
        ("permit", ["geobill permit isn't a command by itself"]),
    ],
)
def test_the_reading_of_command_lines_finds_mistakes(line, said):
    assert mistakes(shlex.split(line)) == said
