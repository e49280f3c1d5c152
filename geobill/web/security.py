"""What stands before every page: who may ask (this machine's own browser), who acts, how much may be sent, what a page may do.

Pure ASGI, so that it sees a request before any of its body is read and an answer before it leaves.
"""

import base64
import hashlib
import hmac
import json
import re
import secrets
import sys
import traceback
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from geobill.web.pages import problem

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
OPEN_TO_ALL = re.compile(r"/entrar|/static/.*|/favicon\.ico")  # what needs no name
TOKEN_HEADER, TOKEN_FIELD = "X-Geobill-Token", "token"
HEADERS: dict[str, str] = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class Sessions:
    """Who is at the browser: a name in a cookie that is signed with a secret of this run, and a token for its forms."""

    def __init__(self, port: int):
        self._secret = secrets.token_bytes(32)
        self.cookie = f"geobill_{port}"  # cookies don't know ports: two servers of one machine would share one

    def open(self, name: str) -> str:
        """Return the cookie's value for a reviewer."""
        body = json.dumps([name, secrets.token_hex(16)], ensure_ascii=False).encode()
        return f"{base64.urlsafe_b64encode(body).decode()}.{self._sign(b'session', body)}"

    def read(self, value: str | None) -> tuple[str, str] | None:
        """Return the reviewer's name and the token of the forms; None where the cookie isn't one of ours."""
        text, _, signed = (value or "").partition(".")
        try:
            body = base64.urlsafe_b64decode(text.encode("ascii"))
        except ValueError:
            return None
        if not hmac.compare_digest(signed.encode(), self._sign(b"session", body).encode()):
            return None
        return str(json.loads(body)[0]), self._sign(b"form", body)

    def _sign(self, use: bytes, body: bytes) -> str:
        return hmac.new(self._secret, use + b"\0" + body, hashlib.sha256).hexdigest()


class Guard:
    """Lets through what this machine's own browser asks of this very server, under a reviewer's name; says where a fault is."""

    def __init__(self, app: ASGIApp, port: int, sessions: Sessions):
        self._app, self._sessions = app, sessions
        self._hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then hand it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # no page of ours opens a web socket
        request = Request(scope)
        # cookies don't know ports: those of other programs of this machine come along, in whatever form
        session = self._sessions.read(request.cookies.get(self._sessions.cookie))
        scope.setdefault("state", {}).update(
            reviewer=session[0] if session else "", token=session[1] if session else ""
        )
        answer = _Answer(request, send)
        refused = self._refusal(request)
        if refused is not None:
            await refused(scope, receive, answer.send)
            return
        try:
            await self._app(scope, receive, answer.send)
        except Exception as fault:
            if answer.broken:
                raise  # nobody is there to be told
            failed = _fault(request, fault)
            if not answer.started:
                await failed(scope, receive, answer.send)
        if answer.too_large:
            await _too_large(request)(scope, receive, answer.send)

    def _refusal(self, request: Request) -> Response | None:
        headers, scope = request.headers, request.scope
        if headers.get("host", "").lower() not in self._hosts:
            return problem(
                request,
                421,
                "Este endereço não é o desta página.",
                "O pedido traz um nome que não é 127.0.0.1 nem localhost com a porta certa: pode vir de outro site que "
                "se passa por esta máquina.",
                "Abra a página pelo endereço que o comando geobill serve mostrou.",
            )
        safe = scope["method"] in SAFE_METHODS
        if not self._is_own(headers, safe):
            return problem(
                request,
                403,
                "O pedido veio de outro site, e nada foi mudado.",
                "Só as páginas deste programa, abertas nesta máquina, podem decidir ou ler dados aqui.",
                "Volte à fila e faça o que queria por aqui mesmo.",
            )
        if not request.state.reviewer and not OPEN_TO_ALL.fullmatch(scope["path"]):
            return _to_entrance(request, safe)
        return None

    def _is_own(self, headers: Headers, safe: bool) -> bool:
        """Say whether a request comes from a page of ours, or from the address bar where it can change nothing."""
        site, mode = headers.get("sec-fetch-site"), headers.get("sec-fetch-mode")
        if site not in (None, "same-origin", "none") and not (safe and mode == "navigate"):
            return False  # another site may link here, no more
        if safe:
            return True
        source = headers.get("origin") or headers.get("referer")
        if source is None:
            return False
        try:
            told = urlsplit(source)
        except ValueError:  # "http://[" and its like
            return False
        return told.scheme == "http" and told.netloc.lower() == headers["host"].lower()


class _Answer:
    """An answer on its way out: it takes along the headers that bind a page to this server; a route's own value of one stands."""

    def __init__(self, request: Request, send: Send):
        self._request, self._send = request, send
        self.started = self.broken = self.too_large = self.swallowed = False

    async def send(self, message: Message) -> None:
        """Send on a part of the answer; that a body is too large is said by the guard, whichever layer noticed it."""
        if message.get("status") == 413 and not self.too_large:
            self.too_large = self.swallowed = True
            return
        if self.swallowed:
            self.swallowed = message.get("more_body", False)
            return
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            if not self._request.url.path.startswith("/static/"):
                headers.setdefault("Cache-Control", "no-store")
            if message["status"] >= 400 and self._request.method not in SAFE_METHODS:
                headers["Connection"] = "close"  # whatever of its body is still to come isn't read
        try:
            await self._send(message)
        except BaseException:
            self.broken = True
            raise


def _too_large(request: Request) -> Response:
    return problem(
        request,
        413,
        "O que foi enviado é grande demais, e nada foi guardado.",
        "O limite é de 25 MB para uma foto ou um papel digitalizado: o acervo guarda tudo para sempre.",
        "Reduza a foto, ou digitalize o papel com menos pontos por polegada, e envie de novo.",
    )


def _fault(request: Request, fault: Exception) -> Response:
    """Tell a person that the program failed, and whoever runs it (standard error) where."""
    sys.stderr.write(f"geobill: a fault of the program at {request.method} {request.url.path}\n")
    traceback.print_exception(fault, file=sys.stderr)
    return problem(
        request,
        500,
        "O programa falhou; a falha é dele, e não dos seus dados.",
        "O que estava em curso foi desfeito: ou tudo ficou gravado, ou nada.",
        "Recarregue a página e veja como está. O terminal em que geobill serve corre mostra o que relatar.",
    )


def _to_entrance(request: Request, safe: bool) -> Response:
    """Ask for the reviewer's name; what was to be changed is not."""
    if not safe:
        return problem(
            request,
            401,
            "Falta dizer quem está revisando; nada foi mudado.",
            "Cada decisão fica registrada com o nome de quem a tomou.",
            "Abra a página de entrada, diga seu nome e repita.",
        )
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    entrance = f"/entrar?para={quote(path, safe='')}"
    if request.headers.get("hx-request"):
        return Response(status_code=200, headers={"HX-Redirect": "/entrar"})
    return RedirectResponse(entrance, 303)
