"""Templates from outside run in a process of their own: with a time limit, a memory limit, no file and no network.

Jinja's sandbox keeps a template from walking out through attributes, but neither it nor Typst can be kept from running
for ever or from filling the memory. The process that runs them is started for one document, gets everything through a
pipe, may open nothing (where the platform can forbid it) and is killed at the limit.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geobill.documents.overrides.folder import Templates
from geobill.errors import TemplateError

if TYPE_CHECKING:
    from geobill.documents.forms import Job

CHILD = "geobill.documents.overrides.child"
START_S = 60.0  # loading the program isn't the template's time
KEPT_ENVIRONMENT = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "LANG", "LC_ALL")
# SIGALRM, SIGXCPU and SIGKILL: the clock and the limit on processor time. SIGABRT and SIGSEGV: no memory, no stack.
TIME_SIGNALS, MEMORY_SIGNALS = {-14, -24, -9}, {-6, -11}
HEADER_END = b"\n"


def make_apart(job: "Job", forms: Sequence[str], templates: Templates) -> dict[str, bytes]:
    """Make a document's forms in a process apart; see :func:`geobill.documents.forms.make`."""
    return _run("make", job.template, (job, tuple(forms)), templates)


def draw_apart(template: str, values: Sequence[Mapping[str, Any]], templates: Templates) -> list[str]:
    """Fill drawings in a process apart; see :func:`geobill.documents.forms.draw_all`."""
    made = _run("draw", template, (template, [dict(one) for one in values]), templates)
    return [made[f"svg{i}"].decode() for i in range(len(values))]


def _run(task: str, template: str, arguments: tuple[Any, ...], templates: Templates) -> dict[str, bytes]:
    plain = Templates(dict(templates.files), None, templates.limit_s, templates.limit_mb)
    request = pickle.dumps((task, template, arguments, plain))
    environment = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    environment["PYTHONPATH"] = str(Path(__file__).parents[3])
    environment["PYTHONHASHSEED"] = "0"
    with tempfile.TemporaryDirectory(prefix="geobill-") as empty:
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", CHILD],
                input=request,
                capture_output=True,
                timeout=templates.limit_s + START_S,
                cwd=empty,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise too_long(template, templates) from None
    header, _, rest = done.stdout.partition(HEADER_END)
    try:
        answer = json.loads(header)
    except ValueError:
        raise _died(template, done, templates) from None
    if "error" in answer:
        raise TemplateError(answer["error"])
    parts, at = {}, 0
    for name, size in answer["parts"]:
        parts[name], at = rest[at : at + size], at + size
    if at != len(rest):
        raise _died(template, done, templates)
    return parts


def too_long(template: str, templates: Templates) -> TemplateError:
    """Say that a template didn't come to an end."""
    return TemplateError(
        f"Template {template} isn't done after {templates.limit_s:g} s and was stopped, so no document was made. "
        f"{_own(templates)} Look for a loop without an end, in Jinja ({{% for %}}) or in Typst (while), and check again with "
        "geobill templates check."
    )


def too_large(template: str, templates: Templates) -> TemplateError:
    """Say that a template asked for more memory than it may have."""
    return TemplateError(
        f"Template {template} needs more than {templates.limit_mb} MB of memory and was stopped, so no document was made. "
        f"{_own(templates)} Look for something that is repeated without measure, and check again with geobill templates check."
    )


def _died(template: str, done: "subprocess.CompletedProcess[bytes]", templates: Templates) -> Exception:
    """Say that the process ended without an answer: by its clock, for want of memory, or by a fault of the program."""
    if done.returncode in TIME_SIGNALS:
        return too_long(template, templates)
    if done.returncode in MEMORY_SIGNALS or b"MemoryError" in done.stderr:
        return too_large(template, templates)
    told = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return RuntimeError(f"the process for templates ended with {done.returncode}: {told[-1] if told else 'no message'}")


def _own(templates: Templates) -> str:
    return f"The workspace's own templates in use are {', '.join(sorted(templates.files))}."
