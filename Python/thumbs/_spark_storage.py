"""Places for data of Spark, and partitions that survive the loss of the machines that made them."""
from __future__ import annotations

import os
import threading
import uuid
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Dict, Generator, Iterator, List, Mapping, Optional
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from ._files import replacing

# A file is never divided among tasks if it is shorter than this, and never shares a task if opening it costs as much.
ONE_FILE_PER_TASK = {
    "spark.sql.files.maxPartitionBytes": str(1 << 40), "spark.sql.files.openCostInBytes": str(1 << 40),
}
# These override the session: a partition is one file, and a file that is missing or damaged is an error.
WHOLE_PARTITIONS = {"maxRecordsPerFile": "0"}
WHOLE_FILES = {"ignoreMissingFiles": "false", "ignoreCorruptFiles": "false"}
GLOB = "*?[{"

KEPT_ROWS = 200
KEPT_SECONDS = 5.0
"""A batch is kept when it has so many rows, or so many seconds after its first one."""


def check_path(df: DataFrame, path: str, mode: str) -> None:
    """Raises `ValueError` or `FileExistsError` if a table cannot be written to `path` and read again."""
    if mode not in ("error", "errorifexists", "overwrite"):
        raise ValueError(f"mode is {mode!r}, but must be \"error\" or \"overwrite\".")
    if any(letter in path for letter in GLOB):
        raise ValueError(f"{path} has one of the characters {GLOB}, which Spark would take for a pattern.")
    if mode != "overwrite" and _exists(df.sparkSession, path):
        raise FileExistsError(f"{path} exists already; choose another path, or mode=\"overwrite\".")
    if mode == "overwrite" and _reads(df, path):
        raise ValueError(f"The DataFrame reads from {path}, which cannot be overwritten at the same time.")


@contextmanager
def scratch(spark: SparkSession, path: str) -> Generator[str, None, None]:
    """Gives a directory next to `path` with a unique name, and deletes it after the block.

    Raises `OSError` if it cannot be created. With Spark Connect, it is created when something is written to it.
    """
    folder = f"{path}.{uuid.uuid4().hex}.thumbs-urls"
    if not is_connect(spark):
        _create(spark, folder)
    try:
        yield folder
    finally:
        if not is_connect(spark):
            _delete(spark, folder)


@contextmanager
def replacement(spark: SparkSession, path: str, mode: str, table_format: str) -> Generator[str, None, None]:
    """Gives the path to write a table to. If `path` is overwritten, the table takes its place only after the block.

    Delta replaces a table at once by itself. Spark Connect cannot rename, so it copies the table, and leaves it there.
    """
    if mode != "overwrite" or table_format == "delta":
        try:
            yield path
        except AnalysisException as error:
            if "PATH_ALREADY_EXISTS" in str(error):
                raise FileExistsError(f"{path} came into being during the fetch; choose another path.") from error
            raise
        return
    new = f"{path}.{uuid.uuid4().hex}.thumbs-new"
    try:
        yield new
        if is_connect(spark):
            spark.read.format(table_format).load(new).write.format(table_format).mode("overwrite").save(path)
        else:
            _take_place(spark, new, path)
    finally:
        if not is_connect(spark):
            _delete(spark, new)


@contextmanager
def partitions_on_disk(df: DataFrame, path: str) -> Generator[DataFrame, None, None]:
    """Writes `df` to the new directory `path`, a file per partition, and gives a DataFrame whose partitions these are.

    A stage that reads a shuffle begins again when an executor is lost, because the shuffle files are lost with it. It
    then repeats even tasks that still run elsewhere. A stage that reads files repeats only the tasks that were lost.
    """
    spark = df.sparkSession
    df.write.options(**WHOLE_PARTITIONS).mode("append").parquet(path)
    with _settings(spark):
        yield spark.read.options(**WHOLE_FILES).schema(df.schema).parquet(path)


