#!/bin/sh
# Compiles CImage with the APIs of libjpeg 6b, 7 and 8. The libjpeg-turbo of Debian has the first, that of Ubuntu the
# last; a number in jconfig.h selects it. Nothing is linked.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
headers=$(mktemp -d)
trap 'rm -rf "$headers"' EXIT
flags=$(pkg-config --cflags libjpeg libpng libdeflate lcms2)

# Copies all headers of libjpeg, because jpeglib.h includes the others from its own directory.
files=$(printf '#include <stdio.h>\n#include <jpeglib.h>\n#include <jerror.h>\n' |
  clang $flags -E -M -x c - | tr ' ' '\n' | grep -E '/(jpeglib|jmorecfg|jconfig|jerror)\.h$')
for api in 62 70 80; do
  cp $files "$headers"
  sed -i "s/\(define *JPEG_LIB_VERSION \).*/\1$api/" "$headers/jconfig.h"
  grep -q "JPEG_LIB_VERSION $api" "$headers/jconfig.h"
  for file in "$root"/Sources/CImage/*.c "$root"/Sources/CImage/*/*.c; do
    clang -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -I "$headers" -I "$root/Sources/CImage/include" $flags "$file"
  done
  echo "libjpeg API $api: compiled"
done
