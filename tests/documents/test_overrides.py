"""A workspace's own templates: found, obeyed, bounded, tried out; whatever reaches out or runs on is refused by name."""

import io
import json
import shutil
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest
from pipeline.checks import query
from workspaces import add_operator, bill, geobill, import_network, import_zones, write_network, write_zones

from documents import records
from documents.reading import packed, text_of
from geobill.documents.overrides.folder import (
    PACKAGE,
    SKELETON,
    WHAT,
    Templates,
    package_names,
    package_skeleton,
    read_templates,
)
from geobill.documents.render import render_decree_forms, render_invoice, render_invoice_forms
from geobill.documents.templating import package_source
from geobill.errors import TemplateError
from geobill.pipeline.templates import SAMPLES

NAME = "fatura.typ.j2"
OPEN, CLOSE = '{% extends "_base.typ.j2" %}\n{% block body %}\n', "\n{% endblock %}\n"
LIMIT_S, LIMIT_MB = 4.0, 512


@pytest.fixture(scope="module")
def drawing():
    return records.small_map()


def own(limit_s: float = 60.0, **files: str | bytes) -> Templates:
    """Templates of a workspace, with limits that a test can wait for; two underscores stand for a point."""
    contents = {n.replace("__", "."): f.encode() if isinstance(f, str) else f for n, f in files.items()}
    return Templates(contents, limit_s=limit_s, limit_mb=LIMIT_MB)


def refusal(templates: Templates, drawing) -> str:
    with pytest.raises(TemplateError) as refused:
        render_invoice_forms(records.invoice(), drawing, records.FIGURES, templates)
    return str(refused.value)


def test_an_untouched_copy_gives_the_same_bytes(drawing):
    copied = own(fatura__typ__j2=package_source(NAME), modelo_decreto__docx=package_skeleton())
    assert render_invoice_forms(records.invoice(), drawing, records.FIGURES, copied) == render_invoice_forms(
        records.invoice(), drawing, records.FIGURES
    )
    tall = records.small_map(height_mm=200)
    assert render_decree_forms(records.draft(), tall, records.FIGURES, copied) == render_decree_forms(
        records.draft(), tall, records.FIGURES
    )


def test_an_own_part_and_the_packages_under_its_prefix_can_be_used(drawing):
    templates = own(
        _aviso__typ__j2="#note[Atendimento no balcão 3.]\n",
        fatura__typ__j2='{% extends "geobill/fatura.typ.j2" %}\n{% block body %}{% include "_aviso.typ.j2" %}'
        "{{ super() }}{% endblock %}\n",
    )
    text = packed(text_of(render_invoice(records.invoice(), drawing, records.FIGURES, templates)))
    assert packed("Atendimento no balcão 3.") in text
    assert packed("Fatura mensal de preço público") in text


def test_an_own_map_is_drawn(drawing):
    svg = package_source("mapa.svg.j2").replace(">N</text>", ">NORTE</text>")
    assert ">NORTE</text>" in svg
    templates = own(mapa__svg__j2=svg)
    assert ">NORTE</text>" in records.small_map(templates=templates).svg
    assert ">N</text>" in drawing.svg


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("a\n{{ ''.__class__.__mro__ }}", "line 4 can't be filled: access to attribute '__class__'"),
        ("{{ invoice.__init__.__globals__ }}", "'__init__'"),
        ("{{ ''|attr('__class__') }}", "'__class__'"),
        ('{% include "/etc/passwd" %}', "no template '/etc/passwd'"),
        ('{% include "../render.py" %}', "no template '../render.py'"),
        ("{{ nada }}", "line 3 can't be filled: 'nada' is undefined"),
        ("\n{% if %}", "line 4 can't be filled: Expected an expression"),
        ("{{ 1 // 0 }}", "line 3 can't be filled: ZeroDivisionError"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "RecursionError"),
        ("{% set x = 'a' * 10**10 %}", f"needs more than {LIMIT_MB} MB"),
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "isn't done after 4 s"),
        ("#let i = 0\n#while true { i += 1 }", "Typst says: condition is always true"),
        ("#for a in range(100000) { for b in range(100000) { let c = a } }", "isn't done after 4 s"),
        ("#let f(x) = f(x + 1)\n#f(1)", "maximum function call depth exceeded"),
        ('#let x = "a"\n#for i in range(60) { x = x + x }', f"needs more than {LIMIT_MB} MB"),
        ('#read("/etc/passwd")', "file not found"),
        ('#read("../../../../etc/passwd")', "would escape the project root"),
        ('#image("/etc/a.png", alt: "")', "file not found"),
        ('#json("a.json")', "file not found"),
        ('#import "@preview/cetz:0.3.1"', "without a network"),
        ('#include "a.typ"', "without a network"),
        ('#plugin("a.wasm")', "without a network"),
        ('/* #" */ #eval("1+1;"); /* "; */', "without a network"),
        ('#if web { html.elem("script", "alert(1)") }', "<script>"),
        ("#if web { place(top)[oi] } else { stack[oi] }\n#stack[a]", "without losing something"),
    ],
)
def test_what_reaches_out_or_runs_on_is_refused_by_name(drawing, body, told):
    limit_s = LIMIT_S if "isn't done" in told else 60.0
    message = refusal(own(limit_s, fatura__typ__j2=OPEN + body + CLOSE), drawing)
    assert NAME in message
    assert told in message
    assert "No document was made" in message or "no document was made" in message


