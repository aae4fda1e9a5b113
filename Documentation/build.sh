#!/bin/sh
# Builds the documentation of the libraries with the docc of the toolchain: .build/docs/LIBRARY/index.html
set -eu
cd "$(dirname "$0")/.."
graphs=$PWD/.build/symbol-graphs
rm -rf "$graphs" .build/docs
mkdir -p "$graphs" .build/docs
swift package dump-symbol-graph --minimum-access-level public --skip-synthesized-members >/dev/null

# Copies the symbols of a module into the documentation of a library, which shows what it re-exports as its own.
add() {
  find .build/*/ -path '*symbolgraph*' -name "$1*.symbols.json" | while read -r graph; do
    sed "s/\"module\":{\"name\":\"$1\"/\"module\":{\"name\":\"$2\"/" "$graph" >"$graphs/$2/$(basename "$graph")"
  done
}

for library in Downloads ImageCache BatchFetch; do
  mkdir "$graphs/$library"
  case $library in
  Downloads | ImageCache) modules="$library Basics" ;;
  BatchFetch) modules="$library Downloads Basics" ;;
  esac
  for module in $modules; do add "$module" "$library"; done
  docc convert "Sources/$library/$library.docc" --additional-symbol-graph-dir "$graphs/$library" \
    --fallback-display-name "$library" --fallback-bundle-identifier "thumbs.$library" \
    --output-path ".build/docs/$library" --warnings-as-errors
done
