"""The draft decree for Word: same words, figures in locked controls, and the check that finds a figure that was changed."""

import importlib.util
import io
import re
import shutil
import subprocess
import zipfile
from datetime import date
from pathlib import Path

import docx
import pytest
from lxml import etree

from documents import records
from documents.test_fatura import NASTY
from geobill.documents.docx import checked_skeleton, render_docx
from geobill.documents.docx_check import W, check_docx
from geobill.documents.html import figures_in, read_page
from geobill.documents.overrides.folder import SKELETON, package_skeleton
from geobill.documents.render import render_decree_forms
from geobill.errors import InputError, TemplateError

ROOT = Path(__file__).parents[2]
CONTEXT = {
    "titulo": "Minuta",
    "orgao": "Prefeitura",
    "secretaria": "Obras",
    "endereco": "Rua",
    "entidade": "Alfa",
    "resumo": "0",
}


@pytest.fixture(scope="module")
def drawing():
    return records.small_map(height_mm=200)


@pytest.fixture(scope="module")
def forms(drawing):
    return render_decree_forms(records.draft(), drawing, records.FIGURES)


def test_a_name_longer_than_a_file_property_holds_is_whole_in_the_text(drawing):
    name = "Companhia de Telecomunicações " * 12 + "S.A."
    content = render_decree_forms(records.draft(operator=records.operator(name=name)), drawing, records.FIGURES)["docx"]
    document = docx.Document(io.BytesIO(content))
    assert len(document.core_properties.title) == 255
    assert document.core_properties.title.endswith("…")
    assert name in "".join(body(content).itertext())


