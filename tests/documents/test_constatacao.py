"""The auto de constatação and the papers after it: what was seen, how, where, by which article, and what the operator may do."""

import hashlib
import io
import json
import re
from dataclasses import replace
from datetime import date
from decimal import Decimal

import geopandas as gpd
import pikepdf
import pytest
from PIL import Image
from shapely import LineString, Point, box

from documents.reading import packed, page_count, squeeze, text_of
from geobill.documents import case_papers as papers
from geobill.documents.case_papers import case_job
from geobill.documents.case_sample import AUTHORITY, FIGURES, OPERATOR, sample_case
from geobill.documents.constatacao import Signed, constatacao_job, render_constatacao
from geobill.documents.constatacao_facts import Shown
from geobill.documents.evidence_map import LEGEND, Ground, Mark, evidence_sheet
from geobill.documents.finding_sample import (
    CRS,
    EAST,
    NORTH,
    ON_FINDINGS,
    TERMS,
    sample_around,
    sample_constatacao_job,
    sample_grounds,
    sample_job_on_findings,
    sample_shown,
    sample_survey,
)
from geobill.documents.finding_words import (
    ACT_WORDS,
    CASE_KIND_WORDS,
    CASE_STATE_WORDS,
    KIND_SENTENCES,
    KIND_WORDS,
    STATE_WORDS,
)
from geobill.documents.forms import draw_all, make
from geobill.documents.html import read_page, record_of, text_lines
from geobill.documents.offset_profile import SMALL_MM, OffsetProfile, offset_chart
from geobill.documents.overrides.folder import Templates
from geobill.documents.photos import LONGEST_PX, small_jpeg
from geobill.documents.templating import package_source
from geobill.domain import case as acts
from geobill.domain import detection as found
from geobill.domain.case import CASE_STATES, KINDS, Case, CaseAct, CaseFile
from geobill.domain.detection import FindingAct, FindingFile
from geobill.errors import BooksDontCloseError, TemplateError

FORMS = ("pdf", "html")
LAW = FIGURES.statute_title
CASE = Case("2026-014", acts.CLANDESTINE, "alfa", date(2026, 3, 2), "Cabo na Rua das Amoreiras")
SIGNED = Signed(date(2026, 3, 2), "Ana Lima", "Auto 31/2026")
ODD = '<b>Redes</b> #panic("x") [Sul] *e* _Norte_ $x$ {{ law }} <!-- & Cia.'


@pytest.fixture(scope="module")
def sample():
    return make(sample_constatacao_job(), FORMS)


def rendered(shown, operator=OPERATOR, survey=None, photos=None, case=CASE, around=None):
    surveys = [survey or sample_survey()]
    return render_constatacao(case, SIGNED, operator, AUTHORITY, surveys, shown, around or sample_around(), LAW, photos)


def alternatives(pdf):
    """Alternative texts of a document's pictures."""
    with pikepdf.open(io.BytesIO(pdf)) as document:
        return [str(o["/Alt"]) for o in document.objects if isinstance(o, pikepdf.Dictionary) and "/Alt" in o]


