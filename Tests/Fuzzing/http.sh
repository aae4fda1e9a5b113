#!/bin/sh
# Downloads RESPONSES responses of structured garbage: http.sh RESPONSES
#
# libcurl and libnghttp2 have the address sanitizer. They are built from the source packages of this system; with
# CURL_SUITE, from those of another Debian, such as trixie. FUZZ_SEED selects other responses. Any report of the
# sanitizer, and any normal response that is harmed, is an error.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
suite=${CURL_SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
work=$root/.build/fuzzing/http
libraries=$work/$suite
toolchain=$(dirname "$(readlink -f "$(command -v swiftc)")")

export CC="$toolchain/clang" CFLAGS='-g -O1 -fsanitize=address -fno-omit-frame-pointer'

build_nghttp2() {
  cd "$work/sources-$suite"/nghttp2-*/
  # The options have other names since version 1.60.
  cmake -S . -B build -DCMAKE_INSTALL_PREFIX="$libraries" -DCMAKE_INSTALL_LIBDIR=lib -DENABLE_LIB_ONLY=ON \
    -DBUILD_TESTING=OFF -DBUILD_STATIC_LIBS=ON -DBUILD_SHARED_LIBS=OFF -DENABLE_STATIC_LIB=ON \
    -DENABLE_SHARED_LIB=OFF >/dev/null
  make -s -j2 -C build install >/dev/null
}

build_curl() {
  cd "$work/sources-$suite"/curl-*/
  # Patches change files that generated ones depend on; make must not generate them again.
  find . -name aclocal.m4 -exec touch {} +
  sleep 1
  find . \( -name configure -o -name Makefile.in -o -name '*config.h.in' \) -exec touch {} +
  ./configure --quiet --prefix="$libraries" --enable-static --disable-shared --with-openssl \
    --with-nghttp2="$libraries" --with-zlib \
    --enable-threaded-resolver --with-ca-bundle=/etc/ssl/certs/ca-certificates.crt --without-ca-path \
    --without-brotli --without-zstd --without-libpsl --without-librtmp --without-libidn2 --disable-ldap --disable-manual
  make -s -j2 -C lib install LIBTOOLFLAGS=--silent
  make -s -C include install
  mkdir -p "$libraries/pkgconfig"
  printf 'Name: libcurl\nDescription: static\nVersion: 1\nLibs: %s\nCflags: %s\n' \
    "-L$libraries/lib -lcurl -lnghttp2 -lssl -lcrypto -lz" "-I$libraries/include" >"$libraries/pkgconfig/libcurl.pc"
}

if ! [ -f "$libraries/pkgconfig/libcurl.pc" ]; then
  "$root/Packaging/source.sh" "$work/sources-$suite" "curl/$suite" "nghttp2/$suite"
  (build_nghttp2)
  (build_curl)
fi
certificate=$work/server.pem
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/server.key" \
  -out "$certificate" -days 2 -subj /CN=localhost 2>/dev/null
export PKG_CONFIG_PATH="$libraries/pkgconfig"
build() {
  swift build -c release --sanitize=address --package-path "$root/Tests/Fuzzing/http" \
    --scratch-path "$work/build-$suite" "$@"
}
build
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 LSAN_OPTIONS="suppressions=$root/Tests/Fuzzing/http/leaks.supp"
SWIFT_BACKTRACE=enable=no python3 -B "$root/Tests/Fuzzing/http/server.py" "${FUZZ_SEED:-1}" "$certificate" \
  "$work/server.key" "$(build --show-bin-path)/fuzz-http" "$1"
