"""Words for findings of a survey and for the cases that rest on them: kinds, states, acts; for papers, pages and QGIS alike."""

from geobill.domain import case as steps
from geobill.domain import detection as found

KIND_WORDS: dict[str, str] = {
    found.UNDECLARED_SEGMENT: "Rede não declarada",
    found.UNDECLARED_EQUIPMENT: "Equipamento não declarado",
    found.WIDER: "Faixa mais larga que a permitida",
    found.LARGER: "Equipamento maior que o permitido",
    found.MORE: "Mais cabos que os permitidos",
    found.MISSING: "Permitido e não encontrado",
    found.MOVED: "Fora da posição permitida",
}
# what was seen, as a sentence that a paper and a page can begin with
KIND_SENTENCES: dict[str, str] = {
    found.UNDECLARED_SEGMENT: "Há rede no local, e nenhuma permissão ou cadastro a abrange.",
    found.UNDECLARED_EQUIPMENT: "Há equipamento no local, e nenhuma permissão ou cadastro o abrange.",
    found.WIDER: "A rede está na posição permitida, e a faixa que ocupa é mais larga que a da permissão.",
    found.LARGER: "O equipamento está no lugar permitido, e o seu volume é maior que o da permissão.",
    found.MORE: "Há mais cabos na posição permitida do que a permissão abrange.",
    found.MISSING: "A permissão abrange esta rede ou este equipamento, e o levantamento não os encontrou.",
    found.MOVED: "A rede permitida está no local, fora da posição aprovada.",
}
STATE_WORDS: dict[str, str] = {
    found.SUSPECTED: "A decidir",
    found.UPHELD: "Procede",
    found.DISMISSED: "Não procede",
    found.IN_CASE: "Em processo",
}
ACT_WORDS: dict[str, str] = {
    found.UPHELD: "Procede",
    found.DISMISSED: "Não procede",
    found.UNDONE: "Decisão desfeita",
    found.IN_CASE: "Processo aberto",
    found.NOTED: "Nota",
    found.PHOTOGRAPHED: "Foto juntada",
    found.ATTRIBUTED: "Operadora indicada",
    found.REPLACED: "Comparado de novo",
}
CASE_STATE_WORDS: dict[str, str] = {
    steps.SUSPECTED: "Aberto, sem notificação",
    steps.OPEN: "Aberto",
    steps.NOTIFIED: "Notificado",
    steps.WARNED: "Advertido",
    steps.DEFENCE_LODGED: "Defesa apresentada",
    steps.DEFENCE_DECIDED: "Defesa decidida",
    steps.APPEAL_LODGED: "Recurso apresentado",
    steps.APPEAL_DECIDED: "Recurso decidido",
    steps.DOUBLED: "Cobrado em dobro",
    steps.FINED: "Multa diária",
    steps.PROJECTS_SUSPENDED: "Novos projetos suspensos",
    steps.DISMISSED: "Arquivado",
    steps.REMOVED: "Retirado",
    steps.FORFEITED: "Perda do equipamento",
    steps.REGULARISED: "Regularizado",
    steps.REGISTER_DELIVERED: "Cadastro entregue",
    steps.CURED: "Notificação cumprida",
}
CASE_KIND_WORDS: dict[str, str] = {
    steps.CLANDESTINE: "Clandestino (art. 10)",
    steps.UNREGISTERED: "Sem cadastro (art. 12)",
    steps.INFRACTION: "Infração na execução (art. 9º)",
    steps.NONCONFORMITY: "Desconformidade (art. 4º)",
}