def test_it_says_who_what_how_where_and_by_which_article_in_both_forms(sample):
    on_paper, on_page = packed(text_of(sample["pdf"])), packed(squeeze(" ".join(text_lines(sample["html"]))))
    for part in (
        "Auto de constatação", "Prefeitura Municipal de Caieiras (exemplo)", "Alfa Telecomunicações S.A.", "2026-014", "Auto 31/2026",
        "constatou em campo, pela comparação descrita no item 2, 4 achados, que somam 230,12 m de rede",
        "Rede não declarada (1): Há rede no local, e nenhuma permissão ou cadastro a abrange.",
        "arquivo “levantamento_2026.gpkg”, camada “rede” (SHA-256 " + sample_survey().sha256,
        "comparado em 26 de fevereiro de 2026 por Caio Prado",
        "3,00 m + √(0,50² + 1,00²) m = 4,12 m", "Trecho menor que 5,00 m não é achado",
        "1.284,30 m levantados = 1.186,18 m declarados + 98,12 m não declarados",
        "incluídos 2,31 m em trechos menores que a extensão mínima", "3 levantados, 2 declarados, 1 não declarados",
        "(art. 10)", "em dobro, até cessar a irregularidade (§ 2º)", "compelida ao refazimento, às suas custas (art. 4º)",
        "não é decisão, nada cobra e nenhuma penalidade aplica", "(arts. 9º, § 4º, e 10, § 1º) é o que a notificação fixar",
        "comprovar a data da instalação (art. 10, § 3º)", "comunicar o impedimento alheio à sua vontade (art. 4º, parágrafo único)",
        "não é probabilidade de culpa", "extensão ÷ (extensão + extensão mínima)", "o desvio padrão desses erros é 1,12 m",
        "V00001-00003", "1,20 m na medição; 0,50 m na permissão", "9,84 / 13,02 / 13,51",
        "98,12 m, do metro 0,00 ao 98,12 da linha levantada L17", "E 330.040,0 · N 7.414.014,0 a E 330.138,0 · N 7.414.019,0",
        "procede – Ana Lima, 27/02/2026: visto no local", "72,00 m, do metro 0,00 ao 72,00 da linha permitida S2",
        "Escala 1:1.500 em folha A4 – SIRGAS 2000 / UTM, fuso 23S (EPSG:31983)", "rede levantada em campo em cinza pontilhado",
        "Recebi uma via", "Secretaria Municipal de Obras, Projetos e Planejamento",
    ):  # fmt: skip
        assert packed(part) in on_paper, part
        assert packed(part) in on_page, part
    assert record_of(sample["html"]) == sample_constatacao_job().digest
    assert read_page(sample["html"]) is not None


def test_equal_inputs_give_equal_bytes_and_the_record_changes_with_what_was_seen(sample):
    assert make(sample_constatacao_job(), FORMS) == sample
    first, *rest = sample_shown()
    wider = replace(first, file=replace(first.file, finding=replace(first.file.finding, length_m=Decimal("98.13"))))
    job = constatacao_job(CASE, SIGNED, OPERATOR, AUTHORITY, [sample_survey()], [wider, *rest], sample_around(), LAW)
    same = constatacao_job(CASE, SIGNED, OPERATOR, AUTHORITY, [sample_survey()], sample_shown(), sample_around(), LAW)
    assert job.digest != same.digest


def test_pictures_are_told_to_who_cannot_see_them(sample):
    told = alternatives(sample["pdf"])
    maps = [t for t in told if t.startswith("Mapa com o norte para cima")]
    charts = [t for t in told if t.startswith("Gráfico do achado")]
    assert (len(maps), len(charts)) == (5, 3)
    (whole,) = (t for t in maps if "os achados 1, 2, 3, 4" in t)
    assert "na escala 1:1.500, de uma área de 261 por" in whole
    assert "do canto noroeste (E 329.974 · N " in whole
    assert "achado: não declarado ou a mais em vermelho grosso tracejado" in whole
    assert "equipamento permitido em quadrado azul" in whole
    (first,) = (t for t in charts if "achado 1:" in t)
    assert "vai de 14 a 15 metros; o alcance, em linha tracejada, é de 4,12 metros, e 100% dos pontos" in first
    (last,) = (t for t in charts if "achado 4:" in t)
    assert "Não há rede levantada a até 41,18 metros, em toda a extensão" in last


def test_a_case_of_one_finding_fits_two_pages_and_a_name_with_markup_stays_a_name():
    for shown in sample_shown():
        made = rendered([shown], replace(OPERATOR, name=f"Companhia {ODD} de Energia do Vale do Juquery e Região S.A."))
        assert page_count(made["pdf"]) == 2, shown.file.finding.kind
        assert packed(ODD) in packed(text_of(made["pdf"]))
        assert packed(ODD) in packed(" ".join(text_lines(made["html"])))
        assert b"<b>Redes" not in made["html"]


def test_what_people_and_files_say_stays_text():
    first = sample_shown()[0]
    odd = replace(first.file.finding, segment=ODD, permitted=ODD, service=ODD)
    shown = Shown(
        FindingFile(odd, (FindingAct(odd.id, found.UPHELD, ODD, ODD, at="2026-02-27T10:00:00Z"),)), first.shape, ODD
    )
    around = replace(sample_around(), zones=sample_around().zones.assign(zone=ODD[:12]))
    made = rendered([shown], survey=replace(sample_survey(), file=f"{ODD}.gpkg", layer=ODD, by=ODD), around=around)
    text = packed(text_of(made["pdf"]))
    assert text.count(packed(ODD)) >= 6
    assert b"<script" not in made["html"]


