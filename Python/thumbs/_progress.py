"""A progress bar for a run."""
from __future__ import annotations

from typing import Any, Optional

from .counters import Counters


class ProgressBar:
    """The bar of tqdm, on a terminal or in a notebook."""

    def __init__(self, rows: Any) -> None:
        """Shows an empty bar, whose length is that of `rows` if they have one."""
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("progress=True needs the Python package tqdm: pip install tqdm") from error
        self._bar = tqdm(total=_length(rows), unit="row")

    def update(self, counters: Counters) -> None:
        """Counts a result."""
        if counters.failed:
            self._bar.set_postfix(failed=counters.failed, refresh=False)
        self._bar.update(1)

    def skip(self) -> None:
        """Counts a row that has its result already."""
        self._bar.update(1)

    def close(self) -> None:
        """Ends the bar, which stays on the screen."""
        self._bar.close()


def _length(rows: Any) -> Optional[int]:
    try:
        return len(rows)
    except TypeError:
        return None
