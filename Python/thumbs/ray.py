"""Fetches the images of a Ray dataset.

Every node needs this package, with the command and pyarrow, and a file system that all nodes mount at the same path.
"""
from __future__ import annotations

import os
import shutil
import uuid
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Dict, Generator, List, Mapping, Optional, Protocol

import ray
import ray.data

from . import _command
from ._files import PathLike, sync_directory
from ._hosts import DEFAULT_PER_HOST, ROWS_PER_SALT, HostPlan, default_partitions
from ._ray_tasks import FetchPartitions, add_keys, keys, part_of, place, write_empty, write_partition
from ._tasks import Fetch
from .errors import IncompleteTable

__all__ = ["fetch"]

MOST_ON_DRIVER = 200_000
"""The most distinct URLs that the driver divides by itself."""


def fetch(
    ds: Any, url_col: str, sizes: _command.Sizes = None, *, path: PathLike, actors: Optional[int] = None,
    partitions: Optional[int] = None, per_host: int = DEFAULT_PER_HOST, rate: Optional[str] = None,
    hosts: Optional[Mapping[str, Mapping[str, Any]]] = None, rows_per_salt: int = ROWS_PER_SALT,
    **options: _command.Option,
) -> Any:
    """Fetches each distinct URL of a column once, writes the results to `path`, and returns them as a dataset.

    The table at `path` consists of Parquet files with a row per distinct URL: `url` (canonical), `status`, `code` and
    so on, as in `thumbs.spark.fetch`. The directory `path` appears when the table is complete. A file has at most 500
    URLs of a partition and outlives the actor and the node that wrote it: what it has is never fetched again.
    Until then, the files are next to `path`, in a hidden directory whose name ends in `.unfinished`; it is left there
    only if the driver is killed.

    Args:
        ds: A `ray.data.Dataset`.
        url_col: Its column with the URLs.
        sizes: One size or several, as in `thumbs.run`.
        path: A directory that does not exist yet, on a file system that all nodes mount.
        actors: The largest number of actors. Each needs a CPU. The default is the number of CPUs of the cluster.
        partitions: The number of partitions. The default is one per 2,000 URLs, and at least 8.
        per_host: The maximum number of downloads at once per host, for the whole cluster.
        rate: The maximum rate of requests per host, such as `5/s`, for the whole cluster.
        hosts: Settings for hosts, as in the file of `--hosts`; the limits are for the whole cluster.
        rows_per_salt: A host with more URLs than this is fetched by several actors, which share `per_host`.
        options: Options of `thumbs worker`, such as `format="webp"`.

    Raises:
        TypeError: `ds` is no `ray.data.Dataset`.
        FileExistsError: `path` exists.
        CommandNotFound: The command is not installed on the driver.
        UsageError: An option is unknown or has a wrong value, or cannot be used here, such as `size` for `sizes`.
        IncompleteTable: The files do not have exactly one row per URL.
    """
    if not hasattr(ds, "map_batches"):
        raise TypeError(f"ds is of type {type(ds).__name__}, but must be a ray.data.Dataset, such as that of "
                        "ray.data.from_pandas.")
    _command.check(sizes, per_host=per_host, rate=rate, **options)
    actors = actors or _processors()
    plan = HostPlan(per_host, rate, hosts or {}, rows_per_salt, tasks=actors)
    folder = Path(path).absolute()
    with _new_folder(folder) as unfinished:
        few = _few_urls(ds, url_col)
        urls: _Urls = _ManyUrls(ds, url_col) if few is None else _FewUrls(few)
        salts, parts = urls.salts(plan), partitions or default_partitions(urls.count)
        task = Fetch(_command.size_list(sizes), plan.settings(salts), {"per_host": per_host, "rate": rate, **options},
                     uuid.uuid4().hex)
        _check(urls.write(salts, parts, task, unfinished, actors), urls.count, unfinished)
        if urls.count == 0:
            write_empty(task, unfinished)
    return ray.data.read_parquet(str(folder))


