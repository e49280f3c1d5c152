"""The review page, served to this machine's own browser."""

import socket
from pathlib import Path
from typing import Annotated

import typer

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption
from geobill.errors import InputError

HOST, PORT = "127.0.0.1", 8377


def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes any free one.")] = PORT,
    open_: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = False,
    background: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="What lies under the map: a folder of tiles ({z}/{x}/{y}.png) or a .pmtiles file."
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Open the review page at http://127.0.0.1:PORT, for this machine only, until Ctrl-C."""
    import uvicorn

    from geobill.pipeline.map_background import read_background
    from geobill.web.app import create_app

    opened = shared.open_given(workspace)  # refused here rather than on the page; migrated where it is older
    if background is not None:
        read_background(background)
    with _bound(port) as listening:
        port = listening.getsockname()[1]
        url = f"http://{HOST}:{port}"
        app = create_app(opened.root.resolve(), port=port, today=shared.today, now=shared.now, background=background)
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=3)
        )
        shared.answer({"url": url}, json, lambda: f"Review page: {url} (this machine only). Ctrl-C ends it.")
        if open_:
            typer.launch(url)
        try:
            server.run(sockets=[listening])
        except KeyboardInterrupt:  # uvicorn has shut down by then and hands the signal on
            shared.say("the review page has ended")


def _bound(port: int) -> socket.socket:
    """Take a port of the loopback alone; one that is in use is refused."""
    listening = socket.socket()
    if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows would let two programs share it
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a closed one waits a minute otherwise
    try:
        listening.bind((HOST, port))
        listening.listen()  # who is told the address may ask at once
    except OSError as fault:
        listening.close()
        raise InputError(
            f"Port {port} of {HOST} can't be used ({fault.strerror}): perhaps the review page is open already. Nothing was "
            "started. Use that one, end it, or give another: geobill serve --port 8378."
        ) from None
    return listening