def test_the_process_can_open_nothing():
    """Even code that got out of the sandbox would find no file and no socket to open."""
    code = (
        "from geobill.documents.overrides.child import _forbid\n"
        "from geobill.documents.overrides.folder import Templates\n"
        "import socket\n"
        "_forbid(Templates())\n"
        "for reach in (lambda: open('/etc/hostname'), socket.socket):\n"
        "    try:\n        reach()\n    except OSError as fault:\n        print(fault.errno)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["24", "24"], done.stderr  # EMFILE


def test_a_skeleton_that_loops_is_stopped():
    with zipfile.ZipFile(io.BytesIO(package_skeleton())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    loop = b"{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    members["word/header1.xml"] = members["word/header1.xml"].replace(b"{{ orgao }}", loop)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(TemplateError, match=SKELETON):
        render_decree_forms(
            records.draft(),
            records.small_map(height_mm=200),
            records.FIGURES,
            own(LIMIT_S, modelo_decreto__docx=out.getvalue()),
        )


def test_every_template_of_the_package_says_what_it_makes():
    assert set(package_names()) == set(WHAT)


def test_folder_is_read_once_and_only_templates(tmp_path):
    assert read_templates(tmp_path) == PACKAGE
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / NAME).write_text("a", encoding="utf-8")
    (folder / "_meu.typ.j2").write_text("b", encoding="utf-8")
    (folder / "fatura.typ.j2.bak").write_text("c", encoding="utf-8")
    (folder / "fatua.typ.j2").write_text("d", encoding="utf-8")
    templates = read_templates(tmp_path)
    (folder / NAME).write_text("later", encoding="utf-8")
    assert set(templates.files) == {NAME, "_meu.typ.j2"}
    assert templates.source(NAME) == "a"
    assert templates.source(f"geobill/{NAME}") == package_source(NAME)
    assert templates.source("../x.typ.j2") is None
    assert templates.digests[NAME] == records.sha("a")


@pytest.mark.parametrize("fault", ["link", "encoding", "folder"])
def test_what_is_no_readable_template_is_refused(tmp_path, fault):
    target = tmp_path / "templates" / NAME
    target.parent.mkdir()
    if fault == "link":
        target.symlink_to("/etc/passwd")
    elif fault == "folder":
        target.mkdir()
    else:
        target.write_bytes("não".encode("latin-1"))
    with pytest.raises(TemplateError, match=r"fatura\.typ\.j2"):
        read_templates(tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    root = folder / "ws"
    assert geobill("init", root).code == 0
    add_operator(root, "alfa", "Alfa Telecomunicações S.A.")
    import_zones(root, write_zones(folder / "mapa.geojson", ("Centro", "10.50", 0, 0, 100, 100)))
    import_network(root, write_network(folder / "alfa.geojson", ("A1", 0.5, [(10, 10), (90, 10)])), "alfa")
    return root


@pytest.fixture
def workspace(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "ws"))


def test_copy_edit_check(workspace, tmp_path):
    listed = geobill("templates", "list", "--json", workspace=workspace).json["templates"]
    assert {t["name"]: t["own"] for t in listed} == dict.fromkeys(package_names(), False)
    assert geobill("templates", "copy", NAME, workspace=workspace).code == 0
    target = workspace / "templates" / NAME
    assert target.read_text(encoding="utf-8") == package_source(NAME)
    again = geobill("templates", "copy", NAME, workspace=workspace)
    assert again.code == 1
    assert "nothing was changed" in again.err
    assert geobill("templates", "copy", "nada.typ.j2", workspace=workspace).code == 1

    text = target.read_text(encoding="utf-8").replace("= Fatura mensal de preço público", "= Demonstrativo mensal")
    target.write_text(text.replace("{{ invoice.yearly|reais }}", "(valor anual)"), encoding="utf-8")
    out = tmp_path / "olhar"
    checked = geobill("templates", "check", NAME, "--out", out, "--json", workspace=workspace)
    assert checked.code == 0, checked.err
    assert checked.json["templates"] == [{"name": NAME, "ok": True, "refusal": None}]
    found = {d["name"]: d for d in checked.json["documents"]}
    assert set(found) == set(SAMPLES)
    assert "-Fatura mensal de preço público" in found["fatura"]["diff"]
    assert "+Demonstrativo mensal" in found["fatura"]["diff"]
    assert [f["name"] for f in found["fatura"]["missing_figures"]] == ["invoice.yearly, 1ª ocorrência"]
    assert found["minuta"]["diff"] == []
    assert (out / "modelos-proprios" / "fatura.pdf").read_bytes() != (out / "pacote" / "fatura.pdf").read_bytes()
    assert (out / "pacote" / "minuta.docx").is_file()


def test_check_lays_a_fault_at_its_templates_door(workspace):
    for name in (NAME, "_linhas.typ.j2"):
        geobill("templates", "copy", name, workspace=workspace)
    (workspace / "templates" / "_linhas.typ.j2").write_text("{{ nada }}", encoding="utf-8")
    checked = geobill("templates", "check", "--json", workspace=workspace)
    assert checked.code == 1
    assert {t["name"]: t["ok"] for t in checked.json["templates"]} == {NAME: True, "_linhas.typ.j2": False}
    assert "'nada' is undefined" in checked.json["documents"][0]["refusal"]


def test_bill_uses_them_says_so_and_keeps_them(workspace):
    plain = bill(workspace, month="2026-10", issued_on="2026-11-03")
    assert "own_templates" not in {f["code"] for f in plain["findings"]}
    geobill("templates", "copy", NAME, workspace=workspace)
    target = workspace / "templates" / NAME
    text = target.read_text(encoding="utf-8").replace("= Fatura mensal de preço público", "= Demonstrativo mensal")
    target.write_text(text, encoding="utf-8")
    billed = bill(workspace)
    (note,) = [f for f in billed["findings"] if f["code"] == "own_templates"]
    assert "modelos próprios em uso" in note["message"]
    assert records.sha(text)[:12] in note["message"]
    folder = workspace / "documents" / "2026-11"
    assert "Demonstrativo mensal" in text_of(next(folder.glob("fatura-*.pdf")).read_bytes())
    assert "Demonstrativo mensal" in next(folder.glob("fatura-*.html")).read_text(encoding="utf-8")
    assert {p.suffix for p in folder.glob("minuta-alfa.*")} == {".pdf", ".html", ".docx"}
    (digest,) = query(workspace, "SELECT sha256 FROM invoice_inputs WHERE role = 'templates'")
    (packed_text,) = query(workspace, "SELECT content FROM archive WHERE sha256 = ?", digest[0])
    assert json.loads(zlib.decompress(packed_text[0])) == {NAME: text}

    target.write_text("{{ nada }}", encoding="utf-8")
    refused = geobill("bill", "--month", "2026-12", "--issued-on", "2027-01-04", workspace=workspace)
    assert refused.code == 1
    assert NAME in refused.err
    assert query(workspace, "SELECT count(*) FROM invoices") == [(2,)]


def test_a_draft_that_came_back_from_word_is_checked(workspace, tmp_path):
    bill(workspace)
    draft = workspace / "documents" / "2026-11" / "minuta-alfa.docx"
    whole = geobill("templates", "check-docx", draft, "--json")
    assert whole.code == 0, whole.err
    assert whole.json["ok"]
    assert whole.json["figures"] > 50
    with zipfile.ZipFile(draft) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    amount = b"R$\xc2\xa06,30"
    assert amount in members["word/document.xml"]
    members["word/document.xml"] = members["word/document.xml"].replace(amount, b"R$\xc2\xa05,30", 1)
    edited = tmp_path / "editada.docx"
    with zipfile.ZipFile(edited, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    found = geobill("templates", "check-docx", edited, "--json")
    assert found.code == 1
    assert [c["now"] for c in found.json["changed"]] == ["R$\u00a05,30"]
    assert "valor mensal" in geobill("templates", "check-docx", edited).out
    assert geobill("templates", "check-docx", tmp_path / "nada.docx").code == 1
