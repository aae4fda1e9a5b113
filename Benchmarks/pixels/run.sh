#!/bin/sh
# Compares the speed and quality of the renderer with a bare codec loop, vipsthumbnail and Pillow on real photos and
# icons.
#
# To measure other images, set CORPUS to a folder with photos/*.jpg, the same photos in progressive/*.jpg, srgb/*.jpg,
# p3/*.jpg and 422/*.jpg, and other files in large/*.jpg, png/*.png and icons/*.png.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
corpus=${CORPUS:-$here/.build/corpus}
[ -n "${CORPUS:-}" ] || /usr/bin/python3 -B "$here/corpus.py" "$corpus"
swift build -c release --package-path "$here" --product bench-pixels
binaries=$(swift build -c release --package-path "$here" --show-bin-path)
/usr/bin/python3 "$here/measure.py" "$binaries/bench-pixels" "$corpus"
