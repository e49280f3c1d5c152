"""The papers of a case: each says what was found, by which article, until when, what follows, and who signs."""

from dataclasses import replace
from datetime import date

import pytest

from documents.reading import page_count, squeeze, text_of
from geobill.documents import case_papers as papers
from geobill.documents.case_papers import CASE_FORMS, case_job, paper_of, render_case_paper
from geobill.documents.case_sample import AUTHORITY, FIGURES, OPERATOR, SHOWN, sample_case, sample_case_job
from geobill.documents.forms import make
from geobill.documents.html import read_page, text_lines
from geobill.domain import case as acts
from geobill.domain.case import CaseAct, CaseFile

SAID = {
    papers.NOTICE: (
        "Auto e notificação",
        "considerado clandestino (art. 10)",
        "15 dias, contados do recebimento, em 2 de março de 2026, até 17 de março de 2026",
        "Decisão nº 12/2026, de 15/01/2026 (art. 15)",
        "a perda do equipamento (art. 10, § 1º)",
        "desde a publicação da Lei, em 27/06/2001",
        "Recebi uma via",
    ),
    papers.NONCONFORMITY_NOTICE: (
        "Notificação de desconformidade",
        "às suas custas, até 17 de março de 2026 (15 dias contados desta data)",
        "razões alheias à sua vontade",
        "art. 4º, parágrafo único",
    ),
    papers.WARNING: ("penalidade de advertência (art. 9º, I e § 1º)", "prazo até 17 de março de 2026", "nada cobra"),
    papers.DECISION: (
        "Decisão 9/2026",
        "a defesa foi apreciada e decidida",
        "cobrada em dobro",
        "desde 12 de março de 2019, data da instalação, comprovada por Nota fiscal 3312 (art. 10, § 3º)",
        "até cessar a irregularidade",
        "Andamento do processo",
        "Decisão da defesa: rejeitada",
        "Secretário Municipal de Obras, Projetos e Planejamento",
    ),
    papers.FINE: (
        "20% do valor da prestação pecuniária mensal da entidade por dia, de 18 de março de 2026",
        "R$ 13.496,91",
        "um dia de multa é R$ 2.699,382",
        "até 6 de abril de 2026 (art. 9º, § 4º)",
        "Prefeito Municipal",
    ),
    papers.SUSPENSION: ("desde 18 de março de 2026, por mais de 30 dias", "nenhuma permissão nova"),
    papers.ENDING: (
        "integra a permissão nº 118/2019 desde 15 de outubro de 2026",
        "A cobrança em dobro terminou em 14 de outubro de 2026",
    ),
}


@pytest.mark.parametrize("paper", SHOWN)
def test_a_paper_says_its_matter_in_both_forms(paper):
    made = make(sample_case_job(paper), CASE_FORMS)
    assert set(made) == {"pdf", "html"}
    assert page_count(made["pdf"]) == 1
    on_paper, on_page = text_of(made["pdf"]), squeeze(" ".join(text_lines(made["html"])))
    for part in (*SAID[paper], "Alfa Telecomunicações S.A.", "2026-014", "Cabo aéreo na Rua das Amoreiras"):
        assert part in on_paper
        assert part.replace(" ", "") in on_page.replace(" ", "")
    assert read_page(made["html"]) is not None


def shown(file, act=None, **changed):
    return text_of(
        render_case_paper(file, act or file.acts[-1], OPERATOR, AUTHORITY, replace(FIGURES, **changed))["pdf"]
    )


def added(file, kind, on="2026-04-01", **more):
    act = CaseAct(file.case.id, kind, date.fromisoformat(on), "Paulo", **more)
    return CaseFile(file.case, (*file.acts, act))