def parts(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def body(content: bytes) -> etree._Element:
    return etree.fromstring(parts(content)["word/document.xml"])


def changed(content: bytes, old: str, new: str, part: str = "word/document.xml") -> bytes:
    members = parts(content)
    assert old.encode() in members[part]
    return packed({**members, part: members[part].replace(old.encode(), new.encode(), 1)})


def skeleton_tool():
    spec = importlib.util.spec_from_file_location("make_docx_skeleton", ROOT / "tools" / "make_docx_skeleton.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_skeleton_is_what_its_tool_makes():
    assert skeleton_tool().skeleton() == package_skeleton()


def test_it_says_what_the_page_says(forms):
    page = read_page(forms["html"])
    for left_out in [e for e in page.iter() if {"letterhead", "record", "legend"} & set(e.classes)]:
        left_out.drop_tree()
    text = "".join(t.text or "" for t in body(forms["docx"]).iter(f"{W}t"))
    assert re.sub(r"[\s_]+", "", text) == re.sub(r"[\s_]+", "", page.text_content())


def test_letterhead_and_footer_come_from_the_skeleton(forms):
    document = docx.Document(io.BytesIO(forms["docx"]))
    header = "\n".join(p.text for p in document.sections[0].header.paragraphs)
    assert "Prefeitura Municipal de Caieiras" in header
    assert "Secretaria Municipal de Obras" in header
    assert "46.523.064/0001-78" in header
    assert records.draft().digest in "".join(p.text for p in document.sections[0].footer.paragraphs)
    assert document.core_properties.title.startswith("Minuta de Decreto")
    assert document.core_properties.modified.date() == date(2026, 10, 31)


def test_headings_tables_blanks_and_the_map_are_words_own(forms):
    document = docx.Document(io.BytesIO(forms["docx"]))
    styles = [p.style.name for p in document.paragraphs]
    assert styles.count("Title") == 1
    assert styles.count("Artigo") == 15
    assert {"Heading 1", "Heading 2", "Paragrafo", "Inciso", "Ementa", "Assinatura", "Legenda"} <= set(styles)
    title = next(p.text for p in document.paragraphs if p.style.name == "Title")
    assert re.fullmatch(r"DECRETO Nº _+, DE _+ DE _+ DE _+", title)
    data_tables = [t for t in document.tables if t._tbl.findall(f".//{W}tblHeader")]
    assert len(data_tables) == 5
    assert len(document.inline_shapes) == 1
    assert document.inline_shapes[0].width.mm == pytest.approx(174, abs=0.3)  # true to its scale
    described = body(forms["docx"]).find(".//{*}docPr")
    assert described.get("descr").startswith("Mapa com o norte para cima")


def test_every_figure_stands_in_a_locked_control(forms):
    controls = list(body(forms["docx"]).iter(f"{W}sdt"))
    letterhead = 1
    footer = 1
    assert len(controls) == len(figures_in(read_page(forms["html"]))) - letterhead - footer
    assert len(controls) > 100
    keys = [c.find(f"{W}sdtPr/{W}tag").get(f"{W}val") for c in controls]
    assert len(set(keys)) == len(keys)
    assert max(map(len, keys)) <= 64
    assert {c.find(f"{W}sdtPr/{W}lock").get(f"{W}val") for c in controls} == {"sdtContentLocked"}
    texts = {k: "".join(t.text for t in c.iter(f"{W}t")) for k, c in zip(keys, controls, strict=True)}
    assert texts["price.total|reais#1"] == "R$\u00a020.689,56"
    assert texts["draft.deposit|in_words#1"].startswith("sessenta e dois mil")


def test_same_bytes_again(drawing, forms):
    assert render_decree_forms(records.draft(), drawing, records.FIGURES)["docx"] == forms["docx"]


@pytest.mark.parametrize("name", NASTY)
def test_names_come_out_literally(drawing, name):
    made = render_decree_forms(
        records.draft(
            operator=records.operator(name=name, representative=name), authority=records.authority(name=name)
        ),
        drawing,
        records.FIGURES,
    )
    text = "".join(t.text or "" for t in body(made["docx"]).iter(f"{W}t"))
    assert text.count(name) >= 3
    assert name in "".join(p.text for p in docx.Document(io.BytesIO(made["docx"])).sections[0].header.paragraphs)
    assert check_docx(made["docx"], "x.docx").changed == ()


def test_an_untouched_document_is_found_whole(forms):
    for against in (None, forms["html"]):
        found = check_docx(forms["docx"], "x.docx", against)
        assert found.changed == ()
        assert found.figures > 100
        assert found.record == records.draft().digest


def test_an_edited_sentence_changes_no_figure(forms):
    edited = changed(forms["docx"], "Os casos omissos serão resolvidos", "Os casos não previstos serão decididos")
    assert check_docx(edited, "x.docx", forms["html"]).changed == ()


def test_a_changed_figure_is_named_with_both_values(forms):
    edited = changed(forms["docx"], "R$\u00a020.689,56", "R$\u00a010.689,56")
    for against in (None, forms["html"]):
        (found,) = check_docx(edited, "x.docx", against).changed
        assert (found.key, found.name) == ("price.total|reais#1", "valor mensal, 1ª ocorrência")
        assert (found.was, found.now) == ("R$\u00a020.689,56", "R$\u00a010.689,56")


def test_a_figure_that_is_gone_is_named(forms):
    root = body(forms["docx"])
    control = next(c for c in root.iter(f"{W}sdt") if "in_words" in c.find(f"{W}sdtPr/{W}tag").get(f"{W}val"))
    paragraph = control.getparent()
    paragraph.getparent().remove(paragraph)
    edited = packed({**parts(forms["docx"]), "word/document.xml": etree.tostring(root)})
    found = check_docx(edited, "x.docx").changed
    assert {c.now for c in found} == {None}
    assert "valor mensal, por extenso, 1ª ocorrência" in {c.name for c in found}


def test_a_change_of_the_list_and_the_figure_is_found_against_the_page(forms):
    edited = changed(forms["docx"], "R$\u00a020.689,56", "R$\u00a010.689,56")
    edited = changed(edited, "R$\u00a020.689,56", "R$\u00a010.689,56", "docProps/custom.xml")
    assert [c.key for c in check_docx(edited, "x.docx", forms["html"]).changed] == ["price.total|reais#1"]


def test_what_is_no_draft_is_refused(drawing, forms):
    with pytest.raises(InputError, match="isn't a DOCX"):
        check_docx(b"x", "x.docx")
    with pytest.raises(InputError, match="list of figures"):
        check_docx(package_skeleton(), "x.docx")
    other = render_decree_forms(records.draft(digest=records.sha("other")), drawing, records.FIGURES)["html"]
    with pytest.raises(InputError, match="two drafts"):
        check_docx(forms["docx"], "x.docx", other)


@pytest.mark.parametrize(
    ("part", "old", "new", "message"),
    [
        ("word/document.xml", "{{p corpo }}", "texto", "0 paragraphs with the tag"),
        (
            "word/document.xml",
            "{{p corpo }}",
            "{{p corpo }}</w:t></w:r></w:p><w:p><w:r><w:t>{{ ''.__class__.__mro__ }}",
            "unsafe",
        ),
        ("word/header1.xml", "{{ orgao }}", "{{ ''.__class__ }}", "unsafe"),
        ("word/header1.xml", "{{ orgao }}", "{{ nada }}", "'nada' is undefined"),
        ("word/header1.xml", "{{ orgao }}", "{% include '/etc/passwd' %}", "can't be filled"),
        ("word/styles.xml", 'w:name w:val="Artigo"', 'w:name w:val="Outro"', "lacks the paragraph styles Artigo"),
        ("word/document.xml", "<?xml", "<!DOCTYPE a><?xml", "declares a document type"),
    ],
)
def test_a_skeleton_that_does_not_do_is_refused(forms, part, old, new, message):
    skeleton = changed(package_skeleton(), old, new, part)
    with pytest.raises(TemplateError, match=message) as refusal:
        render_docx(forms["html"], skeleton, CONTEXT, None, date(2026, 1, 1))
    assert SKELETON in str(refusal.value)


def test_a_skeleton_may_not_reach_outside_or_grow():
    relation = (
        '<Relationship Id="rId99" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" '
        'Target="https://example.org/a.png" TargetMode="External"/></Relationships>'
    )
    remote = changed(package_skeleton(), "</Relationships>", relation, "word/_rels/document.xml.rels")
    with pytest.raises(TemplateError, match=r"takes 'https://example.org/a.png' from outside"):
        checked_skeleton(remote)
    bomb = packed({**parts(package_skeleton()), "word/media/zeros.bin": bytes(31_000_000)})
    assert len(bomb) < 200_000
    with pytest.raises(TemplateError, match="unpacks to"):
        checked_skeleton(bomb)
    with pytest.raises(TemplateError, match="macros"):
        checked_skeleton(packed({**parts(package_skeleton()), "word/vbaProject.bin": b"x"}))


def soffice(folder: Path, form: str, file: Path) -> Path:
    """Have LibreOffice open a file and save it in another form."""
    out = folder / "out"
    subprocess.run(
        [
            "soffice",
            f"-env:UserInstallation=file://{folder / 'profile'}",
            "--headless",
            "--convert-to",
            form,
            "--outdir",
            str(out),
            str(file),
        ],
        check=True,
        capture_output=True,
        timeout=180,
    )
    return out / f"{file.stem}.{form.split(':')[0]}"


@pytest.mark.skipif(
    shutil.which("soffice") is None, reason="LibreOffice isn't installed: apt-get install libreoffice-writer"
)
def test_figures_come_back_whole_from_libreoffice_with_an_edited_sentence(forms, tmp_path):
    start = tmp_path / "minuta.docx"
    start.write_bytes(forms["docx"])
    text = soffice(tmp_path, "odt", start)
    old, new = "Os casos omissos serão resolvidos por decisão", "Os casos não previstos serão decididos por ato"
    edited = tmp_path / "editada.odt"
    edited.write_bytes(changed(text.read_bytes(), old, new, "content.xml"))
    back = soffice(tmp_path, "docx:MS Word 2007 XML", edited)
    saved = back.read_bytes()
    assert saved != forms["docx"]
    assert new in "".join(t.text or "" for t in body(saved).iter(f"{W}t"))
    found = check_docx(saved, back.name, forms["html"])
    assert found.changed == ()
    assert found.figures > 100

    tampered = changed(saved, "20.689,56", "20.689,57")
    assert [c.key for c in check_docx(tampered, back.name, forms["html"]).changed] == ["price.total|reais#1"]
