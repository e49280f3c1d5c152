"""How long a person waits for ``geobill --help``: the median of several starts, each in a process of its own.

usage: python benchmarks/start.py [--times N] [--limit SECONDS] [--modules]

Ends with 1 where the median is over the limit (half a second: issue 3).
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parents[1]
COMMANDS = (("--help",), ("import", "network", "--help"), ("version",))


def main() -> None:
    """Time each command, print the medians, and say where they are over the limit."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--times", type=int, default=11, help="starts of each command")
    ask.add_argument("--limit", type=float, default=0.5, help="seconds that the median may take")
    ask.add_argument("--modules", action="store_true", help="also list the twelve modules that take longest to load")
    args = ask.parse_args()
    slow = False
    for words in COMMANDS:
        seconds = sorted(start(words) for _ in range(args.times))
        median = statistics.median(seconds)
        slow |= median > args.limit
        print(
            f"geobill {' '.join(words):24s} {median:.3f} s (median of {args.times}; {seconds[0]:.3f} to {seconds[-1]:.3f} s)"
        )
    if args.modules:
        print("\n".join(slowest(12)))
    if slow:
        sys.exit(f"over the limit of {args.limit} s: run with --modules to see what is loaded")


def start(words: tuple[str, ...]) -> float:
    """Run one command; return its wall-clock seconds."""
    command = [sys.executable, "-m", "geobill.cli.main", *words]
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=HERE)
    return time.perf_counter() - begun


def slowest(count: int) -> list[str]:
    """Return the modules whose own loading takes longest, from Python's own count."""
    command = [sys.executable, "-X", "importtime", "-c", "import geobill.cli.main"]
    said = subprocess.run(command, check=True, capture_output=True, text=True, cwd=HERE).stderr
    rows = [
        line.removeprefix("import time:").split("|") for line in said.splitlines() if line.startswith("import time:")
    ]
    timed = sorted(((int(own), name.strip()) for own, _, name in rows if own.strip().isdigit()), reverse=True)
    return [f"  {own / 1000:7.1f} ms  {name}" for own, name in timed[:count]]


if __name__ == "__main__":
    main()
