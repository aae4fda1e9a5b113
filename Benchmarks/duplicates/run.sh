#!/bin/sh
# run.sh THUMBS: measures how well the command recognizes changed copies of real photos, next to the Python package
# ImageHash, and then the time and memory for the duplicates of a million rows. PHOTOS may be another folder with
# photos/*.jpg.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
photos=${PHOTOS:-$here/.build/corpus}
python=$here/.build/venv/bin/python
[ -x "$python" ] || python3 -m venv "$here/.build/venv"
"$python" -m pip install -q numpy pillow ImageHash
[ -d "$photos/photos" ] || "$python" -B "$here/../crops/photos.py" "$photos"
"$python" -B "$here/recognize.py" "$1" "$photos"
"$python" -B "$here/million.py" "$1"
