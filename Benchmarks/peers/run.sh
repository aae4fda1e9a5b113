#!/bin/sh
# thumbs beside curl with vipsthumbnail, img2dataset and a bare codec loop: the whole job over loopback HTTP, then the
# traps of the web, one by one. Installs what it needs: Debian packages, and img2dataset in a virtual environment.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
packages="nginx curl mate-backgrounds oxygen-icon-theme libvips-tools libjpeg-turbo-progs python3-pil python3-venv"
missing=""
for package in $packages; do
  dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
if [ -n "$missing" ]; then
  echo "Installing:$missing"
  apt-get install -y --no-install-recommends $missing >/dev/null
fi

venv=$here/.build/venv
if [ ! -x "$venv/bin/img2dataset" ]; then
  /usr/bin/python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet img2dataset
fi
corpus=$here/.build/corpus
[ -d "$corpus" ] || /usr/bin/python3 "$root/Benchmarks/pixels/corpus.py" "$corpus" "${PHOTOS:-600}" "${ICONS:-2000}"

swift build -c release --package-path "$root" --product thumbs
swift build -c release --package-path "$root/Benchmarks/pixels" --product bench-pixels
THUMBS=$(swift build -c release --package-path "$root" --show-bin-path)/thumbs
BARE=$(swift build -c release --package-path "$root/Benchmarks/pixels" --show-bin-path)/bench-pixels
IMG2DATASET=$venv/bin/img2dataset
export THUMBS BARE IMG2DATASET
part=${1:-all}
[ "$part" = traps ] || /usr/bin/python3 "$here/speed.py" "$corpus"
[ "$part" = speed ] || /usr/bin/python3 "$here/traps.py"
