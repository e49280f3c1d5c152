"""The process in which a workspace's templates run: one request from standard input, one answer to standard output."""

import contextlib
import json
import math
import os
import pickle
import signal
import sys
from pathlib import Path
from typing import Any

import jinja2

from geobill.documents import forms
from geobill.documents.overrides.folder import PACKAGE, Templates, package_names, package_skeleton
from geobill.documents.overrides.process import HEADER_END, too_large
from geobill.documents.templating import package_source, place_of
from geobill.errors import TemplateError

MEGABYTE = 1024 * 1024


def main() -> None:
    """Read a request, forbid what a template needn't, make what is asked, answer."""
    request = sys.stdin.buffer.read()
    answer_to = os.dup(1)
    os.dup2(2, 1)  # whatever prints goes to standard error, never into the answer
    task, template, arguments, templates = pickle.loads(request)
    _warm(task, arguments)
    _set_clock(templates.limit_s)
    _forbid(templates)
    try:
        parts = _make(task, arguments, templates)
        answer: dict[str, Any] = {"parts": [(name, len(content)) for name, content in parts.items()]}
    except Exception as fault:
        parts, answer = {}, {"error": str(_as_refusal(fault, template, templates))}
    _set_clock(0)
    _answer(answer_to, answer, b"".join(parts.values()))


def _make(task: str, arguments: tuple[Any, ...], templates: Templates) -> dict[str, bytes]:
    if task == "draw":
        return {f"svg{i}": svg.encode() for i, svg in enumerate(forms.draw_here(*arguments, templates))}
    return forms.make_here(*arguments, templates)


def _as_refusal(fault: Exception, template: str, templates: Templates) -> TemplateError:
    if isinstance(fault, TemplateError):
        return fault
    if isinstance(fault, MemoryError):
        return too_large(place_of(fault, template), templates)
    return TemplateError(
        f"Template {place_of(fault, template)} can't be filled: {type(fault).__name__}: {fault}. No document was made. "
        "Correct the expression in the template and render again."
    )


def _warm(task: str, arguments: tuple[Any, ...]) -> None:
    """Load whatever is loaded on first use, since files are out of reach afterwards: by making it once of the package's own."""
    for name in package_names():
        package_source(name)
    package_skeleton()
    with contextlib.suppress(TemplateError):
        _make(task, arguments, PACKAGE)
    with contextlib.suppress(jinja2.TemplateError):
        jinja2.Environment().from_string("{{ 'é' + nothing.at }}").render()


def _forbid(templates: Templates) -> None:
    """Set limits on memory, processor time and written files, and allow no further file or socket, where there are such limits."""
    try:
        import resource
    except ImportError:  # Windows has none; the time limit holds there too
        return
    used = 0
    with contextlib.suppress(OSError, ValueError):
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    seconds = math.ceil(templates.limit_s * max(os.cpu_count() or 1, 1)) + 1
    for name, value in (
        ("RLIMIT_AS", used + templates.limit_mb * MEGABYTE),
        ("RLIMIT_CPU", seconds),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_NOFILE", 0),
    ):
        if hasattr(resource, name):
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(getattr(resource, name), (value, value))


def _set_clock(seconds: float) -> None:
    """Have the system end this process after so many seconds, whatever it is doing; 0 takes that back."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _answer(answer_to: int, answer: dict[str, Any], content: bytes) -> None:
    with os.fdopen(answer_to, "wb", closefd=False) as out:
        out.write(json.dumps(answer).encode() + HEADER_END + content)


if __name__ == "__main__":
    main()
