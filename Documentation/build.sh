#!/bin/sh
# Builds the documentation of both libraries with the docc of the toolchain: .build/docs/LIBRARY/index.html
set -eu
cd "$(dirname "$0")/.."
graphs=$PWD/.build/symbol-graphs
rm -rf "$graphs" .build/docs
mkdir -p "$graphs" .build/docs
swift package dump-symbol-graph --minimum-access-level public --skip-synthesized-members >/dev/null
for library in ImageCache BatchFetch; do
  mkdir "$graphs/$library"
  find .build/*/ -path '*symbolgraph*' -name "$library*.symbols.json" -exec cp {} "$graphs/$library" \;
  docc convert "Sources/$library/$library.docc" --additional-symbol-graph-dir "$graphs/$library" \
    --fallback-display-name "$library" --fallback-bundle-identifier "thumbs.$library" \
    --output-path ".build/docs/$library" --warnings-as-errors
done
