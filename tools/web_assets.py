"""Third-party scripts of the review page: installs them by the lock file and copies what the page needs into the package.

Run by ``make web``. What is copied isn't committed; the wheel carries it. Needs npm and, once, its registry.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FRONTEND = ROOT / "frontend"
VENDOR = ROOT / "geobill" / "web" / "static" / "vendor"
# file in node_modules → its name in vendor/; the licences go with the code
COPIED: dict[str, str] = {
    "htmx.org/dist/htmx.min.js": "htmx.min.js",
    "htmx.org/LICENSE": "htmx.LICENSE.txt",
    "maplibre-gl/dist/maplibre-gl.mjs": "maplibre-gl.mjs",
    "maplibre-gl/dist/maplibre-gl-worker.mjs": "maplibre-gl-worker.mjs",
    "maplibre-gl/dist/maplibre-gl.css": "maplibre-gl.css",
    "maplibre-gl/LICENSE.txt": "maplibre-gl.LICENSE.txt",
    "pmtiles/dist/pmtiles.js": "pmtiles.js",
    "pmtiles/package.json": "pmtiles.package.json",  # its licence is named there; it ships no text of it
    "fflate/LICENSE": "fflate.LICENSE.txt",  # part of pmtiles.js
}


def copy_assets(modules: Path, vendor: Path) -> list[str]:
    """Copy the files of ``COPIED`` into an empty folder; what a package doesn't hold any more is named and nothing is copied."""
    missing = [name for name in COPIED if not (modules / name).is_file()]
    if missing:
        sys.exit(f"{modules} lacks {', '.join(missing)}: correct COPIED in tools/web_assets.py for these versions.")
    shutil.rmtree(vendor, ignore_errors=True)
    vendor.mkdir(parents=True)
    for name, copy in COPIED.items():
        shutil.copyfile(modules / name, vendor / copy)
    return sorted(COPIED.values())


def main() -> None:
    """Install and copy."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm is not installed: it fetches the scripts of the review page. Install Node.js 20 or newer.")
    # no script of a package runs; the lock file names the digest of each, whichever registry they come from
    subprocess.run(
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=FRONTEND, check=True
    )
    for name in copy_assets(FRONTEND / "node_modules", VENDOR):
        sys.stdout.write(f"geobill/web/static/vendor/{name}\n")


if __name__ == "__main__":
    main()
