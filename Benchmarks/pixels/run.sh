#!/bin/sh
# Measures the pixel floor against a bare codec loop, vipsthumbnail and Pillow, on real photos and icons.
#
# Other pictures: set CORPUS to a folder that has photos/*.jpg, the same as progressive/*.jpg, srgb/*.jpg, p3/*.jpg and
# 422/*.jpg, and large/*.jpg and icons/*.png.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
corpus=${CORPUS:-$here/.build/corpus}
[ -n "${CORPUS:-}" ] || /usr/bin/python3 -B "$here/corpus.py" "$corpus"
swift build -c release --package-path "$here" --product bench-pixels
/usr/bin/python3 "$here/measure.py" "$(swift build -c release --package-path "$here" --show-bin-path)/bench-pixels" "$corpus"