@contextmanager
def _new_folder(path: Path) -> Generator[Path, None, None]:
    """Gives a new directory next to `path`, which gets that name after the block, and is removed if the block raises.

    Raises `FileExistsError` if `path` exists. If it came into being during the block, the new directory is kept.
    """
    if os.path.lexists(path):
        raise FileExistsError(f"{path} exists already.")
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}.unfinished")
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    try:
        os.rename(unfinished, path)
    except OSError as error:
        raise FileExistsError(f"{path} came into being during the fetch; the table is in {unfinished}.") from error
    sync_directory(path.parent)


def _processors() -> int:
    resources: Dict[str, float] = ray.cluster_resources()
    return max(1, int(resources.get("CPU", 1)))


def _few_urls(ds: Any, url_col: str) -> Optional[Dict[str, str]]:
    """Returns the distinct keys of the URLs with their hosts; None if they are too many for the driver. Grouping them
    in the cluster takes tens of seconds, even if they are few."""
    found: Dict[str, str] = {}
    for batch in ds.select_columns([url_col]).iter_batches(batch_format="pyarrow"):
        found.update(keys(batch, url_col))
        if len(found) > MOST_ON_DRIVER:
            return None
    return found


class _Urls(Protocol):
    """The distinct URLs of a dataset."""

    count: int
    """The number of URLs."""

    def salts(self, plan: HostPlan) -> Dict[str, int]:
        """Returns the number of salts of each host that has several."""
        ...

    def write(
        self, salts: Mapping[str, int], parts: int, task: Fetch, folder: Path, workers: int
    ) -> List[Dict[str, Any]]:
        """Fetches the URLs, at most `workers` partitions at a time. Returns the files with their numbers of rows."""
        ...


class _FewUrls:
    """URLs that the driver divides; tasks fetch them."""

    def __init__(self, hosts: Mapping[str, str]) -> None:
        """`hosts` has the host of each URL."""
        self._hosts, self.count = hosts, len(hosts)

    def salts(self, plan: HostPlan) -> Dict[str, int]:
        return plan.salted(Counter(self._hosts.values()).items())

    def write(
        self, salts: Mapping[str, int], parts: int, task: Fetch, folder: Path, workers: int
    ) -> List[Dict[str, Any]]:
        placed: Dict[int, List[str]] = {}
        for url, host in self._hosts.items():
            placed.setdefault(part_of(url, host, salts, parts), []).append(url)
        remote: Any = ray.remote(num_cpus=1, max_retries=-1)(write_partition)
        waiting = sorted(placed.items())
        running: List[Any] = []
        written: List[Dict[str, Any]] = []
        while waiting or running:
            while waiting and len(running) < workers:
                running.append(remote.remote(task, str(folder), *waiting.pop()))
            done, running = ray.wait(running)
            for files in ray.get(done):
                written += files
        return written


class _ManyUrls:
    """URLs that the cluster divides; actors fetch them."""

    def __init__(self, ds: Any, url_col: str) -> None:
        found = ds.select_columns([url_col]).map_batches(partial(add_keys, url_col=url_col), batch_format="pyarrow")
        self._urls = found.groupby(["url", "host"]).count().select_columns(["url", "host"]).materialize()
        self.count = int(self._urls.count())

    def salts(self, plan: HostPlan) -> Dict[str, int]:
        counts = self._urls.groupby("host").count().filter(lambda row: row["count()"] > plan.rows_per_salt).take_all()
        return plan.salted((row["host"], row["count()"]) for row in counts)

    def write(
        self, salts: Mapping[str, int], parts: int, task: Fetch, folder: Path, workers: int
    ) -> List[Dict[str, Any]]:
        placed = self._urls.map_batches(partial(place, salts=salts, parts=parts), batch_format="pyarrow")
        written = placed.groupby("part").map_groups(
            FetchPartitions, fn_constructor_kwargs={"task": task, "folder": str(folder)}, batch_format="pyarrow",
            concurrency=(1, workers), num_cpus=1)
        rows: List[Dict[str, Any]] = written.take_all()
        return rows


def _check(written: List[Dict[str, Any]], count: int, folder: Path) -> None:
    files = {row["file"] for row in written}
    found = {name for name in os.listdir(folder) if not name.startswith(".")}
    rows = sum(row["rows"] for row in written)
    if len(files) != len(written) or files != found or rows != count:
        raise IncompleteTable(f"{folder} has {rows} rows in {len(found)} files for {count} URLs.")
    for name in set(os.listdir(folder)) - found:
        (folder / name).unlink()
