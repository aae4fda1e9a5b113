#!/bin/sh
# Measures the pixel floor against a bare codec loop, vipsthumbnail and Pillow, on real photos and icons.
#
# Needs these Debian packages, and installs them with apt-get where it may. Other pictures: set CORPUS to a folder that
# has photos/*.jpg, progressive/*.jpg and icons/*.png.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
packages="mate-backgrounds oxygen-icon-theme libvips-tools libjpeg-turbo-progs python3-pil"
missing=""
for package in $packages; do
  dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
if [ -n "$missing" ]; then
  echo "Installing:$missing"
  apt-get install -y --no-install-recommends $missing >/dev/null
fi

corpus=${CORPUS:-$here/.build/corpus}
[ -n "${CORPUS:-}" ] || /usr/bin/python3 "$here/corpus.py" "$corpus"
swift build -c release --package-path "$here" --product bench-pixels
/usr/bin/python3 "$here/measure.py" "$(swift build -c release --package-path "$here" --show-bin-path)/bench-pixels" "$corpus"
