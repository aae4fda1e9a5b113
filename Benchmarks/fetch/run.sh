#!/bin/sh
# Measures the downloads beside a bare libcurl loop, curl --parallel and aria2c, on loopback nginx.
#
# Needs these Debian packages, and installs them with apt-get where it may.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
missing=""
for package in nginx aria2 curl; do
  dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
if [ -n "$missing" ]; then
  echo "Installing:$missing"
  apt-get install -y --no-install-recommends $missing >/dev/null
fi
swift build -c release --package-path "$here" --product bench-fetch
exec python3 "$here/measure.py" "$(swift build -c release --package-path "$here" --show-bin-path)/bench-fetch"
