"""Fetches the images of a Spark DataFrame.

Every machine of the cluster needs this package, with the command and pyarrow. Nothing else is shared, except `path`.
"""
from __future__ import annotations

import os
import uuid
from functools import partial
from typing import Any, Dict, Iterator, List, Mapping, Optional

from pyspark import TaskContext
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from . import _arrow, _command, _redaction, _urls
from ._hosts import DEFAULT_PER_HOST, ROWS_PER_SALT, HostPlan, default_partitions
from ._spark_counters import accumulator, add, counters, counters_of
from ._spark_storage import (
    KEPT_ROWS, KEPT_SECONDS, KeptBatches, check_path, is_connect, partitions_on_disk, replacement, scratch,
)
from ._tasks import Fetch, add_hosts
from .counters import Counters
from .errors import IncompleteTable

__all__ = ["accumulator", "counters", "fetch"]

_KEY = "_thumbs_url"
_CHANGED = ("A row has a URL that was not there when the images were fetched: the DataFrame has other rows each time "
            "it is read, as with random values. Write it to a table first.")

# Version 1 of the committer moves the files of a task when it ends, and those of the job when all have ended.
COMMITTER = {"mapreduce.fileoutputcommitter.algorithm.version": "1"}


def fetch(
    df: DataFrame, url_col: str, sizes: _command.Sizes = None, *, path: str, table_format: Optional[str] = None,
    mode: str = "error", prefix: str = "", partitions: Optional[int] = None, per_host: int = DEFAULT_PER_HOST,
    rate: Optional[str] = None, hosts: Optional[Mapping[str, Mapping[str, Any]]] = None,
    rows_per_salt: int = ROWS_PER_SALT, counters: Optional[Any] = None, **options: _command.Option,
) -> DataFrame:
    """Fetches each distinct URL of a column once, writes the results to `path`, and returns `df` with them.

    The table at `path` has a row per distinct URL. It is complete before it is joined with `df`, so whatever is lost
    later, no image is requested again. Rows that Spark cannot account for are never left out: a task whose worker does
    not confirm its counts fails, and Spark repeats it.

    The columns of the results are `status`, `code`, `retryable`, `http`, `final_url`, `origin`, `width`, `height`,
    `format`, `bytes`, `thumbnail`, `attempts` and `ms`. With several sizes, `thumbnails` replaces `thumbnail`: a list
    of structs with `spec`, `width`, `height`, `format` and `data`. The table at `path` also has `url`, the canonical
    URL. In place of credentials, it has `***` and a hash, which is different in each table.

    Args:
        df: Any DataFrame, also one of Spark Connect. It is read three times: to count, to fetch, and to join.
        url_col: Its column with the URLs. A row without a URL has the status `failed`.
        sizes: One size or several, as in `thumbs.run`.
        path: Where the table is written, on storage that all machines share. The URLs of each task are kept next to it
            while they are fetched, with their credentials, in a directory whose name ends in `.thumbs-urls`. So are the
            results, if that is a directory of every machine; a task that is repeated then fetches only the rest. Spark
            Connect leaves the directory there, and keeps no results.
        table_format: `parquet`, or `delta`. The default is Delta in a session with its extension, else parquet.
        mode: `error` if `path` may not exist yet, or `overwrite`: the table is replaced when the new one is complete.
        prefix: Goes before the names of the result columns, in case `df` has columns of these names.
        partitions: The number of tasks. The default is one per 2,000 URLs, and at least 8.
        per_host: The maximum number of downloads at once per host, for the whole cluster.
        rate: The maximum rate of requests per host, such as `5/s`, for the whole cluster.
        hosts: Settings for hosts, as in the file of `--hosts`; the limits are for the whole cluster.
        rows_per_salt: A host with more URLs than this is fetched by several tasks, which share `per_host`.
        counters: An accumulator of `thumbs.spark.accumulator`, to which each task adds its counters.
        options: Options of `thumbs worker`, such as `format="webp"` or `cache_dir="/tmp/cache"`.

    Raises:
        TypeError: `df` is no DataFrame of Spark.
        FileExistsError: `path` exists, and `mode` is `error`.
        OSError: Nothing can be created next to `path`.
        CommandNotFound: The command is not installed on the driver.
        UsageError: An option is unknown or has a wrong value, or cannot be used here, such as `size` for `sizes`.
        ValueError: A column is missing or has a name twice, `path` is read by `df` and would be overwritten, or Spark's
            speculation is on, which fetches images twice.
        IncompleteTable: The written table does not have exactly one row per URL.
    """
    path, sizes = os.fspath(path).rstrip("/"), _command.size_list(sizes)
    if not hasattr(df, "sparkSession"):
        raise TypeError(f"df is of type {type(df).__name__}, but must be a DataFrame of Spark, such as that of "
                        "spark.createDataFrame.")
    _command.check(sizes, per_host=per_host, rate=rate, **options)
    _check(df, url_col, prefix, sizes)
    plan, seed = HostPlan(per_host, rate, hosts or {}, rows_per_salt, tasks=_tasks(df.sparkSession)), uuid.uuid4().hex
    check_path(df, path, mode)
    table_format = table_format or _default_format(df.sparkSession)
    with scratch(df.sparkSession, path) as folder:
        urls = _distinct_urls(df, url_col)
        count, salts = _count(urls, plan)
        task = Fetch(sizes, plan.settings(salts), {"per_host": per_host, "rate": rate, **options}, seed)
        kept = None if is_connect(df.sparkSession) else folder
        with partitions_on_disk(_place(urls, salts, partitions or default_partitions(count)), folder) as stored:
            fetched = stored.mapInArrow(partial(_fetch_batches, task, kept, counters), _ddl(task))
            with replacement(df.sparkSession, path, mode, table_format) as target:
                fetched.write.format(table_format).mode(mode).options(**COMMITTER).save(target)
                _check_rows(df.sparkSession.read.format(table_format).load(target), stored.count(), path)
    return _join(df, url_col, df.sparkSession.read.format(table_format).load(path), prefix, seed)


