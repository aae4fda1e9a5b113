#!/bin/sh
# environment.sh DIRECTORY [ray]
#
# Installs the packages of the tests in a virtual environment, which is kept; with `ray`, also Ray. The package itself
# is found where its sources are.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
install() {
  stamp=$1/$2.installed
  shift 2
  [ "$(cat "$stamp" 2>/dev/null)" = "$*" ] && return
  "$directory/venv/bin/pip" install --quiet --disable-pip-version-check "$@"
  echo "$*" > "$stamp"
}
mkdir -p "$1"
directory=$(cd "$1" && pwd)
[ -x "$directory/venv/bin/python" ] || python3 -m venv "$directory/venv"
install "$directory" base 'pyspark[connect]==4.3.0' 'pandas<3' pyarrow polars pytest mypy 'pyright[nodejs]' webdataset \
  tqdm s3fs 'moto[s3,server]==5.1.*' datasets pillow
[ "${2:-}" != ray ] || install "$directory" ray 'ray[data]==2.60.0' 'pandas<3'
packages=$("$directory/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
dirname "$here" > "$packages/thumbs-sources.pth"
