#!/bin/sh
# Compares the samples that our decoders of JPEG files decode with those of libjpeg, for ROUNDS (default 1000) files of
# all kinds and 24 damaged copies of each, with the address and undefined-behavior sanitizers: with the instructions of
# this processor, and with the code for others.
#
#   Tests/Scripts/planes.sh [ROUNDS] [SEED]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$root/.build/planes
mkdir -p "$out"
wrap=-Wl,--wrap=cimage_ordinary_open,--wrap=cimage_ordinary_read
libraries='libjpeg libpng zlib libdeflate lcms2'
for flag in -D_GNU_SOURCE -U__SSE2__; do
  clang $flag -fuse-ld=lld -g -O1 -std=gnu11 -Wall -Wextra -Werror -fsanitize=address,undefined \
    -fno-sanitize-recover=all $wrap -I "$root/Sources/CImage/include" -o "$out/planes" \
    "$root/Tests/Scripts/planes.c" "$root"/Sources/CImage/*.c "$root"/Sources/CImage/*/*.c \
    $(pkg-config --cflags --libs $libraries) -lm
  (cd "$out" && ./planes "${1:-1000}" "${2:-1}")
done