def many(count):
    """Findings in a row, 5 m long each."""
    made = []
    for n in range(1, count + 1):
        finding = replace(sample_shown()[0].file.finding, id=f"V00001-{n:05d}", length_m=Decimal("5.00"), end_m=5.0)
        x = EAST + 12 * n
        made.append(Shown(FindingFile(finding), LineString([(x, NORTH + 20), (x + 5, NORTH + 20)])))
    return made


def test_beyond_forty_findings_a_table_stands_with_coordinates():
    forty = text_of(rendered(many(40))["pdf"])
    assert "40. Rede não declarada – V00001-00040" in forty
    assert "Demais achados" not in forty
    more = text_of(rendered(many(43))["pdf"])
    assert "43 achados, que somam 215,00 m de rede" in more
    assert "Os achados 41 a 43 estão na última relação deste auto" in more
    assert "41. Rede não declarada" not in more
    assert re.search(r"43 V00001-00043 .* E 330\.516,0 · N 7\.414\.020,0 E 330\.521,0", more)


def test_metres_that_do_not_add_up_and_a_finding_without_its_survey_are_refused():
    wrong = replace(sample_survey(), figures={**sample_survey().figures, "matched_m": "1186.17"})
    with pytest.raises(BooksDontCloseError, match=r"1284\.30 m surveyed, but 1186\.17 m matched"):
        rendered(sample_shown(), survey=wrong)
    with pytest.raises(TemplateError, match="whose survey isn't there"):
        rendered(sample_shown(), survey=replace(sample_survey(), id="V00002"))
    with pytest.raises(TemplateError, match="no finding"):
        rendered([])


def test_a_tolerance_without_accuracies_and_a_decision_that_was_undone_say_so():
    first = sample_shown()[0]
    undone = (*first.file.acts, FindingAct(first.file.finding.id, found.UNDONE, "Ana Lima"))
    text = text_of(
        rendered(
            [replace(first, file=replace(first.file, acts=undone))],
            survey=replace(sample_survey(), terms=found.DetectionTerms(Decimal(3), Decimal(5))),
        )["pdf"]
    )
    assert "tolerância de 3,00 m, sem acréscimo, porque nenhuma das duas fontes informou a sua exatidão" in text
    assert "1,50 m (metade da tolerância)" in text
    assert "procede –" not in text


def photograph(form, size=(900, 1200), **saved):
    out = io.BytesIO()
    Image.radial_gradient("L").resize(size).convert("RGB").save(out, form, **saved)
    return out.getvalue()


def test_photos_are_listed_with_their_digests_and_printed_small_without_their_metadata():
    exif = Image.Exif()
    exif[0x010E], exif[0x0112] = "segredo da câmera", 6  # description; turned by a quarter
    contents = {"rua.jpg": photograph("JPEG", exif=exif), "poste.png": photograph("PNG"), "laudo.pdf": b"%PDF-1.4",
                "quebrada.jpg": photograph("JPEG")[:200]}  # fmt: skip
    first = sample_shown()[0]
    taken = tuple(
        FindingAct(
            first.file.finding.id,
            found.PHOTOGRAPHED,
            "Caio",
            "",
            None,
            hashlib.sha256(c).hexdigest(),
            name,
            "2026-02-27T10:00:00Z",
        )
        for name, c in contents.items()
    )
    shown = replace(first, file=replace(first.file, acts=(*first.file.acts, *taken)))
    made = rendered([shown], photos={hashlib.sha256(c).hexdigest(): c for c in contents.values()})
    text = packed(text_of(made["pdf"]))
    for name, content in contents.items():
        assert packed(name) in text
        assert hashlib.sha256(content).hexdigest() in text
    assert len([t for t in alternatives(made["pdf"]) if t.startswith("Foto")]) == 2
    assert made["html"].count(b"data:image/jpeg") == 2
    small = small_jpeg(contents["rua.jpg"])
    assert b"segredo" not in small
    with Image.open(io.BytesIO(small)) as upright:
        assert upright.width > upright.height
        assert max(upright.size) <= LONGEST_PX
    assert small_jpeg(contents["rua.jpg"]) == small


# -- the map


def styles(sheet):
    (svg,) = draw_all("evidencia.svg.j2", [sheet.values])
    return svg


