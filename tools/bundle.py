"""geobill for a desktop without internet: a zip with its wheel, the locked wheels it needs, an installer and a guide.

usage: python tools/bundle.py [--platform win_amd64] [--python-version 3.12] [--out DIR] [--prove]

Each wheel is checked against requirements.lock when it is fetched; the zip's own list (``pacotes.txt``) has the SHA-256
of every file in it, and the installer takes nothing else. ``--prove`` unpacks it, installs it with the network's settings
taken away, runs the demo and says how long it took (for this machine's platform only).
"""

import argparse
import contextlib
import email.parser
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

ROOT = pathlib.Path(__file__).resolve().parents[1]
PARTS = ROOT / "tools" / "bundle"
MANYLINUX = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_26", "manylinux_2_24", "manylinux_2_17", "manylinux2014")
SYSTEMS = {"win": ("win32", "Windows", "nt"), "macosx": ("darwin", "Darwin", "posix")}
SPOKEN = {"win": "Windows", "linux": "Linux", "macosx": "macOS"}
MACHINES = {"amd64": "AMD64", "x86_64": "x86_64", "arm64": "arm64", "aarch64": "aarch64"}
EPOCH = (2000, 1, 1, 0, 0, 0)  # one date for all files: the same wheels give the same zip


def main() -> None:
    """Build the bundle that the command line asks for."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument(
        "--platform", help="where it will be used, for example win_amd64 or linux_x86_64 (else: like here)"
    )
    ask.add_argument("--python-version", help="the Python it will run under, for example 3.12 (else: this one)")
    ask.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    ask.add_argument("--prove", action="store_true", help="install it without a network and run the demo")
    args = ask.parse_args()
    python = args.python_version or f"{sys.version_info[0]}.{sys.version_info[1]}"
    if not re.fullmatch(r"3\.1[123]", python):
        sys.exit(f"--python-version {python}: geobill runs under 3.11, 3.12 and 3.13.")
    target = args.platform or sysconfig.get_platform().replace("-", "_").replace(".", "_")
    started = time.perf_counter()
    made = build(target, python, args.out, native=not (args.platform or args.python_version))
    print(f"{made}  {made.stat().st_size / 1e6:.0f} MB in {time.perf_counter() - started:.0f} s")
    if args.prove:
        print(prove(made))


def build(target: str, python: str, out: pathlib.Path, *, native: bool) -> pathlib.Path:
    """Fetch, check and pack; return the zip."""
    lock = read_lock((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        wheelhouse = folder / "pacotes"
        wheelhouse.mkdir()
        pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheelhouse), str(ROOT))
        (own,) = wheelhouse.glob("geobill-*.whl")
        version = str(parse_wheel_filename(own.name)[1])
        where = [] if native else target_options(target, python)

        def fetch(names: Iterable[str]) -> dict[str, list[Requirement]]:
            get(names, lock, wheelhouse, where)
            return {name: requirements_of(wheel_of(name, wheelhouse)) for name in names}

        environment = default_environment() if native else environment_of(target, python)
        needed = closure(requirements_of(own), fetch, environment)
        for wheel in wheelhouse.glob("*.whl"):
            if canonicalize_name(parse_wheel_filename(wheel.name)[0]) not in {*needed, "geobill"}:
                wheel.unlink()
        (folder / "pacotes.txt").write_text(pinned(sorted(wheelhouse.glob("*.whl"))), encoding="utf-8")
        words = {"version": version, "python": python, "system": spoken(target)}
        for part in ("instalar.sh", "instalar.bat", "LEIA-ME.html"):
            write_part(PARTS / part, folder / part, words)
        for file in sorted((ROOT / "data").iterdir()):
            if file.name != "README.md":
                (folder / "exemplo").mkdir(exist_ok=True)
                shutil.copy(file, folder / "exemplo")
        shutil.copy(ROOT / "LICENSE", folder)
        out.mkdir(parents=True, exist_ok=True)
        stem = f"geobill-bundle-{version}-{target}-py{python}"
        return pack(folder, out / f"{stem}.zip", stem)


# -- what is needed


def closure(
    roots: Iterable[Requirement],
    fetch: Callable[[Iterable[str]], Mapping[str, list[Requirement]]],
    environment: Mapping[str, str],
) -> set[str]:
    """Names of everything that must be there for the roots, in an environment.

    Parameters
    ----------
    roots : iterable of Requirement
        What geobill's own wheel asks for.
    fetch : callable
        From names to what each asks for itself; called once for each generation.
    environment : mapping
        The target's markers (``sys_platform`` and so on).

    Returns
    -------
    set of str
        Canonical names, geobill's own left out.
    """
    asked: dict[str, set[str]] = {}  # the extras under which each was asked for already
    asks: dict[str, list[Requirement]] = {}
    waiting = [(requirement, frozenset({""})) for requirement in roots]
    while waiting:
        wanted: dict[str, set[str]] = {}
        for requirement, extras in waiting:
            marker = requirement.marker
            if marker is None or any(marker.evaluate({**environment, "extra": extra}) for extra in extras):
                wanted.setdefault(canonicalize_name(requirement.name), set()).update({"", *requirement.extras})
        fresh = {name: extras - asked.get(name, set()) for name, extras in wanted.items()}
        fresh = {name: extras for name, extras in fresh.items() if extras}
        unknown = sorted(name for name in fresh if name not in asks)
        if unknown:
            asks.update(fetch(unknown))
        waiting = [(requirement, frozenset(extras)) for name, extras in fresh.items() for requirement in asks[name]]
        for name, extras in fresh.items():
            asked.setdefault(name, set()).update(extras)
    return set(asked)


def read_lock(text: str) -> dict[str, str]:
    """Return each locked package's lines (version and hashes) by canonical name."""
    blocks = re.findall(r"^([A-Za-z0-9._-]+)(==\S+(?:[ \t]+\\\n[ \t]+--hash=sha256:[0-9a-f]{64})+)", text, re.MULTILINE)
    return {canonicalize_name(name): f"{name}{rest}" for name, rest in blocks}


