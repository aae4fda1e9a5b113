"""Totals of a run."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict

from .result import Result


@dataclass
class Counters:
    """Totals of the results that were delivered so far."""

    rows: int = 0
    """The number of results."""
    ok: int = 0
    """The number of rows with thumbnails."""
    failed: int = 0
    """The number of other rows."""
    requests: int = 0
    """The number of attempts, retries included, without those of a worker that died. One for several rows that want
    the same image at the same time."""
    bytes: int = 0
    """The lengths of the images that were downloaded, not those from the cache."""
    restarts: int = 0
    """The number of times that the worker was started again."""
    codes: Dict[str, int] = field(default_factory=dict)
    """The number of rows per failure code."""

    def add(self, result: Result) -> None:
        """Counts a result."""
        self.rows += 1
        is_shared = bool(result.report.get("shared"))
        if not is_shared:
            self.requests += result.attempts
        if result.ok:
            self.ok += 1
            if result.origin == "network" and not is_shared:
                self.bytes += result.bytes or 0
        else:
            self.failed += 1
            code = result.code or result.status
            self.codes[code] = self.codes.get(code, 0) + 1
