#!/bin/sh
# Compiles CImage for 64-bit ARM with the libraries of Debian, and compares what it does with all fixtures under QEMU
# with what it does on this processor, and our decoder of baseline JPEG files with libjpeg.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$root/.build/arm64
mkdir -p "$out/lists/partial" "$out/packages/partial"

# Packages of another architecture, without adding it to the system.
if [ ! -e "$out/root" ]; then
  (cd "$out/packages"
    apt="apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::Lists=$out/lists"
    $apt -o Dir::Etc::SourceParts=/etc/apt/sources.list.d update
    $apt download libc6 libc6-dev linux-libc-dev libgcc-12-dev libgcc-s1 zlib1g libjpeg62-turbo libjpeg62-turbo-dev \
      libpng16-16 libpng-dev libdeflate0 libdeflate-dev liblcms2-2 liblcms2-dev libwebp7 libwebpmux3 libwebp-dev 2>&1 |
      grep -v unsandboxed || true
    for package in *.deb; do dpkg-deb -x "$package" "$out/unpacked"; done)
  mv "$out/unpacked" "$out/root"
fi

flags="-std=gnu11 -O2 -Wall -Wextra -Werror -DCIMAGE_WEBP -I $root/Sources/CImage/include -I $root/Tests/Fuzzing"
sources="$root/Sources/CImage/*.c $root/Sources/CImage/*/*.c"
libraries='-ljpeg -lpng16 -ldeflate -llcms2 -lwebpmux -lwebp -lm'
compile_for_arm() {
  clang --target=aarch64-linux-gnu --sysroot="$out/root" -fuse-ld=lld $flags -isystem "$out/root/usr/include/libpng16" \
    -L "$out/root/usr/lib/gcc/aarch64-linux-gnu/12" -B "$out/root/usr/lib/gcc/aarch64-linux-gnu/12" "$@" \
    $sources $libraries
}
compile_for_arm -o "$out/pixels" "$root/Tests/Scripts/pixels.c"
wrap=-Wl,--wrap=cimage_ordinary_open,--wrap=cimage_ordinary_read
compile_for_arm $wrap -o "$out/planes" "$root/Tests/Scripts/planes.c"
clang -fuse-ld=lld $flags $(pkg-config --cflags libpng) -o "$out/pixels-here" "$root/Tests/Scripts/pixels.c" $sources \
  $libraries

files="$root/Tests/Fixtures/pictures/*.jpg $root/Tests/Fixtures/pictures/*.png"
"$out/pixels-here" $files >"$out/here.txt"
qemu-aarch64 -L "$out/root" "$out/pixels" $files >"$out/arm64.txt"
diff "$out/here.txt" "$out/arm64.txt"
echo "arm64: $(wc -l <"$out/arm64.txt") results are the same"
(cd "$out" && qemu-aarch64 -L root ./planes 300)
