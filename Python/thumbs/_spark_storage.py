"""Partitions of a DataFrame that survive the loss of the machines that made them."""
from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

from pyspark.sql import DataFrame, SparkSession

# A file is never divided among tasks if it is shorter than this, and never shares a task if opening it costs as much.
ONE_FILE_PER_TASK = {
    "spark.sql.files.maxPartitionBytes": str(1 << 40), "spark.sql.files.openCostInBytes": str(1 << 40),
}


@contextmanager
def partitions_on_disk(df: DataFrame, path: str) -> Iterator[DataFrame]:
    """Writes `df` to `path` with a file per partition, and gives a DataFrame whose partitions are the files.

    A stage that reads a shuffle begins again when an executor is lost, because the shuffle files are lost with it. It
    then repeats even tasks that still run elsewhere. A stage that reads files repeats only the tasks that were lost.
    """
    spark = df.sparkSession
    try:
        df.write.mode("overwrite").parquet(path)
        with _settings(spark):
            yield spark.read.schema(df.schema).parquet(path)
    finally:
        _delete(spark, path)


@contextmanager
def _settings(spark: SparkSession) -> Iterator[None]:
    before = {name: spark.conf.get(name) for name in ONE_FILE_PER_TASK}
    try:
        for name, value in ONE_FILE_PER_TASK.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, earlier in before.items():
            if earlier is not None:
                spark.conf.set(name, earlier)


def _delete(spark: SparkSession, path: str) -> None:
    """Deletes a directory. Spark Connect cannot delete files."""
    if "connect" in type(spark).__module__:
        return
    jvm = spark._jvm
    assert jvm is not None
    folder = jvm.org.apache.hadoop.fs.Path(path)
    folder.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf()).delete(folder, True)
