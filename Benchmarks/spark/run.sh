#!/bin/sh
# run.sh THUMBS ENVIRONMENT
#
# Compares fetching photos on a standalone Spark cluster of two workers with the command alone, and with img2dataset on
# the same cluster. ENVIRONMENT is what Python/tests/environment.sh has installed; img2dataset gets its own.
# ROWS (6000) is the number of URLs, PHOTOS (200) that of different files.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
peer=$here/.build/venv
if [ ! -x "$peer/bin/img2dataset" ]; then
  python3 -m venv "$peer"
  "$peer/bin/pip" install --quiet --disable-pip-version-check img2dataset pyspark==4.3.0
fi
corpus=$here/.build/corpus
[ -d "$corpus" ] || /usr/bin/python3 "$root/Benchmarks/pixels/corpus.py" "$corpus" "${PHOTOS:-200}" 1
THUMBS_BINARY=$1 PEER=$peer/bin/python exec "$2/venv/bin/python" -B "$here/speed.py" "$corpus/photos"
