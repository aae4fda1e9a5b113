#!/bin/sh
# Builds libjpeg-turbo, libpng, LittleCMS and libwebp from Debian's source packages with the address sanitizer, so that
# the fuzzers see faults inside of them. Tests/Fuzzing/run.sh uses the result. Takes a few minutes, once.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$root/.build/fuzzing/libraries
toolchain=$(dirname "$(readlink -f "$(command -v swiftc)")")
[ ! -d "$out" ] || exit 0
work=$root/.build/fuzzing/sources
rm -rf "$work"
"$root/Packaging/source.sh" "$work" libjpeg-turbo libpng1.6 lcms2 libwebp
cd "$work"

export CC="$toolchain/clang" CXX="$toolchain/clang++"
export CFLAGS='-g -O1 -fsanitize=address,fuzzer-no-link -fno-omit-frame-pointer'
prefix=$out.new
# Code in assembly has no checks.
build_with_cmake() {
  cmake -B build -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR="$prefix/lib" -DENABLE_SHARED=0 \
    -DWITH_SIMD=0 -DWITH_TURBOJPEG=0 && cmake --build build -j 2 --target install
}
build_with_configure() {
  { [ -x configure ] || autoreconf -fi; } &&
    ./configure --prefix="$prefix" --disable-shared --disable-dependency-tracking --enable-libwebpmux &&
    make -j 2 install
}
for source in */CMakeLists.txt */configure.ac; do
  folder=${source%/*}
  case $source in
  libjpeg-turbo*/CMakeLists.txt) build=build_with_cmake ;;
  libpng*/configure.ac | lcms2*/configure.ac | libwebp*/configure.ac) build=build_with_configure ;;
  *) continue ;;
  esac
  (cd "$folder" && $build) >"$folder.log" 2>&1 || {
    tail -40 "$folder.log" >&2
    exit 1
  }
done
sed -i "s|$prefix|$out|g" "$prefix"/lib/pkgconfig/*.pc
mv "$prefix" "$out"
