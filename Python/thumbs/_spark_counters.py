"""Counters of a fetch with Spark."""
from __future__ import annotations

from dataclasses import fields
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ._spark_storage import is_connect
from .counters import Counters

_COUNTED = ["status", "code", "origin", "bytes", "attempts"]


def accumulator(spark: SparkSession) -> Any:
    """Returns an accumulator whose value is a `Counters`, for the argument `counters` of `thumbs.spark.fetch`.

    It counts all work that was done. A task that Spark repeats because its output was lost is counted again; `counters`
    counts the written table. Raises `TypeError` with Spark Connect, which has no accumulators.
    """
    if is_connect(spark):
        raise TypeError("Spark Connect has no accumulators; use thumbs.spark.counters on the written table.")
    from pyspark.accumulators import AccumulatorParam

    class Sum(AccumulatorParam[Counters]):
        def zero(self, value: Counters) -> Counters:
            return Counters()

        def addInPlace(self, value1: Counters, value2: Counters) -> Counters:
            return add(value1, value2)

    return spark.sparkContext.accumulator(Counters(), Sum())


def counters(table: DataFrame) -> Counters:
    """Returns the counters of a table that `thumbs.spark.fetch` wrote, read from its `path`.

    Works with Spark Connect, too. `restarts` is 0, because the table does not have it.
    """
    code = F.when(F.col("status") != "ok", F.coalesce("code", "status"))
    size = F.when(F.col("origin") == "network", F.col("bytes"))
    total = Counters()
    groups = table.groupBy(code.alias("code")).agg(
        F.count("*").alias("rows"), F.sum("attempts").alias("requests"), F.sum(size).alias("bytes"))
    for group in groups.collect():
        succeeded = group.rows if group.code is None else 0
        add(total, Counters(group.rows, succeeded, group.rows - succeeded, group.requests or 0, group.bytes or 0,
                            codes={group.code: group.rows} if group.code else {}))
    return total


def add(total: Counters, other: Counters) -> Counters:
    """Adds `other` to `total`, and returns `total`."""
    for field in fields(Counters):
        if field.name != "codes":
            setattr(total, field.name, getattr(total, field.name) + getattr(other, field.name))
    for code, rows in other.codes.items():
        total.codes[code] = total.codes.get(code, 0) + rows
    return total


def counters_of(batch: Any) -> Counters:
    """Returns the counters of the results in a batch."""
    counters = Counters()
    for row in batch.select(_COUNTED).to_pylist():
        counters.count(**row)
    return counters
