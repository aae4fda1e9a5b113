#!/bin/bash
# Compiles thumbs-decode and thumbs-decode-pdf for release: decoder.sh DIRECTORY
#
# It is linked with the libraries of this system, and lacks the formats whose libraries are missing.
set -euo pipefail
cd "$(dirname "$0")/.."
# compile PROGRAM LIBRARY...
compile() {
  local program=$1 name libraries=() flags
  shift
  for name in "$@" libseccomp; do
    if pkg-config --exists "$name"; then libraries+=("$name"); fi
  done
  # LibRaw declares OpenMP, whose header clang may lack. Nothing here uses it.
  mapfile -d ' ' -t flags < <(pkg-config --cflags --libs "${libraries[@]}" | tr -d '\n' | sed 's/-fopenmp //g')
  # The function replaces one of a library that libheif loads later.
  local export=-Wl,--export-dynamic-symbol=de265_start_worker_threads
  clang -std=c11 -O2 -D_GNU_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE -pie -Wall -Wextra -Werror \
    -fuse-ld=lld -Wl,-z,relro,-z,now,--as-needed,--strip-all "$export" \
    -ISources/CDecodeChannel/include -ISources/CDecoder/include -o "$directory/$program" \
    Sources/CDecodeChannel/*.c Sources/CDecoder/*.c "Sources/$program"/*.c "${flags[@]}" -lm
}

directory=$1
compile thumbs-decode libavif libheif libopenjp2 libjxl libtiff-4 librsvg-2.0 libraw libjpeg zlib
# A program by itself, because poppler has the GNU General Public License.
compile thumbs-decode-pdf poppler-glib
