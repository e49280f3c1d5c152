"""The map's tiles made beside the pages: the first view doesn't wait for them, the map takes each layer when it is there."""

import logging
import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path

from geobill.errors import StoreError
from geobill.pipeline.map_tiles import make_tiles
from geobill.store.workspace import open_workspace

log = logging.getLogger("geobill.web")


class TileMaker:
    """Makes what is missing, one run at a time."""

    def __init__(self, root: Path, today: Callable[[], date]):
        self._root, self._today = root, today
        self._lock, self._thread = threading.Lock(), threading.Thread()
        self._fault = ""

    def start(self) -> None:
        """Make what is missing, unless that is being done."""
        with self._lock:
            if self._thread.is_alive() or self._fault:
                return  # a fault is told before it is tried again
            self._thread = threading.Thread(target=self._run, name="map-tiles", daemon=True)
            self._thread.start()

    def take_fault(self) -> str:
        """Return why the last run failed, once: whoever asks again afterwards has it tried again."""
        with self._lock:
            fault, self._fault = self._fault, ""
        return fault

    def wait(self) -> None:
        """Wait until nothing is being made."""
        with self._lock:
            running = self._thread
        if running.is_alive():
            running.join()

    def _run(self) -> None:
        try:
            make_tiles(open_workspace(self._root), self._today(), lambda what: log.info("%s", what))
        except StoreError as refusal:
            self._fault = str(refusal)
            log.error("the map's tiles: %s", refusal)
        except Exception:  # nobody waits for this thread: without this the map would wait for ever
            self._fault = "A falha está no registro do programa (a janela de geobill serve)."
            log.exception("the map's tiles can't be made")
