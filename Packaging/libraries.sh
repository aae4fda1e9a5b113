#!/bin/bash
# Collects static libraries for the release: libraries.sh DIRECTORY
#
# DIRECTORY gets lib/*.a and pkgconfig/*.pc. The paths in the .pc files come before all others on the linker's command
# line, so it never sees a shared library with the same name. curl and LittleCMS are built from the distribution's
# source packages: its own archive of curl needs 20 more libraries, and it has no archive of LittleCMS.
set -euo pipefail
directory=$(mkdir -p "$1" && cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
sources=$directory/sources
mkdir -p "$directory"/{lib,pkgconfig}

# The release has the libcurl of Debian 13: that of Debian 12 has faults that responses can reach (`thumbs doctor` names
# them). Ubuntu has no suite with that name.
suite=
if grep -q '^ID=debian' /etc/os-release; then suite=/trixie; fi

fetch_sources() {
  rm -rf "$sources"
  "$here/source.sh" "$sources" lcms2 "curl$suite"
  # Patches change files that generated ones depend on; make must not generate them again.
  find "$sources" -name aclocal.m4 -exec touch {} +
  sleep 1
  find "$sources" \( -name configure -o -name Makefile.in -o -name '*config.h.in' \) -exec touch {} +
}

# Every function has a separate section, so the linker can remove those that nothing calls.
export CFLAGS="-O2 -fPIC -ffunction-sections -fdata-sections -fstack-protector-strong -D_FORTIFY_SOURCE=2 \
  -ffile-prefix-map=$sources=/usr/src"

build_curl() {
  cd "$sources"/curl-*/
  ./configure --quiet --prefix=/usr --enable-static --disable-shared --with-openssl --with-nghttp2 --with-libidn2 \
    --with-zlib --enable-threaded-resolver --with-ca-bundle=/etc/ssl/certs/ca-certificates.crt --without-ca-path \
    --without-brotli --without-zstd --without-libpsl --without-librtmp --disable-ldap --disable-ldaps --disable-ftp \
    --disable-file --disable-rtsp --disable-dict --disable-telnet --disable-tftp --disable-pop3 --disable-imap \
    --disable-smb --disable-smtp --disable-mqtt --disable-ntlm --disable-tls-srp --disable-doh \
    --disable-manual --disable-libcurl-option --disable-alt-svc --disable-hsts --disable-unix-sockets \
    --disable-websockets --disable-ipfs --disable-docs --disable-cookies --disable-form-api --disable-mime \
    --disable-headers-api --disable-progress-meter --disable-digest-auth --disable-bearer-auth \
    --disable-kerberos-auth --disable-negotiate-auth --disable-sha512-256
  make -s -j"$(nproc)" -C lib LIBTOOLFLAGS=--silent
  # Host names are UTF-8 here, whatever the locale: some systems have no UTF-8 locale.
  objcopy --redefine-sym idn2_lookup_ul=idn2_lookup_u8 lib/.libs/libcurl.a "$directory/lib/libcurl.a"
  mkdir -p "$directory/include"
  cp -r include/curl "$directory/include/"
}

build_lcms() {
  cd "$sources"/lcms2-*/
  ./configure --quiet --enable-static --disable-shared --without-jpeg --without-tiff --without-zlib
  make -s -j"$(nproc)" -C src LIBTOOLFLAGS=--silent
  cp src/.libs/liblcms2.a "$directory/lib/"
}

# Writes a file for pkg-config: describe NAME LIBRARIES [FLAGS]
describe() {
  printf 'Name: %s\nDescription: static\nVersion: 1\nLibs: -L%s/lib %s\nCflags: %s\n' "$1" "$directory" "$2" \
    "${3-}" > "$directory/pkgconfig/$1.pc"
}

# Prints what the libraries are built from.
inputs() { cat "$here"/{libraries,source}.sh "$here"/patches/*; }

if ! inputs | cmp -s "$directory/built"; then
  fetch_sources
  (build_curl)
  (build_lcms)
  inputs >"$directory/built"
fi
for library in nghttp2 idn2 unistring ssl crypto z jpeg png16 webp webpmux deflate sqlite3 seccomp; do
  ln -sf "$(gcc -print-file-name=lib$library.a)" "$directory/lib/"
done
ln -sf libpng16.a "$directory/lib/libpng.a"
ln -sf "$(gcc -print-file-name=libstdc++.a)" "$directory/lib/"
describe libcurl "-lcurl -lnghttp2 -lidn2 -lunistring -lssl -lcrypto -lz" "-I$directory/include"
describe libcrypto -lcrypto
describe libjpeg -ljpeg
describe libpng "-lpng16 -lz" "$(pkg-config --cflags libpng)"
describe libwebp -lwebp
describe libwebpmux "-lwebpmux -lwebp"
describe libdeflate -ldeflate
describe zlib -lz
describe lcms2 -llcms2
describe libxxhash ""
describe sqlite3 -lsqlite3
describe libseccomp -lseccomp

# Symbols of glibc that are newer than 2.34.
gcc -O2 -fPIC -fvisibility=hidden -c "$here/glibc.c" -o "$directory/lib/glibc.o"
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v swiftc)")")")
python3 -B "$here/unicode.py" "$toolchain/lib/swift_static/linux/lib_FoundationICU.a" "$directory/lib"
