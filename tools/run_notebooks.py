"""Executes the notebooks and keeps their outputs, without what changes from run to run or tells of a machine.

usage: python tools/run_notebooks.py [NOTEBOOK …]      (all of notebooks/)
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
SECONDS = 300


def execute(path: Path, folder: Path | None = None) -> nbformat.NotebookNode:
    """Execute a notebook in a kernel of its own; return it stripped of times, paths and counters of the run.

    Parameters
    ----------
    path : Path
        The notebook, which is only read.
    folder : Path, optional
        Where it runs; its own folder where none is given.
    """
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder or path.parent)}},
        record_timing=False,
    ).execute()
    for cell in notebook.cells:
        cell.metadata.clear()
    notebook.metadata.clear()
    notebook.metadata.update(
        kernelspec={"display_name": "Python 3", "language": "python", "name": "python3"},
        language_info={"name": "python"},
    )
    return notebook


def main() -> None:
    """Execute the notebooks named, or all of them, in place."""
    for path in [Path(a) for a in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb")):
        nbformat.write(execute(path), path)
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