def test_the_map_reads_without_colour():
    svg = styles(evidence_sheet([Mark(n, s.file.finding.kind, s.shape) for n, s in enumerate(sample_shown(), 1)], sample_around(),
                                (174.0, 120.0)))  # fmt: skip
    strokes = {
        (width, dashes)
        for width, dashes in re.findall(r'stroke-width="([\d.]+)" stroke-dasharray="([^"]+)"', svg)
        if float(width) >= 0.5
    }
    for look in ((".5", "none"), (".8", "0 1.35"), ("1.3", "3 1.1"), ("1.2", "3 .9 .8 .9"), ("1.7", "none")):
        assert look in strokes
    assert [words for words, _ in LEGEND.values() if words in svg] == [
        "Rede permitida", "Rede levantada em campo", "Achado: não declarado ou a mais", "Achado: difere do permitido",
        "Achado: não encontrado", "Equipamento permitido", "Equipamento levantado", "Achado: equipamento não declarado",
        "Zona do Mapa de Valores",
    ]  # fmt: skip


def test_a_key_map_stands_where_the_case_is_small_in_the_town_and_not_over_a_finding():
    mark = Mark(1, found.UNDECLARED_SEGMENT, LineString([(EAST, NORTH), (EAST + 60, NORTH + 20)]))
    town = box(EAST - 2000, NORTH - 2000, EAST + 2000, NORTH + 2000)
    assert evidence_sheet([mark], sample_around(), (174.0, 90.0)).values["key"] is None
    inset = evidence_sheet([mark], replace(sample_around(), town=town), (174.0, 90.0)).values["key"]
    assert (inset["x"], inset["y"]) == ("147", "0")
    across = Mark(1, found.UNDECLARED_SEGMENT, LineString([(EAST, NORTH), (EAST + 150, NORTH + 65)]))
    moved = evidence_sheet([across], replace(sample_around(), town=town), (174.0, 90.0))
    assert (moved.values["key"]["x"], moved.values["key"]["y"]) == ("147", f"{90 - 10 - 27}")
    assert {c["anchor"] for c in moved.values["corners"]} == {"start", "end"}


def test_a_case_at_the_edge_of_the_map_and_one_with_nothing_around_are_drawn():
    nothing = gpd.GeoDataFrame(geometry=[], crs=CRS)
    for place in (LineString([(EAST + 270, NORTH + 95), (EAST + 340, NORTH + 160)]), Point(EAST + 5000, NORTH)):
        mark = Mark(1, found.UNDECLARED_SEGMENT if place.length else found.UNDECLARED_EQUIPMENT, place)
        for around in (sample_around(), Ground(nothing, nothing, nothing)):
            assert "<svg" in styles(evidence_sheet([mark], around, (174.0, 90.0)))
    with pytest.raises(TemplateError, match="without a place"):
        evidence_sheet([Mark(1, found.UNDECLARED_SEGMENT, LineString())], sample_around(), (174.0, 90.0))
    lines = gpd.GeoDataFrame(geometry=[LineString([(-46, -23), (-46, -23.1)])], crs="EPSG:4674")
    with pytest.raises(TemplateError, match="in degrees"):
        evidence_sheet([mark], Ground(lines, nothing, nothing), (174.0, 90.0))


def test_numbers_on_the_map_cover_neither_each_other_nor_the_lines():
    shown = many(12)
    labels = evidence_sheet([Mark(n, s.file.finding.kind, s.shape) for n, s in enumerate(shown, 1)], sample_around(),
                            (174.0, 120.0)).values["labels"]  # fmt: skip
    places = [(float(one["x"]), float(one["y"])) for one in labels]
    assert [one["number"] for one in labels] == [str(n) for n in range(1, 13)]
    assert min(Point(a).distance(Point(b)) for i, a in enumerate(places) for b in places[:i]) >= 4.2


# -- the chart


def test_the_chart_shows_the_reach_and_where_nothing_is_permitted():
    places = tuple((float(m), None if 20 < m <= 80 else 5 + m / 10) for m in range(101))
    chart = offset_chart(OffsetProfile(places, 41.18), Decimal("4.12"), 7, SMALL_MM)
    (svg,) = draw_all("perfil.svg.j2", [chart.values])
    assert svg.count('stroke="#c4161c"') == 2
    assert "alcance 4,12 m" in svg
    assert "sem rede permitida a até 41,18 m" in svg
    assert "vai de 5 a 15 metros" in chart.alt
    assert "Em parte da extensão não há rede permitida a até 41,18 metros" in chart.alt
    assert json.dumps(chart.values)  # plain values: they go to a process apart


