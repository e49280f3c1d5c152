"""What the page itself refuses, in the words of whoever reads it, before a stage is asked."""

import hmac

from fastapi import Request

from geobill.errors import GeobillError
from geobill.web.security import SAFE_METHODS, TOKEN_FIELD, TOKEN_HEADER

PAPER_BYTES = 26_000_000  # a scan or a photo has 25 MB at most (pipeline.scans); the rest is the form around it


class PageError(GeobillError):
    """A refusal in Portuguese: what is wrong, why it matters, what to do."""

    def __init__(self, what: str, why: str = "", todo: str = "", status: int = 400):
        super().__init__(" ".join(t for t in (what, why, todo) if t))
        self.what, self.why, self.todo, self.status = what, why, todo, status


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
