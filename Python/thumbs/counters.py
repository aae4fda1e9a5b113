"""Totals of a run."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Optional

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
        is_shared = bool(result.report.get("shared"))
        origin, attempts = (None, 0) if is_shared else (result.origin, result.attempts)
        self.count(result.status, result.code, origin, result.bytes, attempts)

    def count(
        self, status: str, code: Optional[str], origin: Optional[str], bytes: Optional[int], attempts: int
    ) -> None:
        """Counts a result with these values."""
        self.rows += 1
        self.requests += attempts
        if status == "ok":
            self.ok += 1
            self.bytes += bytes or 0 if origin == "network" else 0
        else:
            self.failed += 1
            code = code or status
            self.codes[code] = self.codes.get(code, 0) + 1
