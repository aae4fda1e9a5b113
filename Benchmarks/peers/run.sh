#!/bin/sh
# run.sh THUMBS [speed|traps]
#
# Compares thumbs with curl and vipsthumbnail, img2dataset, and a bare codec loop: fetching over loopback HTTP, startup
# time, and broken input. img2dataset is installed in a virtual environment.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
venv=$here/.build/venv
if [ ! -x "$venv/bin/img2dataset" ]; then
  /usr/bin/python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet img2dataset
fi
corpus=$here/.build/corpus
[ -d "$corpus" ] || /usr/bin/python3 "$root/Benchmarks/pixels/corpus.py" "$corpus" "${PHOTOS:-600}" "${ICONS:-2000}"

swift build -c release --package-path "$root/Benchmarks/pixels" --product bench-pixels
THUMBS=$1
BARE=$(swift build -c release --package-path "$root/Benchmarks/pixels" --show-bin-path)/bench-pixels
IMG2DATASET=$venv/bin/img2dataset
export THUMBS BARE IMG2DATASET
part=${2:-all}
[ "$part" = traps ] || { /usr/bin/python3 "$here/speed.py" "$corpus"; /usr/bin/python3 "$here/../start.py" "$THUMBS"; }
[ "$part" = speed ] || /usr/bin/python3 "$here/traps.py"
