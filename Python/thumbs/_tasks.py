"""The work of one task of a cluster."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional

import pyarrow as pa

from . import _arrow, _command, _urls
from ._run import Run, run
from .result import Result


@dataclass(frozen=True)
class Fetch:
    """The options of a task. It is sent to the machines of the cluster."""

    sizes: Any
    hosts: Mapping[str, Mapping[str, Any]]
    options: Dict[str, Any]
    seed: str
    """Makes the hashes in the place of credentials unpredictable; the same for all tasks."""

    @property
    def schema(self) -> Any:
        """The Arrow schema of the results."""
        return _arrow.schema(len(_command.size_list(self.sizes)))

    def run(self, urls: Iterable[Optional[str]]) -> Run:
        """Returns the results of `urls`."""
        return run(urls, sizes=self.sizes, hosts=self.hosts, **self.options)

    def batches(self, results: Iterable[Result], **limits: Any) -> Iterator[Any]:
        """Yields the results as record batches, with each URL as it was passed to `run`, but without credentials.
        `limits` are those of `_arrow.batches`."""
        fitting = _arrow.fitting(results, "thumbnail" in self.schema.names)
        return _arrow.batches(fitting, self.schema, {"url": lambda result: self.stored(result.row)}, **limits)

    def stored(self, url: str) -> str:
        """Returns the URL that stands in the table for `url`, without credentials."""
        return _urls.stored(url, self.seed)


def add_hosts(batches: Iterable[Any]) -> Iterator[Any]:
    """Adds a column with the host of each URL to record batches with a column `url`."""
    for batch in batches:
        hosts = pa.array([_urls.host(url) for url in batch.column("url").to_pylist()], pa.string())
        yield pa.RecordBatch.from_arrays([batch.column("url"), hosts], ["url", "host"])
