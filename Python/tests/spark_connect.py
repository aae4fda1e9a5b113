#!/usr/bin/env python3
"""Fetches through Spark Connect: spark_connect.py PATH URL...

A process has one kind of session, so this is a program. It prints the outcomes and the counters as JSON.
"""
import json
import os
import sys

os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1", PYTHONWARNINGS="ignore")
from pyspark.sql import SparkSession  # noqa: E402

import thumbs.spark  # noqa: E402


def main():
    spark = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    path, urls = sys.argv[1], sys.argv[2:]
    df = spark.createDataFrame([(url,) for url in urls], "link string")
    fetched = thumbs.spark.fetch(df, "link", path=path, sizes=32, partitions=2, rows_per_salt=1, no_cache=True)
    codes = sorted([row.link, row.code] for row in fetched.select("link", "code").collect())
    try:
        thumbs.spark.accumulator(spark)
        message = None
    except TypeError as error:
        message = str(error)
    try:
        thumbs.spark.fetch(df, "link", path=path, sizes=32)
        error = None
    except Exception as raised:
        error = type(raised).__name__
    counters = thumbs.spark.counters(spark.read.parquet(path))
    print(json.dumps({"codes": codes, "rows": counters.rows, "ok": counters.ok, "message": message, "error": error}))


main()