def test_a_workspaces_own_drawings_are_drawn_all_in_one_process():
    own = Templates(
        {"perfil.svg.j2": package_source("perfil.svg.j2").replace("afastamento (m)", "DISTÂNCIA (m)").encode()}
    )
    chart = offset_chart(OffsetProfile(((0, 9), (10, 9)), 41.18), Decimal("4.12"), 1, SMALL_MM)
    first, second = draw_all("perfil.svg.j2", [chart.values, {**chart.values, "width": "90"}], own)
    assert "DISTÂNCIA (m)" in first
    assert 'width="90mm"' in second
    job = sample_constatacao_job(own)
    assert job.inputs["pictures"].count("DIST\\u00c2NCIA") == 3


# -- the papers after it

SAID = {
    papers.NOTICE: ("Notificação", "descrito no objeto acima e nos achados relacionados abaixo", "anexo a esta notificação"),
    papers.NONCONFORMITY_NOTICE: ("Notificação de desconformidade", "nos achados relacionados abaixo (art. 4º)"),
    papers.DECISION: (
        "Em abril de 2026, a prestação de um mês inteiro do que se cobra em dobro é de R$ 1.187,40; em dobro, R$ 2.374,80.",
        "desde 12 de março de 2019, data da instalação, comprovada por Nota fiscal 3312",
        "dos meses de março de 2019 a abril de 2026 não se faz por esta decisão: passa à nota de cobrança dos meses passados "
        "nº 2026/000125", "no total de R$ 168.420,33",
    ),
    papers.ENDING: (
        "A cobrança em dobro terminou em 14 de outubro de 2026",
        "foi decidida em 1º de abril de 2026 (Decisão 9/2026) e contou desde 12 de março de 2019",
    ),
}  # fmt: skip


@pytest.mark.parametrize("paper", ON_FINDINGS)
def test_papers_of_a_case_on_findings_name_them(paper):
    made = make(sample_job_on_findings(paper), FORMS)
    on_paper, on_page = packed(text_of(made["pdf"])), packed(squeeze(" ".join(text_lines(made["html"]))))
    named = [f"V00001-{n:05d}" for n in range(1, 5)]
    for part in (
        *SAID[paper], *named, "4 achados de campo, que somam 230,12 m de rede, descritos no auto de constatação (Auto 31/2026), de "
        "02/03/2026", sample_grounds().auto_digest, "98,12 m", "2,40 m³", "zona Laranjeiras",
    ):  # fmt: skip
        assert packed(part) in on_paper, part
        assert packed(part) in on_page, part
    assert all(on_paper.count(id_) == 1 for id_ in named)
    assert page_count(made["pdf"]) <= 2


def test_what_is_undeclared_is_named_once_and_other_papers_name_findings_beside_the_matter():
    file = sample_case(acts.CLANDESTINE, acts.NOTIFIED)
    on_rows = CaseFile(replace(file.case, segments=("V00001-00001", "S9")), file.acts)
    values = case_job(on_rows, file.acts[0], OPERATOR, AUTHORITY, FIGURES, sample_grounds()).values
    assert (values["segments"], values["finding_ids"]) == ("S9", "")
    act = CaseAct(file.case.id, acts.DISMISSED, date(2026, 4, 1), "Paulo", note="erro de medição")
    ended = CaseFile(on_rows.case, (*file.acts, act))
    values = case_job(ended, act, OPERATOR, AUTHORITY, FIGURES, sample_grounds()).values
    assert values["segments"] == "V00001-00001, S9"
    assert values["finding_ids"] == "V00001-00002, V00001-00003, V00001-00004"
    assert case_job(file, file.acts[0], OPERATOR, AUTHORITY, FIGURES).values["title"] == "Auto e notificação"


def test_every_kind_state_and_act_has_its_word():
    assert set(KIND_WORDS) == set(KIND_SENTENCES) == set(found.FINDING_KINDS)
    assert set(STATE_WORDS) == set(found.FINDING_STATES)
    assert set(ACT_WORDS) == {*found.FINDING_ACTS, found.REPLACED}
    assert set(CASE_STATE_WORDS) == set(CASE_STATES)
    assert set(CASE_KIND_WORDS) == set(KINDS)
    assert TERMS.reach_m == pytest.approx(4.118, abs=0.001)