def requirements_of(wheel: pathlib.Path) -> list[Requirement]:
    """Return what a wheel's own metadata ask for."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", n))
        metadata = email.parser.BytesParser().parsebytes(archive.read(name), headersonly=True)
    return [Requirement(line) for line in metadata.get_all("Requires-Dist") or ()]


def environment_of(target: str, python: str) -> dict[str, str]:
    """Return the markers of a platform (``win_amd64``, ``linux_x86_64``, ``macosx_11_0_arm64``) and a Python."""
    family = re.match(r"[a-z]+", target)
    sys_platform, system, os_name = SYSTEMS.get(family[0] if family else "", ("linux", "Linux", "posix"))
    machine = next((m for end, m in MACHINES.items() if target.lower().endswith(end)), "x86_64")
    return {
        **default_environment(),
        "sys_platform": sys_platform,
        "platform_system": system,
        "os_name": os_name,
        "platform_machine": machine,
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_version": f"{python}.0",
        "platform_release": "",
        "platform_version": "",
    }


def spoken(target: str) -> str:
    """Name a platform for the guide's reader."""
    family = next((name for start, name in SPOKEN.items() if target.startswith(start)), target)
    return f"{family} de 64 bits" if target.endswith(("64", "amd64")) else family


def target_options(target: str, python: str) -> list[str]:
    """Return pip's options for another platform or Python."""
    names = [f"{kind}_{target.partition('_')[2]}" for kind in MANYLINUX] if target.startswith("linux_") else [target]
    platforms = [part for name in names for part in ("--platform", name)]
    return [*platforms, "--python-version", python, "--implementation", "cp"]


# -- fetching


def get(names: Iterable[str], lock: Mapping[str, str], wheelhouse: pathlib.Path, where: list[str]) -> None:
    """Fetch wheels, each checked against the lock; what exists only as source is built here, if it is pure Python."""
    lacking = [name for name in names if name not in lock]
    if lacking:
        sys.exit(
            f"requirements.lock lacks {', '.join(lacking)}, which this platform needs: pip-compile leaves out what "
            "the machine that makes the lock doesn't need. Name them in pyproject.toml's dependencies, then make lock."
        )
    if download(names, lock, wheelhouse, where):
        return
    for name in names:
        if not download([name], lock, wheelhouse, where) and not from_source(name, lock, wheelhouse):
            sys.exit(
                f"{name} has no wheel for {' '.join(where) or 'this platform'}, and its source makes none for all platforms."
            )


def download(names: Iterable[str], lock: Mapping[str, str], wheelhouse: pathlib.Path, where: list[str]) -> bool:
    """Fetch wheels by their locked hashes; whether all were there."""
    with listed(names, lock) as file:
        options = ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", str(wheelhouse), *where]
        return pip("download", *options, "-r", file, check=False)


