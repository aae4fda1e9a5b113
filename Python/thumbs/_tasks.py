"""The work of one task of a cluster."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional

from . import _arrow, _command
from ._run import Run, run
from .result import Result


@dataclass(frozen=True)
class Fetch:
    """The options of a task. It is sent to the machines of the cluster."""

    sizes: Any
    hosts: Mapping[str, Mapping[str, Any]]
    options: Dict[str, Any]

    @property
    def schema(self) -> Any:
        """The Arrow schema of the results."""
        return _arrow.schema(len(_command.size_list(self.sizes)))

    def run(self, urls: Iterable[Optional[str]]) -> Run:
        """Returns the results of `urls`."""
        return run(urls, sizes=self.sizes, hosts=self.hosts, **self.options)

    def batches(self, results: Iterable[Result]) -> Iterator[Any]:
        """Yields the results as record batches, with each URL as it was passed to `run`."""
        return _arrow.batches(results, self.schema, lambda result: result.row)
