"""Words of a case's procedure for whoever takes its steps: what a step is called, what the law still asks for, terms."""

from geobill.domain import case as acts

# a step as the button that takes it says it, and who takes it by the law
STEP_WORDS: dict[str, tuple[str, str]] = {
    acts.NOTIFIED: ("Notificar a operadora", "Fiscalização"),
    acts.WARNED: ("Advertir (art. 9º, I)", "Fiscalização"),
    acts.DEFENCE_LODGED: ("Registrar a defesa", "A operadora apresenta"),
    acts.DEFENCE_DECIDED: ("Decidir a defesa", "Secretaria de Assuntos Jurídicos"),
    acts.APPEAL_LODGED: ("Registrar o recurso", "A operadora apresenta"),
    acts.APPEAL_DECIDED: ("Decidir o recurso", "Prefeito Municipal"),
    acts.TECHNICAL_OPINION: ("Juntar o parecer técnico", "Órgãos técnicos"),
    acts.LEGAL_OPINION: ("Juntar o parecer jurídico", "Secretaria de Assuntos Jurídicos"),
    acts.IMPOSSIBILITY: ("Juntar o laudo de impossibilidade de retirada", "Órgãos técnicos"),
    acts.INSTALLED: ("Provar o dia da instalação", "Fiscalização"),
    acts.DOUBLED: ("Confirmar: cobrar em dobro", "Secretário Municipal de Obras"),
    acts.FORFEITED: ("Decidir a perda do equipamento", "Secretário Municipal de Obras"),
    acts.DISMISSED: ("Arquivar", "Secretário Municipal de Obras"),
    acts.REGULARISED: ("Regularizar: entra numa permissão", "Fiscalização"),
    acts.REMOVED: ("Registrar a retirada", "Fiscalização"),
    acts.CURED: ("Registrar que a notificação foi cumprida", "Fiscalização"),
    acts.FINED: ("Aplicar a multa diária", "Prefeito Municipal"),
    acts.PROJECTS_SUSPENDED: ("Suspender novos projetos", "Secretaria de Obras"),
    acts.PROJECTS_RELEASED: ("Liberar novos projetos", "Secretaria de Obras"),
    acts.REGISTER_DELIVERED: ("Registrar a entrega do cadastro", "Fiscalização"),
}
# what stands against a step, or against doubling, by the code of billing.cases and billing.openings
OBSTACLE_WORDS: dict[str, str] = {
    "no_such_step": "este tipo de processo não tem este passo",
    "dismissed": "o processo foi arquivado: abra outro",
    "recorded_already": "este passo já está registrado, e fica como está",
    "before_the_law": "o dia é anterior à vigência da lei",
    "before_the_case": "o dia é anterior à abertura do processo",
    "before_what_it_answers": "o dia é anterior ao do passo a que responde",
    "no_notified": "falta a notificação",
    "no_defence_lodged": "não há defesa apresentada",
    "no_defence_decided": "a defesa não foi decidida",
    "no_appeal_lodged": "não há recurso apresentado",
    "no_fined": "não há multa diária decidida",
    "no_projects_suspended": "os novos projetos não estão suspensos",
    "not_suspended": "os novos projetos não estão suspensos por este processo",
    "installed_later": "o dia é posterior à abertura do processo: o que ele trata já estava no local",
    "not_notified": "a operadora não foi notificada, e assim não foi ouvida",
    "defence_undecided": "a defesa apresentada ainda não foi decidida",
    "appeal_undecided": "o recurso apresentado ainda não foi decidido",
    "term_runs": "o prazo da notificação ainda corre",
    "defence_accepted": "a defesa foi acolhida: o processo se arquiva",
    "no_technical_opinion": "falta o parecer dos órgãos técnicos",
    "no_legal_opinion": "falta o parecer da Secretaria de Assuntos Jurídicos",
    "register_term_runs": "ainda corre o prazo de seis meses para entregar o cadastro",
    "no_impossibility_report": "falta o laudo de impossibilidade de retirada: só o que não pode ser retirado se cobra em dobro",
    acts.REMOVED: "o equipamento foi retirado: podia ser retirado, e nada se cobra em dobro",
    acts.FORFEITED: "foi decidida a perda do equipamento, e nada se cobra em dobro",
    "not_warned": "falta a advertência, que vem antes da multa",
    "no_ruling": "falta a manifestação da Secretaria de Assuntos Jurídicos, depois da qual o Prefeito decide",
    "cured": "a notificação foi cumprida",
    "suspended_already": "os novos projetos já estão suspensos por este processo",
    "not_long_enough": "a infração ainda não dura mais de trinta dias",
    "stored_as_doubled": "há linhas importadas já como clandestinas: o arquivamento não mudaria a sua cobrança",
    "projects_suspended": "os novos projetos da operadora estão suspensos por outro processo",
    "no_register": "a operadora ainda deve o cadastro da rede, e perdeu o direito a novos projetos",
    "no_term": "a lei não conta os dias da ampla defesa: o prazo depende de decisão do Prefeito (art. 15), e nenhuma está em vigor",
    "no_permit": "a operadora não tem permissão com decreto publicado até este dia",
    "no_finding": "nenhum achado foi escolhido",
    "in_case": "um achado já está em outro processo: cada um se julga uma vez",
    "dismissed_finding": "um achado foi dado como não procedente: ninguém responde por ele, a menos que se desfaça a decisão",
    "missing_in_survey": "um achado é de rede permitida que não foi encontrada: não há o que cobrar nem retirar",
    "no_operator": "não se sabe de quem é um dos achados: indique a operadora antes",
    "several_operators": "os achados são de mais de uma operadora, e cada uma se ouve em seu processo",
    "several_kinds": "o não declarado (art. 10) e o que difere da permissão (art. 4º) se julgam em processos separados",
    "before_the_survey": "o dia é anterior à comparação do levantamento",
    "not_against_the_record": "o levantamento foi comparado com um arquivo, e não com o cadastro: compare-o com o cadastro antes",
    "seen_twice": "um achado está no lugar de outro, de outra comparação: o que está ali se julga uma vez, num só processo",
    "no_width": "o levantamento não dá a largura de um trecho, e sem ela não há preço: informe a largura",
    "no_volume": "o levantamento não dá o volume de um equipamento, e sem ele não há preço: mande medir, ou deixe-o fora do processo",
}
TERM_WORDS: dict[str, str] = {
    acts.NOTIFIED: "Prazo da notificação",
    acts.WARNED: "Prazo da advertência",
    acts.DEFENCE_DECIDED: "Prazo do recurso",
    acts.FINED: "Prazo de defesa contra a multa",
    acts.PROJECTS_SUSPENDED: "Prazo de defesa contra a suspensão",
}


def obstacle_in_words(code: str, message: str) -> str:
    """Say what stands against a step; a code without words stands as the command line says it."""
    return OBSTACLE_WORDS.get(code, message)
