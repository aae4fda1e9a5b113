#!/bin/sh
# Measures both levels of the cache beside their peers, each part in a process of its own.
#
# Needs some 3 GB in a directory on a real disk: .build here, or $BENCH_DIR. SCALE is the number of entries of the
# large cache, a million by default.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
swift build -c release --package-path "$here" --product bench-cache
bench=$(swift build -c release --package-path "$here" --show-bin-path)/bench-cache
scratch=$(mktemp -d "${BENCH_DIR:-$here/.build}/scratch-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

"$bench" memory
"$bench" ratio
"$bench" disk "$scratch/disk"
"$bench" fill "$scratch/large" "${SCALE:-1000000}"
"$bench" large "$scratch/large" "${SCALE:-1000000}"
