#!/bin/sh
# Compares the windows of smart crops with those of vipsthumbnail and with the center, and their times with that of the
# center, on real photos. PHOTOS may be another folder with photos/*.jpg and large/*.jpg.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
photos=${PHOTOS:-$here/.build/corpus}
[ -d "$photos/photos" ] || /usr/bin/python3 -B "$here/photos.py" "$photos"
swift build -c release --package-path "$here" --product bench-crops
binaries=$(swift build -c release --package-path "$here" --show-bin-path)
/usr/bin/python3 -B "$here/measure.py" "$binaries/bench-crops" "$photos" "$@"