def _tasks(spark: SparkSession) -> Optional[int]:
    """Returns the number of tasks that run at a time; None with Spark Connect, where it is unknown."""
    return None if is_connect(spark) else max(1, int(spark.sparkContext.defaultParallelism))


def _check_rows(table: DataFrame, urls: int, path: str) -> None:
    written = table.count()
    if written != urls:
        raise IncompleteTable(f"{path} would have {written} rows for {urls} URLs.")


def _check(df: DataFrame, url_col: str, prefix: str, sizes: _command.Sizes) -> None:
    if url_col not in df.columns:
        raise ValueError(f"There is no column {url_col}; there are {', '.join(df.columns)}.")
    new = {prefix + name for name in _arrow.schema(len(_command.size_list(sizes))).names if name != "url"}
    taken = {name.lower() for name in df.columns}
    both = sorted(name for name in new if name.lower() in taken)
    if _KEY in taken:
        raise ValueError(f"The DataFrame has a column {_KEY}, which is needed for the join; rename it.")
    if both:
        raise ValueError(f"The DataFrame already has a column {both[0]}; give a prefix, such as prefix=\"thumbs_\".")
    if str(df.sparkSession.conf.get("spark.speculation", "false")).lower() == "true":
        raise ValueError("Speculation fetches images twice, above the limits of their hosts; set spark.speculation "
                         "to false.")


def _distinct_urls(df: DataFrame, url_col: str) -> DataFrame:
    """Returns a DataFrame with the distinct keys of the URLs, and their hosts."""
    return df.select(_key(_text(url_col)).alias("url")).distinct().mapInArrow(add_hosts, "url string, host string")


def _text(column: str) -> Column:
    return F.col("`" + column.replace("`", "``") + "`").cast("string")


