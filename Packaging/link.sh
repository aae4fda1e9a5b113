#!/bin/sh
# Links the release. swiftc calls it as the linker.
#
# The archives that libraries.sh collected come before those of the toolchain. The tables for unwinding are left out,
# which saves a seventh of the file: no part of the program throws C++ exceptions, and a stripped program has no
# readable backtraces. Debug information differs from build to build, so it is removed before the build ID is computed.
#
# The functions that a usual run calls come first, so that it needs a third less memory for code: those in order.txt,
# which `make order` writes. It sets THUMBS_STRIP to --strip-debug. Names that are no longer in the program do no harm.
here=$(cd "$(dirname "$0")" && pwd)
archives=$here/../.build-static/libraries/lib
exec "$(dirname "$(readlink -f "$(command -v swiftc)")")/ld.lld" -L"$archives" "$@" "$archives/glibc.o" \
  "${THUMBS_STRIP:---strip-all}" --gc-sections -z relro -z now --no-export-dynamic --no-eh-frame-hdr \
  -T "$here/discard.ld" --symbol-ordering-file "$here/order.txt" --no-warn-symbol-ordering
