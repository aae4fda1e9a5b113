#!/bin/bash
# Builds the Debian packages of the release: deb.sh VERSION DIRECTORY
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$root/.build-static/deb
rm -rf "$work"
mkdir -p "$work/thumbs"
cp -r "$root/Packaging/debian" "$work/thumbs/"
cat > "$work/thumbs/debian/changelog" <<EOF
thumbs ($1) unstable; urgency=medium

  * See /usr/share/doc/thumbs/changelog.gz.

 -- thumbs maintainers <maintainers@thumbs.invalid>  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
EOF
cd "$work/thumbs"
THUMBS_ROOT=$root dpkg-buildpackage -b -us -uc >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
for package in thumbs thumbs-decoders thumbs-decode-pdf; do cp "$work/${package}_$1_amd64.deb" "$2/"; done
