"""What the page itself refuses, in the words of whoever reads it, before a stage is asked."""

import hmac

from fastapi import Request

from geobill.errors import GeobillError, ReviewError
from geobill.web.security import SAFE_METHODS, TOKEN_FIELD, TOKEN_HEADER

PAPER_BYTES = 26_000_000  # a scan or a photo has 25 MB at most (pipeline.scans); the rest is the form around it

NOTHING = "Nada foi mudado."
# what the review refuses by its code: what is wrong, why, what to do; {about} is what the refusal names
REVIEW_WORDS: dict[str, tuple[str, str, str]] = {
    "no_area": ("A área desenhada não serve.", NOTHING, "Desenhe de novo, sem que as linhas se cruzem."),
    "no_decision": ("Essa decisão não existe.", NOTHING, "Escolha “procede” ou “não procede”."),
    "no_reason": (
        "Falta dizer por que não procede.",
        f"O operador e a Justiça vão perguntar. {NOTHING}",
        "Escreva o motivo e confirme de novo.",
    ),
    "in_case": (
        "O achado está no processo {about}; nada foi mudado.",
        "O que for dele se decide lá, com notificação, defesa e decisão.",
        "Abra o processo.",
    ),
    "replaced": (
        "O levantamento foi comparado de novo, e nada foi mudado.",
        "O que este achado aponta tem outro na nova comparação: decidir os dois acusaria duas vezes pelos mesmos metros.",
        "Volte à fila e decida lá.",
    ),
    "nothing_to_undo": ("Não há decisão a desfazer neste achado.", NOTHING, "Veja o histórico dele."),
    "blank_note": ("A nota está em branco.", NOTHING, "Escreva a nota e guarde de novo."),
    "no_operator": ("Essa operadora não está no cadastro.", NOTHING, "Escolha uma da lista."),
    "no_finding": ("Não há achado {about} neste cadastro.", NOTHING, "Escolha um achado na fila."),
    "no_name": (
        "Isto não é um nome, ou tem mais de 120 letras.",
        f"Cada ato fica registrado com o nome de quem o praticou. {NOTHING}",
        "Escreva o nome de novo.",
    ),
    "unreadable_note": (
        "O texto tem caracteres que não se veem, ou é longo demais.",
        NOTHING,
        "Escreva até 4.000 letras, sem colar de outro programa.",
    ),
}


class PageError(GeobillError):
    """A refusal in Portuguese: what is wrong, why it matters, what to do."""

    def __init__(self, what: str, why: str = "", todo: str = "", status: int = 400):
        super().__init__(" ".join(t for t in (what, why, todo) if t))
        self.what, self.why, self.todo, self.status = what, why, todo, status


def in_portuguese(refused: ReviewError) -> PageError:
    """Say what the review refused in the words of whoever reads the page."""
    what, why, todo = REVIEW_WORDS[refused.code]
    return PageError(what.format(about=refused.about), why, todo, 404 if refused.code == "no_finding" else 400)


def refusal_of(error: GeobillError) -> dict[str, str]:
    """Say a refusal as the page shows it; one that a stage raised speaks the command line's English, and says so."""
    if isinstance(error, ReviewError):
        error = in_portuguese(error)
    if isinstance(error, PageError):
        return {"what": error.what, "why": error.why, "todo": error.todo, "original": ""}
    return {
        "what": "O pedido foi recusado, e nada foi mudado.",
        "why": "O programa diz (em inglês):",
        "todo": "Corrija o que a mensagem aponta e tente de novo.",
        "original": str(error),
    }


async def check_token(request: Request) -> None:
    """Refuse what changes something and doesn't come from a form that this run of the server wrote."""
    if request.method in SAFE_METHODS or not request.state.token:
        return  # without a session only the entrance answers, and it changes nothing
    told = request.headers.get(TOKEN_HEADER)
    if told is None and request.headers.get("content-type", "").startswith(
        ("application/x-www-form-urlencoded", "multipart/form-data")
    ):
        told = str((await request.form()).get(TOKEN_FIELD, ""))
    if not hmac.compare_digest((told or "").encode(), request.state.token.encode()):
        raise PageError(
            "A página estava aberta de antes, e nada foi mudado.",
            "Ela foi escrita por outra execução do programa ou para outro revisor.",
            "Recarregue a página e repita.",
            403,
        )