@pytest.mark.parametrize(
    ("kind", "until", "act", "parts"),
    [
        (
            acts.CLANDESTINE,
            acts.NOTIFIED,
            (acts.FORFEITED, {}),
            ("decido a perda dos equipamentos", "sem que ela fosse apresentada"),
        ),
        (acts.CLANDESTINE, acts.IMPOSSIBILITY, (acts.DOUBLED, {}), ("desde 27 de junho de 2001", "não foi comprovada")),
        (
            acts.CLANDESTINE,
            acts.DOUBLED,
            (acts.DISMISSED, {"note": "erro de medição"}),
            ("arquivado", "erro de medição"),
        ),
        (
            acts.CLANDESTINE,
            acts.DEFENCE_LODGED,
            (acts.DEFENCE_DECIDED, {"note": "accepted"}),
            ("acolhida", "sem cobrança"),
        ),
        (
            acts.CLANDESTINE,
            acts.DEFENCE_DECIDED,
            (acts.APPEAL_DECIDED, {"note": "rejected"}),
            ("rejeitada", "prossegue"),
        ),
        (acts.CLANDESTINE, acts.DOUBLED, (acts.REMOVED, {}), ("foi retirado", "1º de abril de 2026", "ele incluído")),
        (acts.CLANDESTINE, acts.NOTIFIED, (acts.REMOVED, {}), ("Não houve decisão de cobrança em dobro",)),
        (acts.INFRACTION, acts.FINED, (acts.CURED, {}), ("foi atendida", "terminou em 31 de março de 2026")),
        (acts.INFRACTION, acts.NOTIFIED, (acts.CURED, {}), ("Não houve multa diária",)),
        (
            acts.INFRACTION,
            acts.PROJECTS_SUSPENDED,
            (acts.PROJECTS_RELEASED, {"on": "2026-05-04"}),
            ("Fim da suspensão", "encerrada"),
        ),
    ],
)
def test_what_each_step_declares(kind, until, act, parts):
    text = shown(added(sample_case(kind, until), act[0], **act[1]))
    for part in parts:
        assert part in text


def test_the_register_of_article_12():
    file = sample_case(acts.CLANDESTINE, acts.NOTIFIED)
    file = CaseFile(replace(file.case, kind=acts.UNREGISTERED), file.acts)
    assert "não entregou a cópia dos elementos cadastrais" in shown(file)
    decided = added(file, acts.DOUBLED)
    assert "calculada em dobro depois dos seis meses" in shown(decided)
    assert "terminou em 31 de maio de 2026" in shown(added(decided, acts.REGISTER_DELIVERED, "2026-06-01"))


def test_an_infraction_is_told_what_follows():
    text = shown(sample_case(acts.INFRACTION, acts.NOTIFIED))
    for part in ("multa diária de 20%", "por mais de 30 dias", "recurso ao Prefeito Municipal (§ 5º)"):
        assert part in text


def test_a_term_that_moved_to_a_day_of_business_and_a_held_price_say_so():
    file = sample_case(acts.CLANDESTINE, acts.NOTIFIED)
    assert "primeiro dia útil" not in shown(file)
    assert "até 17 de março de 2026, primeiro dia útil" in shown(file, term_days=13)
    assert "está retido (arts. 7º e 15)" in shown(sample_case(acts.INFRACTION, acts.FINED), base=None)


def test_every_step_with_a_paper_has_a_title_and_what_people_type_stays_text():
    assert {*papers.PAPERS.values(), papers.NONCONFORMITY_NOTICE} == set(papers.TITLES) == set(SHOWN)
    assert set(papers.ACTS) == set(acts.ACTS)
    file = sample_case(acts.CLANDESTINE, acts.NOTIFIED)
    odd = CaseFile(replace(file.case, subject='#panic("x") <b>$ {{ law }}'), file.acts)
    assert '#panic("x") <b>$ {{ law }}' in shown(odd)
    assert paper_of(odd, replace(file.acts[0], kind=acts.IMPOSSIBILITY)) is None
    assert case_job(odd, odd.acts[0], OPERATOR, AUTHORITY, FIGURES).digest != sample_case_job(papers.NOTICE).digest
