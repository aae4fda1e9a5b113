#!/usr/bin/env python3
"""Fetches a list of URLs with img2dataset on a Spark cluster: peer.py MASTER LIST OUTPUT ROWS

Prints the seconds that it took, without the start of the application.
"""
import os
import sys
import time

os.environ.update(PYSPARK_PYTHON=sys.executable, NO_ALBUMENTATIONS_UPDATE="1", SPARK_LOCAL_IP="127.0.0.1")
from img2dataset import download  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402


def main():
    master, urls, output, rows = sys.argv[1:5]
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.executor.memory": "700m",
                "spark.executor.cores": "1", "spark.executorEnv.NO_ALBUMENTATIONS_UPDATE": "1"}
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.parallelize(range(2), 2).map(lambda number: number).collect()
    begin = time.monotonic()
    download(
        url_list=urls, output_folder=output, processes_count=2, thread_count=16, image_size=256,
        resize_mode="keep_ratio_largest", resize_only_if_bigger=True, output_format="parquet", encode_format="jpg",
        encode_quality=82, number_sample_per_shard=max(1, -(-int(rows) // 8)), distributor="pyspark",
        subjob_size=1000, timeout=20, retries=2)
    seconds = time.monotonic() - begin
    spark.stop()
    print(f"seconds {seconds}")


if __name__ == "__main__":
    main()
