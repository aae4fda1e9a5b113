#!/bin/sh
# run.sh THUMBS [speed|traps]
#
# Compares thumbs with curl and vipsthumbnail, img2dataset, and a bare codec loop: fetching over loopback HTTP, startup
# time, and broken input. img2dataset is installed in a virtual environment. The speeds are drawn to
# Benchmarks/peers/.build/speed.svg; the one in Documentation is of the run that the README shows.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
venv=$here/.build/venv
if [ ! -x "$venv/bin/img2dataset" ]; then
  /usr/bin/python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet img2dataset
fi
part=${2:-all}
THUMBS=$1
IMG2DATASET=$venv/bin/img2dataset
export THUMBS IMG2DATASET
if [ "$part" != traps ]; then
  corpus=$here/.build/corpus
  [ -d "$corpus" ] || /usr/bin/python3 "$root/Benchmarks/pixels/corpus.py" "$corpus" "${PHOTOS:-600}" "${ICONS:-2000}"
  swift build -c release --package-path "$root/Benchmarks/pixels" --product bench-pixels
  BARE=$(swift build -c release --package-path "$root/Benchmarks/pixels" --show-bin-path)/bench-pixels
  export BARE
  /usr/bin/python3 "$here/speed.py" "$corpus" "$here/.build/speed.svg"
  /usr/bin/python3 "$here/../start.py" "$THUMBS"
fi
[ "$part" = speed ] || /usr/bin/python3 "$here/traps.py"
