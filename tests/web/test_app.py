"""The review page without its map: the queue, a finding, decisions, what others decided meanwhile, photos, the log."""

import ast
import base64
import contextlib
import dataclasses
import re
import sqlite3
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from field_town import field_town
from review_page import NOW, app_of, browser

from geobill.domain.detection import FindingAct
from geobill.pipeline import review
from geobill.store import database
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import open_workspace
from geobill.web.refusals import REVIEW_WORDS

HTMX = {"HX-Request": "true"}
FIRST, SECOND, BOX = "V00001-00001", "V00001-00002", "V00001-00003"
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+M8AAAMBAQDJ/pLvAAAAAElFTkSuQmCC")


def shown(answer):
    """The text that a person reads."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", answer.text))).replace("\u00a0", " ")


def rows(answer):
    """Ids of the list, in its order."""
    return re.findall(r'<li id="linha-([\w-]+)"', answer.text)


def decide(client, finding, decision, version=0, reason="", **more):
    data = {"decisao": decision, "versao": version, "motivo": reason, "fila": "", **more}
    return client.post(f"/achados/{finding}/decidir", data=data, headers=HTMX)


@pytest.fixture(scope="module")
def long_queue(tmp_path_factory):
    """A page with 253 findings, which only reading tests use."""
    return browser(app_of(field_town(tmp_path_factory.mktemp("long"), more=250)))


# -- the queue


def test_first_page_leads_to_the_queue_with_its_sums(reader):
    assert reader.get("/").headers["location"] == "/achados"
    queue = reader.get("/achados")
    assert rows(queue) == [FIRST, SECOND, BOX]
    assert "3 achados · 500,00 m · R$ 1.050,00 /mês" in shown(queue)
    assert (
        "Rede não declarada R$ 450,00 /mês Alfa Telecomunicações S.A. 300,00 m ○ A decidir V00001-00001 conf. 99% · hoje"
        in shown(queue)
    )


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ("tipo=undeclared_equipment", [BOX]),
        ("metros=250", [FIRST]),
        ("metros=200,00", [FIRST, SECOND]),
        ("reais=300,01", [FIRST]),
        ("operadora=beta", []),
        ("estado=upheld", []),
        ("estado=todos&ordem=numero", [FIRST, SECOND, BOX]),
        ("idade=1", []),
        ("desde=2026-11-30&ate=2026-11-30", [FIRST, SECOND, BOX]),
        ("desde=2026-12-01", []),
        ("levantamento=V00001&tipo=undeclared_segment", [FIRST, SECOND]),
        ("levantamento=V00009", []),
    ],
)
def test_filters(reader, filters, found):
    assert rows(reader.get(f"/achados?{filters}", headers=HTMX)) == found


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ("metros=muitos", "O filtro “metros” não pode ser “muitos”"),
        ("tipo=crime", "O filtro “tipo” não pode ser “crime”"),
        ("idade=-3", "“idade mínima”"),
        ("desde=ontem", "“desde o dia”"),
        ("ordem=id;drop table findings", "“ordem”"),
    ],
)
def test_a_filter_that_cannot_be_is_refused_in_portuguese(reader, filters, said):
    answer = reader.get(f"/achados?{filters}")
    assert answer.status_code == 400
    assert said in shown(answer)


def test_filters_go_with_every_link_of_the_list(reader):
    listed = reader.get("/achados?operadora=alfa&metros=100", headers=HTMX)
    link = unescape(re.search(r'hx-get="(/achados/V00001-00001[^"]*)"', listed.text)[1])
    assert parse_qs(urlsplit(link).query) == {"operadora": ["alfa"], "metros": ["100"]}
    assert listed.headers["hx-push-url"] == "/achados?operadora=alfa&metros=100"


def test_a_long_queue_comes_in_pages_of_a_hundred(long_queue):
    pages = [rows(long_queue.get(f"/achados?ordem=numero&pagina={n}", headers=HTMX)) for n in (1, 2, 3, 4)]
    assert [len(p) for p in pages] == [100, 100, 53, 0]
    assert len({i for p in pages for i in p}) == 253
    assert "página 2 de 3" in shown(long_queue.get("/achados?pagina=2", headers=HTMX))


def test_whose_findings_nobody_knows(long_queue):
    unknown = long_queue.get("/achados?operadora=%3F", headers=HTMX)
    assert "36 achados" in shown(unknown)
    assert shown(unknown).count("operadora desconhecida") == 36


# -- one finding


def test_a_finding_shows_its_facts_profile_and_history(reader):
    told = shown(reader.get(f"/achados/{SECOND}"))
    for fact in (
        "Há rede no local, e nenhuma permissão ou cadastro a abrange.",
        "Extensão 200,00 m",
        "Afastamento médio 15,00 m",
        "Confiança 99%",
        "V00001: levantamento.gpkg, linha 2 (trecho 2)",
        "Ao longo de 200,00 m, o afastamento é de 15,00 m; toda a extensão está além da tolerância de 3 m.",
        "Achado na comparação V00001 por Caio Prado",
        "Lugar zona Z1; E ",
        "UTM, fuso 23S (EPSG:31983)",
        "exatidão do levantamento não informada e do permitido não informada: toma-se por erro a metade da tolerância",
    ):
        assert fact in told
    assert re.search(r" 200,00 15,00 Fatos", told)  # the table of the profile comes to the end


def test_to_htmx_it_is_the_panel_alone_at_an_address_that_a_reload_shows(reader):
    panel = reader.get(f"/achados/{FIRST}?metros=100", headers=HTMX)
    assert panel.text.startswith("<article")
    assert panel.headers["hx-push-url"] == f"/achados?metros=100&achado={FIRST}"
    again = reader.get(panel.headers["hx-push-url"])
    assert f'data-achado="{FIRST}" data-versao="0"' in again.text
    assert rows(again) == [FIRST, SECOND]


def test_its_worth_once_doubled_and_for_the_past(reader):
    worth = shown(reader.get(f"/achados/{FIRST}/valor", headers=HTMX))
    # 300 m × 0.50 m × R$ 200 × 1.5 % (art. 7), and 60 months of twice that
    assert "Preço por mês R$ 450,00 Em dobro R$ 900,00 Atrasados, se confirmado R$ 54.000,00" in worth
    assert "60 meses em dobro, até outubro de 2026" in worth
    assert "data presumida" in worth
    # each factor, for a calculator: 300 × 0.50 × 200 × 1.00 × 1.00 × R
    assert "Zona Quantidade Largura, m T ou preço, R$ L D R Dias R$ Z1 300,00 m 0,50 200,00 " in worth
    since = shown(reader.get(f"/achados/{FIRST}/valor?instalado=2026-09-16", headers=HTMX))
    # 15 of the 30 days of September and the whole of October, each at R$ 900
    assert "Atrasados, se confirmado R$ 1.350,00" in since
    assert "desde 16/09/2026" in since
    assert "data presumida" not in since
    assert reader.get(f"/achados/{FIRST}/valor?instalado=ontem", headers=HTMX).status_code == 400


def test_next_and_previous_go_round_the_filtered_queue(reader):
    def step(finding, way, filters=""):
        return reader.get(f"/achados/{finding}/{way}{filters}").headers["location"]

    assert step(FIRST, "proximo") == f"/achados/{SECOND}"
    assert step(BOX, "proximo") == f"/achados/{FIRST}"
    assert step(FIRST, "anterior") == f"/achados/{BOX}"
    assert step("-", "proximo") == f"/achados/{FIRST}"
    only = "?tipo=undeclared_segment"
    assert step(SECOND, "proximo", only) == f"/achados/{FIRST}{only}"
    assert "Não há outro achado" in shown(reader.get(f"/achados/{BOX}/proximo?tipo=undeclared_equipment"))
    for order in ("", "metros", "idade", "confianca", "numero"):  # round and back again, and never past one
        query = f"?ordem={order}" if order else ""
        walked = [FIRST]
        for _ in range(3):
            walked.append(step(walked[-1], "proximo", query).removeprefix("/achados/").split("?")[0])
        assert walked[3] == FIRST
        assert set(walked) == {FIRST, SECOND, BOX}
        listed = re.findall(r'id="linha-(\S+?)"', reader.get(f"/achados{query}").text)
        assert walked[1] == listed[(listed.index(FIRST) + 1) % 3]
        assert step(walked[1], "anterior", query).startswith(f"/achados/{FIRST}")


def test_a_finding_that_left_the_queue_still_has_its_place_in_it(client):
    assert decide(client, SECOND, "procede").status_code == 200
    assert client.get(f"/achados/{SECOND}/proximo").headers["location"] == f"/achados/{BOX}"
    assert client.get(f"/achados/{SECOND}/anterior").headers["location"] == f"/achados/{FIRST}"


def test_an_unknown_finding_is_a_page_that_says_so(reader):
    answer = reader.get("/achados/V00009-00001")
    assert answer.status_code == 404
    assert "Não há achado V00009-00001 neste cadastro." in shown(answer)


# -- decided


def test_upholding_shows_the_next_one_and_the_way_back(client):
    answer = decide(client, FIRST, "procede")
    assert f'<article class="finding" data-achado="{SECOND}"' in answer.text
    assert f"{FIRST}: procede. Desfazer Z" in shown(answer)
    assert re.search(rf'<li id="linha-{FIRST}" class="row upheld" hx-swap-oob="true">', answer.text)
    assert "2 achados · 200,00 m · R$ 600,00" in shown(answer)
    told = shown(client.get(f"/achados/{FIRST}"))
    assert "✔ Procede" in told
    assert "30/11/2026" in told
    assert "Procede por Ana Lima" in told
    assert rows(client.get("/achados?estado=upheld")) == [FIRST]


def test_a_dismissal_needs_a_reason_and_keeps_it(client):
    bare = decide(client, FIRST, "nao-procede", reason="  ")
    assert bare.status_code == 400
    assert "Falta dizer por que não procede." in shown(bare)
    assert bare.headers["hx-retarget"] == "#aviso"
    assert "Ninguém decidiu nada ainda." in shown(client.get("/registro"))
    decide(client, FIRST, "nao-procede", reason="é galho,\nnão cabo")
    assert "Não procede por Ana Lima é galho, não cabo" in shown(client.get(f"/achados/{FIRST}"))


def test_undoing_gives_it_back_and_stays_on_record(client):
    decide(client, FIRST, "procede")
    answer = client.post(f"/achados/{FIRST}/desfazer", data={"versao": 1, "fila": ""}, headers=HTMX)
    assert f"{FIRST}: decisão desfeita." in shown(answer)
    assert "Desfazer Z" not in shown(answer)
    assert rows(client.get("/achados")) == [FIRST, SECOND, BOX]
    log = shown(client.get("/registro"))
    assert log.index("Decisão desfeita") < log.index("Procede V00001-00001")
    again = client.post(f"/achados/{FIRST}/desfazer", data={"versao": 2, "fila": ""}, headers=HTMX)
    assert again.status_code == 400
    assert "Não há decisão a desfazer" in shown(again)


def test_two_reviewers_never_write_over_each_other(surveyed):
    app = app_of(surveyed)
    ana, bia = browser(app), browser(app, "Bia Reis")
    decide(bia, FIRST, "nao-procede", reason="poda")
    late = decide(ana, FIRST, "procede")
    assert late.status_code == 409
    assert re.search(r"Bia Reis decidiu isto às \d\d:00: não procede\. Nada foi sobrescrito\.", shown(late))
    # the finding comes along as it is now: its version is the one to decide on
    assert 'name="versao" value="1"' in late.text
    assert "Não procede por Bia Reis poda" in shown(late)
    assert f'<li id="linha-{FIRST}" class="row dismissed" hx-swap-oob="true">' in late.text
    assert rows(ana.get("/achados?estado=upheld")) == []
    assert decide(ana, FIRST, "procede", version=1).status_code == 200
    stale = ana.post(f"/achados/{FIRST}/operadora", data={"versao": 1, "fila": "", "operadora": "beta"}, headers=HTMX)
    assert stale.status_code == 409


def test_of_two_who_decide_the_same_the_second_is_told_and_no_reason_is_lost_in_silence(surveyed):
    app = app_of(surveyed)
    ana, bia = browser(app), browser(app, "Bia Reis")
    assert decide(bia, FIRST, "nao-procede", reason="poda").status_code == 200
    late = decide(ana, FIRST, "nao-procede", reason="é galho, vi no local")
    assert late.status_code == 409
    assert "Bia Reis decidiu isto às" in shown(late)
    assert decide(bia, FIRST, "nao-procede", reason="poda").status_code == 200  # a second click isn't a second reviewer
    assert shown(ana.get("/registro")).count("Não procede") == 1


def test_a_version_that_never_was_is_refused(client):
    for version in (1, -1, 10**20):
        answer = decide(client, FIRST, "procede", version=version)
        assert answer.status_code == 400
        assert "never had version" in shown(answer)


def test_a_store_that_another_program_writes_to_is_said_in_portuguese(client, surveyed, monkeypatch):
    monkeypatch.setattr(database, "LOCK_WAIT_S", 0.1)
    with contextlib.closing(sqlite3.connect(surveyed / "cadastre.gpkg", isolation_level=None)) as other:
        for lock, answers in (
            ("IMMEDIATE", (lambda: decide(client, FIRST, "procede"),)),
            ("EXCLUSIVE", (lambda: decide(client, FIRST, "procede"), lambda: client.get("/achados"))),
        ):
            other.execute(f"BEGIN {lock}")
            for ask in answers:
                answer = ask()
                assert answer.status_code == 503
                assert "Outro programa está gravando neste cadastro, e nada foi mudado." in shown(answer)
                assert "cadastre.gpkg" not in answer.text
            other.execute("ROLLBACK")
    assert decide(client, FIRST, "procede").status_code == 200


def test_what_was_compared_anew_is_decided_there_and_not_twice(client, surveyed):
    opened = open_workspace(surveyed)
    with opened.database.write() as connection:
        register = SurveyRegister(connection, opened.database.tables, opened.database.srid)
        anew = dataclasses.replace(register.load_surveys()["V00001"], id="V00002")
        register.save(anew, register.load_lines("V00001"), register.load_equipment("V00001"), [], [], NOW)
        register.replace("V00001", "V00002", "Rui", NOW)
    answer = decide(client, FIRST, "procede")  # on a page that was open before
    assert answer.status_code == 400
    assert "O levantamento foi comparado de novo, e nada foi mudado." in shown(answer)
    seen = {"decisao": "procede", "vistos": f"{FIRST}:0 {SECOND}:0", "motivo": "vistoria"}
    assert "0 achados decididos" in shown(client.post("/achados/area/decidir", data=seen, headers=HTMX))
    case = {"achado": FIRST, "versao": 0, "numero": "1/2026", "objeto": "cabo", "dia": "2026-11-30", "por": "Ana"}
    refused = client.post("/processos/abrir", data={**case, "referencia": "AC 1"})
    assert refused.status_code == 400
    assert "O levantamento foi comparado de novo" in shown(refused)
    assert "Ninguém decidiu nada ainda." in shown(client.get("/registro"))


def test_a_page_without_scripts_decides_too(client):
    answer = client.post(f"/achados/{FIRST}/decidir", data={"decisao": "procede", "versao": 0, "fila": "metros=100"})
    assert answer.status_code == 303
    after = client.get(answer.headers["location"])
    assert f"{FIRST}: procede. Desfazer Z" in shown(after)
    assert f'data-achado="{SECOND}" data-versao' in after.text
    assert rows(after) == [SECOND]


def test_whose_it_is_where_nobody_knew(client):
    answer = client.post(
        f"/achados/{FIRST}/operadora", data={"versao": 0, "fila": "", "operadora": "beta"}, headers=HTMX
    )
    assert "Operadora indicada : Beta <b>Redes</b> & Cia. por Ana Lima" in shown(answer)
    assert client.post(f"/achados/{FIRST}/operadora", data={"versao": 1, "operadora": "gama"}).status_code == 400


def test_notes_and_their_limits(client):
    def note(text):
        return client.post(f"/achados/{FIRST}/nota", data={"texto": text, "fila": ""}, headers=HTMX)

    assert "Nota por Ana Lima visto do outro lado da rua" in shown(note("visto do outro lado da rua"))
    assert note("   ").status_code == 400
    assert note("x" * 4001).status_code == 400
    assert note("a\u202eb").status_code == 400
    assert client.get("/registro").text.count('<td class="when">') == 1


def test_what_is_copied_from_the_page_is_a_note(client):
    # the page itself writes amounts with a space that doesn't break
    worth = re.search(r"R\$\u00a0450,00", client.get("/achados").text)[0]
    answer = client.post(f"/achados/{FIRST}/nota", data={"texto": f"São {worth} por mês"}, headers=HTMX)
    assert answer.status_code == 200
    assert '<span class="note">São R$ 450,00 por mês</span>' in answer.text
    assert decide(client, FIRST, "nao-procede", reason=f"{worth} já pagos").status_code == 200


def test_a_photo_is_kept_and_shown_by_what_its_bytes_are(client):
    def send(content, name="poste 7.png"):
        return client.post(
            f"/achados/{FIRST}/foto",
            data={"legenda": "de frente", "fila": ""},
            files={"foto": (name, content, "image/png")},
            headers=HTMX,
        )

    assert "de frente" in shown(send(PNG))
    photo = client.get(f"/achados/{FIRST}/fotos/1")
    assert photo.content == PNG
    assert photo.headers["content-type"] == "image/png"
    assert photo.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert photo.headers["content-disposition"] == f'inline; filename="{FIRST}-1.png"'
    refused = send(b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    assert refused.status_code == 400
    assert "O arquivo não serve como foto" in shown(refused)
    assert client.get(f"/achados/{FIRST}/fotos/2").status_code == 404


def test_a_scanned_paper_is_handed_over_and_not_shown(client):
    client.post(f"/achados/{FIRST}/foto", files={"foto": ("auto.pdf", b"%PDF-1.7\n%%EOF", "application/pdf")})
    assert client.get(f"/achados/{FIRST}/fotos/1").headers["content-disposition"].startswith("attachment")


def test_the_log_comes_in_pages(client, surveyed):
    opened = open_workspace(surveyed)
    with opened.database.write() as connection:
        register = SurveyRegister(connection, opened.database.tables, opened.database.srid)
        register.save_acts([FindingAct(FIRST, "noted", "Ana Lima", f"nota {n}") for n in range(201)], {}, NOW)
    first, second = client.get("/registro"), client.get("/registro?pagina=2")
    assert "nota 200" in shown(first)
    assert "mais antigos" in shown(first)
    assert shown(second).count("Nota V00001-00001") == 1
    assert "nota 0" in shown(second)


def test_a_fault_of_the_program_is_a_page_without_a_trace(client, monkeypatch, capsys):
    def broken(*_):
        raise RuntimeError("segredo do programa")

    monkeypatch.setattr("geobill.web.routes.queue.list_surveys", broken)
    answer = client.get("/achados")
    assert answer.status_code == 500
    assert "O programa falhou; a falha é dele, e não dos seus dados." in shown(answer)
    assert "segredo" not in answer.text
    assert "Traceback" not in answer.text
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    said = capsys.readouterr().err
    assert "a fault of the program at GET /achados" in said
    assert "RuntimeError: segredo do programa" in said


def test_a_refusal_of_a_stage_is_quoted_in_its_own_language(client, surveyed):
    (surveyed / "cadastre.gpkg").write_bytes(b"no database")
    answer = client.get("/achados")
    assert answer.status_code == 400
    assert "O pedido foi recusado, e nada foi mudado. O programa diz (em inglês):" in shown(answer)
    assert re.search(r'<blockquote lang="en">[^<]*cadastre\.gpkg', answer.text)


def test_every_refusal_of_the_review_is_said_in_portuguese():
    """The page has words for each code that the review's refusals have, and no others."""
    source = Path(review.__file__).read_text(encoding="utf-8")
    codes = {
        node.value
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "ReviewError"
        for node in ast.walk(call.args[1])
        if isinstance(node, ast.Constant) and node.value is not None
    }
    assert codes == set(REVIEW_WORDS)
    assert not re.search(r"raise (InputError|GeobillError)", source)
