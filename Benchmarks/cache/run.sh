#!/bin/sh
# Compares both tiers of the cache with their peers, each in a separate process.
#
# Needs about 3 GB in a directory on a real disk: $BENCH_DIR, or .build here by default. $SCALE is the number of entries
# of the large cache, 1,000,000 by default.
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
