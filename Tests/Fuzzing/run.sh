#!/bin/sh
# Fuzzes the parsers of untrusted bytes, each for SECONDS (default 60), with the address and undefined-behavior
# sanitizers.
#
#   Tests/Fuzzing/run.sh [SECONDS] [TARGET...]
#
# The targets are jpeg, png, webp, resize, icc, header, file, render, record, remote, url, list and page.
#
# Seven more targets are not among the default ones: session and decoder, the ends of the messages of thumbs-decode, and
# psd, avif, jpeg2000, raw and pdf, decoders of its formats. The last four need their libraries, and libavif-bin,
# libopenjp2-tools, qpdf, librsvg2-bin, python3-pil and python3-numpy for their seeds.
#
# Uses the Swift toolchain's clang and libFuzzer, with the fixtures as seeds. A crash leaves its input next to the
# binary in .build/fuzzing, and the script exits with an error. CI sets a fixed seed, so that failures are reproducible.
set -eu
seconds=${1:-60}
[ $# -gt 0 ] && shift
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$root/.build/fuzzing
toolchain=$(dirname "$(readlink -f "$(command -v swiftc)")")
mkdir -p "$out"
fixtures=$root/Tests/Fixtures/pictures
libraries='libjpeg libpng zlib libwebpmux libwebp libdeflate lcms2'
# The libraries that Tests/Fuzzing/libraries.sh has built, if it has.
PKG_CONFIG_PATH=$out/libraries/lib/pkgconfig
export PKG_CONFIG_PATH

# Compiles CImage once, for all targets in Swift. They need the whole imaging layer, because the table of the codecs
# leads from the headers to the decoders.
compile_codecs() {
  [ -z "${compiled:-}" ] || return 0
  compiled=yes
  headers=$root/Sources/CImage/include
  mkdir -p "$out/CImage"
  echo "module CImage { umbrella header \"$headers/CImage.h\" export * }" >"$out/CImage/module.modulemap"
  # The imaging layer calls these, too, but no fuzzer starts another process.
  channel=$root/Sources/CDecodeChannel
  echo "module CDecodeChannel { header \"$channel/include/CDecodeChannel.h\" export * }" \
    >>"$out/CImage/module.modulemap"
  for file in "$root"/Sources/CImage/*.c "$root"/Sources/CImage/*/*.c "$channel"/*.c; do
    name=$(echo "${file#"$root/Sources/"}" | tr / -)
    "$toolchain/clang" -c -g -O1 -std=gnu11 -D_GNU_SOURCE -fsanitize=fuzzer-no-link,address -I "$headers" \
      -I "$channel/include" \
      -DCIMAGE_WEBP $(pkg-config --cflags $libraries) -o "$out/CImage/$name.o" "$file"
  done
}

# Compiles the package of HTTP types, which the records of the cache use, with the coverage that the fuzzer needs.
compile_types() {
  swift package --package-path "$root" resolve >/dev/null
  mkdir -p "$out/HTTPTypes"
  "$toolchain/swiftc" -O -parse-as-library -module-name HTTPTypes -swift-version 5 -sanitize=fuzzer,address \
    -suppress-warnings -wmo -emit-module -emit-module-path "$out/HTTPTypes/HTTPTypes.swiftmodule" -c \
    -o "$out/HTTPTypes/HTTPTypes.o" \
    "$root"/.build/checkouts/swift-http-types/Sources/HTTPTypes/*.swift
}

# Compiles a part of the libraries with the options of all of them.
compile_layer() {
  "$toolchain/swiftc" -package-name thumbs \
    -parse-as-library -O -swift-version 6 -enable-upcoming-feature InternalImportsByDefault \
    -sanitize=fuzzer,address -I "$out/CImage" -I "$out/HTTPTypes" -I "$root/Sources/System/CDeflate" \
    -I "$root/Sources/System/CXXHash" -I "$root/Sources/System/CCrypto" "$@"
}

build() {
  case $1 in
  record)
    compile_codecs
    compile_types
    layer=$root/Sources/ImageCache
    "$toolchain/swiftc" -use-ld=lld -sanitize=fuzzer,address -package-name thumbs \
      -parse-as-library -O -module-name Fuzzed \
      -swift-version 6 -D WebP -enable-upcoming-feature InternalImportsByDefault -I "$out/CImage" -I "$out/HTTPTypes" \
      -I "$root/Sources/System/CDeflate" -I "$root/Sources/System/CXXHash" -I "$root/Sources/System/CCrypto" \
      -o "$out/$1" "$root/Tests/Fuzzing/$1.swift" "$root"/Sources/Basics/*.swift "$layer"/Imaging/*.swift \
      "$layer"/Imaging/*/*.swift \
      "$layer"/Caching/Records/*.swift "$layer"/Caching/HTTP/*.swift "$layer"/Caching/SourceKey.swift \
      "$layer"/Caching/CacheEntry.swift \
      "$out"/CImage/*.o "$out/HTTPTypes/HTTPTypes.o" $(pkg-config --libs $libraries) -lcrypto -lm
    ;;
  remote)
    # Two modules, because the decision is in the layer above the records.
    compile_codecs
    compile_types
    layer=$root/Sources/ImageCache
    downloads=$root/Sources/Downloads
    upper=$root/Sources/BatchFetch
    mkdir -p "$out/ImageCache"
    compile_layer -module-name ImageCache -enable-testing -D WebP -wmo -c -o "$out/ImageCache/ImageCache.o" \
      -emit-module -emit-module-path "$out/ImageCache/ImageCache.swiftmodule" \
      "$root"/Sources/Basics/*.swift "$layer"/Imaging/*.swift "$layer"/Imaging/*/*.swift \
      "$layer"/Caching/Records/*.swift "$layer"/Caching/HTTP/*.swift "$layer"/Caching/SourceKey.swift \
      "$layer"/Caching/CacheEntry.swift
    compile_layer -use-ld=lld -module-name Fuzzed -I "$out/ImageCache" -o "$out/$1" "$root/Tests/Fuzzing/$1.swift" \
      "$upper"/Remote/RemoteObject.swift "$upper"/Pipeline/Decisions.swift "$upper"/Requests/ThumbnailSet.swift \
      "$upper"/Requests/FailureCode+Thumbnails.swift \
      "$downloads"/Requests/FailureCode.swift "$downloads"/Requests/FetchFailure.swift \
      "$downloads"/Requests/Redaction.swift \
      "$downloads"/Transport/TransferHead.swift "$out"/ImageCache/ImageCache.o \
      "$out"/CImage/*.o "$out/HTTPTypes/HTTPTypes.o" $(pkg-config --libs $libraries) -lcrypto -lm
    ;;
  url)
    compile_types
    downloads=$root/Sources/Downloads
    compile_layer -use-ld=lld -module-name Fuzzed -I "$root/Sources/System/CCurl" -o "$out/$1" \
      "$root/Tests/Fuzzing/$1.swift" "$downloads"/Buckets/BucketURL.swift \
      "$downloads"/Requests/CanonicalURL.swift "$downloads"/Requests/DataURL.swift \
      "$downloads"/Requests/ParsedURL.swift "$downloads"/Requests/SourceURL.swift \
      "$downloads"/Requests/FailureCode.swift "$downloads"/Requests/FetchFailure.swift \
      "$downloads"/Requests/Redaction.swift \
      "$downloads"/Hosts/HostPattern.swift "$downloads"/Transport/AddressPolicy.swift \
      "$downloads"/Transport/IPAddress.swift "$downloads"/Transport/TransferHead.swift \
      "$downloads"/Transport/TransferLimits.swift "$root"/Sources/Basics/*.swift \
      "$out/HTTPTypes/HTTPTypes.o" -lcurl -lcrypto
    ;;
  list)
    manifest=$root/Sources/thumbs/Manifest
    "$toolchain/swiftc" -use-ld=lld -sanitize=fuzzer,address -parse-as-library -O -module-name Fuzzed -swift-version 6 \
      -I "$root/Sources/System/CZlib" -o "$out/$1" "$root/Tests/Fuzzing/$1.swift" "$manifest"/ByteSource.swift \
      "$manifest"/GzipFilter.swift "$manifest"/TextEncoding.swift "$manifest"/LineReader.swift \
      "$manifest"/JSONRowFinder.swift "$manifest"/ParseError.swift -lz
    ;;
  page)
    "$toolchain/swiftc" -use-ld=lld -sanitize=fuzzer,address -parse-as-library -O -module-name Fuzzed -swift-version 6 \
      -o "$out/$1" "$root/Tests/Fuzzing/$1.swift" "$root/Sources/thumbs/Pages/MarkupTokenizer.swift"
    ;;
  header | file | render | decoder)
    compile_codecs
    # The program that the decoder is, for the target of that name.
    "$toolchain/clang" -O1 -std=gnu11 -D_GNU_SOURCE -I "$channel/include" -o "$out/replies" \
      "$root/Tests/Fuzzing/replies.c" "$channel"/channel.c
    "$toolchain/swiftc" -use-ld=lld -sanitize=fuzzer,address -package-name thumbs \
      -parse-as-library -O -module-name Fuzzed \
      -swift-version 6 -D WebP -enable-upcoming-feature InternalImportsByDefault -I "$out/CImage" \
      -I "$root/Sources/System/CDeflate" -I "$root/Sources/System/CXXHash" -o "$out/$1" "$root/Tests/Fuzzing/$1.swift" \
      "$root"/Sources/ImageCache/Imaging/*.swift "$root"/Sources/ImageCache/Imaging/*/*.swift "$out"/CImage/*.o \
      $(pkg-config --libs $libraries) -lm
    ;;
  session)
    "$toolchain/clang" -Wl,--wrap=mmap -fuse-ld=lld -g -O1 -std=gnu11 -D_GNU_SOURCE \
      -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -I "$root/Sources/CDecodeChannel/include" \
      -I "$root/Sources/CDecoder/include" -o "$out/$1" "$root/Tests/Fuzzing/$1.c" \
      "$root/Sources/CDecoder/session.c" "$root/Sources/CDecoder/helpers.c" "$root"/Sources/CDecodeChannel/*.c
    ;;
  psd | avif | jpeg2000 | raw | pdf)
    case $1 in
    avif) sources=$root/Sources/thumbs-decode/avif.c decoding=libavif ;;
    pdf) sources=$root/Sources/thumbs-decode-pdf/pdf.c decoding=poppler-glib ;;
    jpeg2000) sources=$(ls "$root"/Sources/thumbs-decode/jpeg2000*.c) decoding=libopenjp2 ;;
    raw) sources=$root/Sources/thumbs-decode/raw.c decoding=libraw ;;
    psd) sources=$(ls "$root"/Sources/thumbs-decode/psd*.c) decoding=zlib ;;
    esac
    # LibRaw declares OpenMP, whose header clang may lack.
    "$toolchain/clang" -fuse-ld=lld -g -O1 -std=gnu11 -D_GNU_SOURCE -DFORMAT="decode_$1" \
      -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -I "$root/Sources/CDecodeChannel/include" \
      -I "$root/Sources/CDecoder/include" -o "$out/$1" "$root/Tests/Fuzzing/format.c" $sources \
      "$root/Sources/CDecoder/helpers.c" $(pkg-config --cflags --libs "$decoding" libjpeg | sed 's/-fopenmp//g') -lm
    ;;
  *)
    # The linker leads calls of these functions to the fuzzer, which can switch the code behind them off.
    case $1 in
    jpeg) wrap=-Wl,--wrap=cimage_ordinary_open ;;
    png) wrap=-Wl,--wrap=cimage_plain_open ;;
    resize) wrap=-Wl,--wrap=cimage_has_avx2 ;;
    *) wrap= ;;
    esac
    "$toolchain/clang" $wrap -fuse-ld=lld -g -O1 -std=gnu11 \
      -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
      -I "$root/Sources/CImage/include" -o "$out/$1" "$root/Tests/Fuzzing/$1.c" "$root"/Sources/CImage/*.c \
      "$root"/Sources/CImage/*/*.c \
      -DCIMAGE_WEBP $(pkg-config --cflags --libs $libraries) -lm
    ;;
  esac
}

# Copies the small fixtures with a prefix, because large fixtures have the same names.
tiny() {
  for file in "$fixtures/../tiny"/*."$1"; do
    cp "$file" "$2/tiny-$(basename "$file")"
  done
}

seeds() {
  mkdir -p "$out/$1-corpus"
  case $1 in
  jpeg)
    cp "$fixtures"/*.jpg "$out/$1-corpus"
    rm "$out/$1-corpus"/large-*
    tiny jpg "$out/$1-corpus"
    ;;
  png)
    cp "$fixtures"/*.png "$out/$1-corpus"
    tiny png "$out/$1-corpus"
    ;;
  webp)
    cp "$fixtures"/../webp/*.webp "$out/$1-corpus"
    ;;
  file)
    for kind in gif bmp ico cur; do cp "$fixtures/../exact"/*.$kind "$out/$1-corpus"; done
    cp "$fixtures"/../webp/*.webp "$out/$1-corpus"
    ;;
  record | remote)
    /usr/bin/python3 "$root/Tests/Fuzzing/records.py" "$out/$1-corpus"
    ;;
  render)
    cp "$fixtures"/rgb*.jpg "$fixtures"/*progressive.jpg "$fixtures"/*profile* "$fixtures"/rgba*.png "$out/$1-corpus"
    cp "$fixtures/../exact"/*s.ico "$fixtures/../exact"/rle*.bmp "$fixtures/../exact"/inter*.gif "$out/$1-corpus"
    cp "$fixtures"/../webp/alpha*.webp "$fixtures"/../webp/orientation-6.webp "$out/$1-corpus"
    rm "$out/$1-corpus"/large-*
    ;;
  list)
    printf '1url,name\r\nhttp://a.example/,b\r\n' >"$out/$1-corpus/crlf"
    printf '1url\rhttp://a.example/1\rhttp://a.example/2' >"$out/$1-corpus/cr"
    printf '1\377\376h\0t\0t\0p\0\n\0=\330\012\336' >"$out/$1-corpus/utf16"
    printf '1caf\351\ncaf\303\251\n' >"$out/$1-corpus/windows1252"
    printf '1{"total": 2, "b": "\\"]", "items": {"a": [{"url": "http://a.example"}]}}' >"$out/$1-corpus/json"
    ;;
  page)
    printf '<!doctype html><title>a&amp;b</title><img src="a?x&copy=1" alt=b/>' >"$out/$1-corpus/page"
    printf '<script><!-- <script>a</script> --></script><!--a--!><![CDATA[b]]>' >"$out/$1-corpus/script"
    printf '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a b='"'c'"'/>&#x26;' >"$out/$1-corpus/xml"
    ;;
  decoder)
    /usr/bin/python3 "$root/Tests/Fuzzing/replies.py" "$out/$1-corpus"
    ;;
  psd | avif | jpeg2000 | raw | pdf)
    /usr/bin/python3 -B "$root/Tests/Fuzzing/$1.py" "$out/$1-corpus"
    ;;
  header | icc)
    cp "$fixtures"/orientation-6.jpg "$fixtures"/adobe-rgb*.jpg "$fixtures"/*profile* "$fixtures"/exif*.png \
      "$fixtures"/../webp/animated*.webp "$fixtures"/../webp/exif*.webp "$out/$1-corpus"
    [ "$1" = icc ] || cp "$fixtures/../exact"/*palette*.gif "$fixtures/../exact"/fields-*.bmp \
      "$fixtures/../exact"/*s.ico "$out/$1-corpus"
    ;;
  esac
  # Extract the profiles from the fixtures' APP2 segments.
  [ "$1" != icc ] || /usr/bin/python3 - "$fixtures" "$out/$1-corpus" <<'PROFILES'
import pathlib, sys
for path in pathlib.Path(sys.argv[1]).glob("*.jpg"):
    data = path.read_bytes()
    at = data.find(b"ICC_PROFILE\0\1\1")
    if at >= 0:
        end = at - 2 + int.from_bytes(data[at - 2:at], "big")
        pathlib.Path(sys.argv[2], path.stem + ".icc").write_bytes(data[at + 14:end])
PROFILES
}

for target in ${*:-jpeg png webp resize icc header file render record remote url list page}; do
  build "$target"
  seeds "$target"
  echo "== $target, $seconds s"
  words=$root/Tests/Fuzzing/$target.dict
  [ -e "$words" ] || words=
  # fontconfig keeps what poppler lets go of.
  leaks=1
  [ "$target" != pdf ] || leaks=0
  # Ten seconds for one input count as a hang, and a gigabyte as a leak. Swift's backtrace would bury the message and
  # the input.
  (cd "$out" && ASAN_OPTIONS=detect_leaks=$leaks SWIFT_BACKTRACE=enable=no \
    "./$target" ${words:+"-dict=$words"} ${CI:+-seed=1} -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=1024 -max_len=65536 -print_final_stats=1 "$target-corpus" >"$target.log" 2>&1) ||
    { tail -40 "$out/$target.log"; exit 1; }
  grep -E "number_of_executed_units|Done" "$out/$target.log"
done
