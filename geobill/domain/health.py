"""What ``geobill doctor`` says of one thing that it looked at."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "fault"]


@dataclass(frozen=True)
class Check:
    """One thing looked at: its name, how it is, what was seen, and what to do where it isn't well.

    A warning costs accuracy, room or comfort; a fault stops a command, or makes the books untrue.
    """

    name: str
    state: State
    message: str
    fix: str = ""
