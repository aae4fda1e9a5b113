#!/bin/bash
# Packs a directory: pack.sh DIRECTORY TARBALL
#
# The same files give the same bytes: times come from SOURCE_DATE_EPOCH, and owners, modes and the order are fixed.
set -euo pipefail
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode='u+rwX,go+rX,go-w' \
  --format=ustar -C "$(dirname "$1")" -cf - "$(basename "$1")" | gzip -9n > "$2"
