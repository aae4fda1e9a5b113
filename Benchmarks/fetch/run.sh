#!/bin/sh
# run.sh [plain|tls|h2|hosts|latency|soak|grouped ...]
#
# Compares the downloads with a bare libcurl loop, curl --parallel and aria2c, on loopback nginx, and with the ideal
# times on slow servers.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
swift build -c release --package-path "$here" --product bench-fetch
exec python3 "$here/measure.py" "$(swift build -c release --package-path "$here" --show-bin-path)/bench-fetch" "$@"