class KeptBatches:
    """Record batches of a partition, in a directory of a storage that all machines share.

    Only the batches that were there at the beginning are read, so the batches of a task that still runs elsewhere,
    although Spark gave it up, are not counted with those of its successor.
    """

    def __init__(self, folder: Optional[str], partition: int) -> None:
        """Uses the directory of the URLs of a fetch, if this machine sees it, and otherwise keeps nothing."""
        parent = _local(folder) if folder is not None else None
        # Spark does not read what begins with an underscore.
        self._folder = parent / f"_results-{partition:05}" if parent is not None and parent.is_dir() else None
        self._earlier = sorted(self._folder.glob("*.arrow")) if self._folder is not None else []

    def __iter__(self) -> Iterator[Any]:
        """Yields the batches of earlier tasks."""
        for path in self._earlier:
            with pa.OSFile(str(path)) as file:
                yield pa.ipc.open_file(file).get_batch(0)

    def add(self, batch: Any) -> None:
        """Keeps a batch. If it cannot be written, its rows may be fetched twice, which is no reason to fail."""
        if self._folder is None:
            return
        with suppress(OSError):
            self._folder.mkdir(exist_ok=True)
            # Unique, because a task that was given up may still write here.
            path = self._folder / f"{uuid.uuid4().hex}.arrow"
            with replacing(path) as file, pa.ipc.new_file(file, batch.schema) as writer:
                writer.write_batch(batch)


def is_connect(spark: SparkSession) -> bool:
    """True for a session of Spark Connect, which has no access to files."""
    return "connect" in type(spark).__module__


# The settings of each session before the first of its fetches began, once per fetch. Threads may share a session.
_earlier: Dict[int, List[Dict[str, Optional[str]]]] = {}
_lock = threading.Lock()


@contextmanager
def _settings(spark: SparkSession) -> Generator[None, None, None]:
    with _lock:
        fetches = _earlier.setdefault(id(spark), [])
        fetches.append(fetches[0] if fetches else {name: spark.conf.get(name) for name in ONE_FILE_PER_TASK})
        _set(spark, ONE_FILE_PER_TASK)
    try:
        yield
    finally:
        with _lock:
            before = fetches.pop()
            if not fetches:
                del _earlier[id(spark)]
                _set(spark, before)


def _set(spark: SparkSession, settings: Mapping[str, Optional[str]]) -> None:
    for name, value in settings.items():
        if value is not None:
            spark.conf.set(name, value)


def _exists(spark: SparkSession, path: str) -> bool:
    if not is_connect(spark):
        files, folder = _files(spark, path)
        return bool(files.exists(folder))
    try:
        spark.read.format("binaryFile").load(path).schema
    except AnalysisException as error:
        if "PATH_NOT_FOUND" in str(error):
            return False
        raise
    return True


def _reads(df: DataFrame, path: str) -> bool:
    """True if a file of `df` is below `path`. A relative path may be anywhere."""
    folder = unquote(urlsplit(path).path).rstrip("/")
    files = [unquote(urlsplit(file).path) for file in df.inputFiles()]
    return any(file.startswith(folder + "/") if os.path.isabs(folder) else f"/{folder}/" in file for file in files)


def _files(spark: SparkSession, path: str) -> "tuple[Any, Any]":
    """Returns the file system of a path, and the path, as objects of Hadoop."""
    jvm: Any = spark._jvm
    session: Any = spark._jsparkSession
    folder = jvm.org.apache.hadoop.fs.Path(path)
    return folder.getFileSystem(session.sessionState().newHadoopConf()), folder


def _create(spark: SparkSession, path: str) -> None:
    try:
        files, folder = _files(spark, path)
        is_created = files.mkdirs(folder)
    except Exception as error:  # Of the virtual machine; its text has the cause.
        raise OSError(f"No directory can be created next to the table: {error}") from error
    if not is_created:
        raise OSError(f"No directory can be created next to the table: {path}")


def _take_place(spark: SparkSession, new: str, path: str) -> None:
    files, folder = _files(spark, path)
    old = _files(spark, f"{new}.old")[1]
    if files.exists(folder) and not files.rename(folder, old):
        raise OSError(f"{path} could not be renamed to {old}.")
    if not files.rename(_files(spark, new)[1], folder):
        files.rename(old, folder)
        raise OSError(f"{new} could not be renamed to {path}.")
    _delete(spark, f"{new}.old")


def _delete(spark: SparkSession, path: str) -> None:
    try:
        files, folder = _files(spark, path)
        files.delete(folder, True)
    except Exception as error:  # The table is complete, or another error has been raised.
        warnings.warn(f"{path} could not be deleted: {error}", stacklevel=2)


def _local(path: str) -> Path:
    """Returns the path of a directory, which may have the form of a URL."""
    return Path(unquote(urlsplit(path).path) if path.startswith("file:") else path)