def _key(url: Column) -> Column:
    """Returns the column that `_urls.key` computes."""
    def part(group: int) -> Column:
        return F.regexp_extract(url, rf"\A{_urls.PLAIN}\z", group)

    scheme, host, port, path = F.lower(part(1)), F.lower(part(2)), F.regexp_replace(part(3), _urls.ZEROS, ":"), part(4)
    is_default = F.lit(False)
    for name, ports in _urls.DEFAULT_PORTS.items():
        is_default = is_default | (scheme == name) & port.isin(*ports)
    authority = F.concat(host, F.when(is_default, "").otherwise(port))
    whole = F.concat(scheme, F.lit("://"), authority, F.when(path.startswith("/"), "").otherwise("/"), path)
    return F.coalesce(F.when(scheme != "", whole).otherwise(url), F.lit(""))


def _stored(key: Column, seed: str) -> Column:
    """Returns the column that `_urls.stored` computes."""
    may_have_user = key.contains("@") & ~key.rlike(rf"\A{_redaction.WITHOUT_USER}\z")
    digits = F.substring(F.sha2(F.concat(F.lit(seed), key).cast("binary"), 256), 1, _urls.HASH_DIGITS)
    scheme, end = F.regexp_extract(key, r"\A[A-Za-z]+://", 0), F.regexp_extract(key, r"@[^@]*\z", 0)
    return F.when(may_have_user, F.concat(scheme, F.lit(_redaction.MARK), digits, end)).otherwise(key)


def _count(urls: DataFrame, plan: HostPlan) -> "tuple[int, Dict[str, int]]":
    """Returns the number of URLs, and the number of salts of each host that has several."""
    large = F.when(F.col("count") > plan.rows_per_salt, F.struct("host", "count"))
    counted = urls.groupBy("host").count().agg(F.sum("count"), F.collect_list(large)).collect()[0]
    return counted[0] or 0, plan.salted(counted[1])


def _place(urls: DataFrame, salts: Mapping[str, int], partitions: int) -> DataFrame:
    """Puts all URLs of a host, or of a host and a salt, into one partition. The same URL always gets the same salt."""
    if not salts:
        return urls.repartition(partitions, "host").select("url")
    large = F.broadcast(urls.sparkSession.createDataFrame(sorted(salts.items()), "host string, salts int"))
    salt = F.pmod(F.xxhash64("url"), F.coalesce("salts", F.lit(1)))
    return urls.join(large, "host", "left").repartition(partitions, "host", salt).select("url")


def _fetch_batches(
    task: Fetch, folder: Optional[str], total: Optional[Any], batches: Iterator[Any]
) -> Iterator[Any]:
    """Fetches the URLs of a partition, in a Python process of an executor. What an earlier attempt kept comes first."""
    context = TaskContext.get()
    kept = KeptBatches(folder, context.partitionId() if context else 0)
    counted, finished = Counters(), set()
    for batch in kept:
        finished.update(batch.column("url").to_pylist())
        add(counted, counters_of(batch))
        yield batch
    urls = (url for batch in batches for url in batch.column("url").to_pylist())
    with task.run(url for url in urls if task.stored(url) not in finished) as results:
        for batch in task.batches(results, rows=KEPT_ROWS, seconds=KEPT_SECONDS):
            kept.add(batch)
            yield batch
    if total is not None:
        total.add(add(counted, results.counters))


def _ddl(task: Fetch) -> str:
    """Returns the schema of the results in Spark's language."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in from_arrow_schema(task.schema))


def _default_format(spark: SparkSession) -> str:
    extensions = spark.conf.get("spark.sql.extensions", "") or ""
    return "delta" if "DeltaSparkSessionExtension" in extensions else "parquet"


def _join(df: DataFrame, url_col: str, table: DataFrame, prefix: str, seed: str) -> DataFrame:
    key = _stored(_key(_text(url_col)), seed)
    names: List[Column] = [F.col(name).alias(_KEY if name == "url" else prefix + name) for name in table.columns]
    joined = df.withColumn(_KEY, key).join(table.select(*names), _KEY, "left").drop(_KEY)
    status, message = prefix + "status", F.lit(f"{_CHANGED} The column is {url_col}.")
    # The message is an error only for a row without a result, so it is part of a column that is always read.
    return joined.withColumn(status, F.coalesce(F.col(f"`{status}`"), F.raise_error(message).cast("string")))
