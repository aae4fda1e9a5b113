#!/bin/bash
# Compiles thumbs-decode for release: decoder.sh PROGRAM
#
# It is linked with the libraries of this system, and lacks the formats whose libraries are missing.
set -euo pipefail
cd "$(dirname "$0")/.."
libraries=()
for name in libavif libheif libopenjp2 libjxl libtiff-4 librsvg-2.0 libraw libjpeg zlib libseccomp; do
  if pkg-config --exists "$name"; then libraries+=("$name"); fi
done
# LibRaw declares OpenMP, whose header clang may lack. Nothing here uses it.
mapfile -d ' ' -t flags < <(pkg-config --cflags --libs "${libraries[@]}" | tr -d '\n' | sed 's/-fopenmp //g')
# The function replaces one of a library that libheif loads later.
export=-Wl,--export-dynamic-symbol=de265_start_worker_threads
clang -std=c11 -O2 -D_GNU_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE -pie -Wall -Wextra -Werror \
  -fuse-ld=lld -Wl,-z,relro,-z,now,--as-needed,--strip-all "$export" \
  -ISources/CDecodeChannel/include -ISources/CDecoder/include -o "$1" \
  Sources/CDecodeChannel/*.c Sources/CDecoder/*.c Sources/thumbs-decode/*.c "${flags[@]}" -lm