def from_source(name: str, lock: Mapping[str, str], wheelhouse: pathlib.Path) -> bool:
    """Build a wheel from locked source; whether it is one for every platform."""
    with listed([name], lock) as file:
        pip(
            "wheel", "--no-deps", "--require-hashes", "--no-build-isolation", "--wheel-dir", str(wheelhouse), "-r", file
        )
    return wheel_of(name, wheelhouse).name.endswith("-none-any.whl")


@contextlib.contextmanager
def listed(names: Iterable[str], lock: Mapping[str, str]) -> Iterator[str]:
    """Write a requirements file of locked packages, for the length of one pip command; give its path."""
    with tempfile.TemporaryDirectory() as tmp:
        file = pathlib.Path(tmp) / "requirements.txt"
        file.write_text("\n".join(lock[name] for name in names) + "\n", encoding="utf-8")
        yield str(file)


def pip(*words: str, check: bool = True) -> bool:
    """Run pip quietly; whether it succeeded, or an end with what it said."""
    command = [sys.executable, "-m", "pip", words[0], "--quiet", "--disable-pip-version-check", *words[1:]]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode and check:
        sys.exit(f"pip {words[0]} failed:\n{run.stderr.strip()}")
    return run.returncode == 0


def wheel_of(name: str, wheelhouse: pathlib.Path) -> pathlib.Path:
    """Return a package's wheel."""
    return next(w for w in wheelhouse.glob("*.whl") if canonicalize_name(parse_wheel_filename(w.name)[0]) == name)


def pinned(wheels: Iterable[pathlib.Path]) -> str:
    """Return the requirements file of the bundle: each wheel in it, by version and SHA-256."""
    lines = []
    for wheel in wheels:
        name, version, *_ = parse_wheel_filename(wheel.name)
        lines.append(f"{name}=={version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}")
    return "\n".join(lines) + "\n"


# -- packing


def write_part(source: pathlib.Path, target: pathlib.Path, words: Mapping[str, str]) -> None:
    """Write an installer or the guide with its version, Python and platform; the .bat in what cmd.exe reads."""
    text = source.read_text(encoding="utf-8")
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    target.write_text(text, encoding="utf-8", newline="\r\n" if target.suffix == ".bat" else "\n")


def pack(folder: pathlib.Path, target: pathlib.Path, stem: str) -> pathlib.Path:
    """Zip a folder under one name; wheels are compressed already."""
    partial = target.with_suffix(".part")
    with zipfile.ZipFile(partial, "w") as archive:
        for file in sorted(p for p in folder.rglob("*") if p.is_file()):
            entry = zipfile.ZipInfo(f"{stem}/{file.relative_to(folder).as_posix()}", EPOCH)
            entry.compress_type = zipfile.ZIP_STORED if file.suffix == ".whl" else zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if file.suffix == ".sh" else 0o100644) << 16
            archive.writestr(entry, file.read_bytes())
    partial.replace(target)
    return target


def prove(bundle: pathlib.Path) -> str:
    """Unpack, install without a network and run the demo; return what it took."""
    quiet = {
        k: v for k, v in os.environ.items() if not re.search("proxy|^pip_|pythonpath|virtual_env", k, re.IGNORECASE)
    }
    with tempfile.TemporaryDirectory() as tmp:
        shutil.unpack_archive(bundle, tmp)
        root = pathlib.Path(tmp) / bundle.stem
        environment = {**quiet, "PIP_CONFIG_FILE": os.devnull, "PYTHON": sys.executable, "HOME": tmp}
        began = time.perf_counter()
        run("install", ["sh", str(root / "instalar.sh")], environment, root)
        installed = time.perf_counter() - began
        program = root / "geobill-venv" / "bin" / "geobill"
        began = time.perf_counter()
        said = run("demo", [str(program), "demo", str(pathlib.Path(tmp) / "demo")], environment, pathlib.Path(tmp))
        ran = time.perf_counter() - began
        size = sum(p.stat().st_size for p in (root / "geobill-venv").rglob("*") if p.is_file() and not p.is_symlink())
    figures = f"installed without a network in {installed:.0f} s ({size / 1e6:.0f} MB), demo in {ran:.0f} s"
    return f"{figures}, on {platform.system()}:\n{said}"


def run(what: str, command: list[str], environment: Mapping[str, str], folder: pathlib.Path) -> str:
    """Run a command of the proof, or end with what it said."""
    done = subprocess.run(command, env=dict(environment), cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{what} failed with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
