"""Moves images from bucket to bucket on a server that thumbs does not know: moto, in Python.

Usage: buckets.py THUMBS, with boto3, moto and Pillow. The keys of the images have the characters that paths and queries
may confuse. The run is killed several times and goes on; in the end, each image has its thumbnail, written once.
"""

import io
import json
import logging
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import boto3
from moto.server import ThreadedMotoServer
from PIL import Image

COUNT = 600
NAMES = ["a b", "a+b", "a%20b", "q?x=1", "h#f", "é/日本", "x&y=z", "o'k\"", "t~(1)*!", "d//e", "back\\slash", "@at:colon",
         "p;q,r"]


def fill(client):
    """Stores images and other objects. Returns the size of each image by its key."""
    pick, sizes = random.Random(1), {}
    for number in range(COUNT):
        key = f"in/{number % 7}/{NAMES[number % len(NAMES)]}-{number}.png"
        sizes[key] = (pick.randint(20, 90), pick.randint(20, 90))
        body = io.BytesIO()
        Image.new("RGB", sizes[key], (number % 256, number // 256, 99)).save(body, "PNG")
        client.put_object(Bucket="source", Key=key, Body=body.getvalue())
    for key in ["in/readme.txt", "in/_SUCCESS", "in/folder/", "other/x.png"]:
        client.put_object(Bucket="source", Key=key, Body=b"" if key[3:4] != "r" else b"text")
    return sizes


def objects(client, bucket, prefix):
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    return {item["Key"]: item for page in pages for item in page.get("Contents", [])}


def check(condition, text):
    print(("ok: " if condition else "FAILED: ") + text)
    if not condition:
        sys.exit(1)


def main():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    endpoint = "http://127.0.0.1:{}".format(server.get_host_and_port()[1])
    environment = dict(
        os.environ, AWS_ACCESS_KEY_ID="id", AWS_SECRET_ACCESS_KEY="secret", AWS_REGION="us-east-1",
        AWS_DEFAULT_REGION="us-east-1", no_proxy="127.0.0.1")
    os.environ.update(environment)
    client = boto3.client("s3", endpoint_url=endpoint)
    for bucket in ["source", "target.with.dots"]:
        client.create_bucket(Bucket=bucket)
    sizes = fill(client)
    with tempfile.TemporaryDirectory(prefix="thumbs-buckets-") as folder:
        command = [
            str(pathlib.Path(sys.argv[1]).resolve()), "s3://source/in/", "-o", "s3://target.with.dots/t", "-s", "32",
            "--s3-endpoint", endpoint, "--skip-existing", "--report", "s3://target.with.dots/report.jsonl", "--gallery",
            "s3://target.with.dots/index.html", "--format", "png"]
        kills = 0
        while len(objects(client, "target.with.dots", "t/")) < COUNT * 3 // 4 and kills < 8:
            run = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL)
            done = len(objects(client, "target.with.dots", "t/"))
            while run.poll() is None and len(objects(client, "target.with.dots", "t/")) < done + COUNT // 8:
                time.sleep(0.01)
            run.send_signal(signal.SIGKILL)
            run.wait()
            kills += 1
        before = objects(client, "target.with.dots", "t/")
        run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        check(run.returncode == 0, f"the run goes on after {kills} kills: {run.stderr.strip()}")
        after = objects(client, "target.with.dots", "t/")
        check(len(after) == COUNT, f"{len(after)} thumbnails")
        check(all(after[key]["LastModified"] == item["LastModified"] for key, item in before.items()),
              f"{len(before)} thumbnails of the killed runs were not sent again")
        lines = client.get_object(Bucket="target.with.dots", Key="report.jsonl")["Body"].read().decode().splitlines()
        rows = [json.loads(line) for line in lines]
        check(len(rows) == COUNT + 1 and rows[-1]["complete"], "the report is in the bucket")
        for row in rows[:-1]:
            output, key = row["outputs"][0], row["url"].removeprefix("s3://source/")
            thumbnail = client.get_object(Bucket="target.with.dots", Key="t/" + output["path"])
            image = Image.open(io.BytesIO(thumbnail["Body"].read()))
            scale = min(1, 32 / max(sizes[key]))
            expected = [max(1, round(side * scale)) for side in sizes[key]]
            is_near = all(abs(a - b) <= 1 for a, b in zip(image.size, expected))
            if not is_near or thumbnail["ContentType"] != "image/png":
                check(False, f"{key}: {image.size}, expected {expected}")
        check(True, "each thumbnail has the size of its image")
        again = subprocess.run(
            [part for part in command if part != "--skip-existing"], cwd=folder, env=environment, capture_output=True)
        last = objects(client, "target.with.dots", "t/")
        check(again.returncode == 0 and all(last[key]["LastModified"] == after[key]["LastModified"] for key in after),
              "a second run sends no thumbnail again")
    server.stop()


if __name__ == "__main__":
    main()
