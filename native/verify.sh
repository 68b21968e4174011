#!/usr/bin/env bash
# Checks the committed native libraries: their checksums, that they were built from the committed
# manifest, script and lock files, what they export, and that they carry no path of the machine that
# built them.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
platform=$(go env GOOS)_$(go env GOARCH)
prebuilt=$here/prebuilt/$platform
lib=$here/lib/$platform
bad=0
check() { # $1: what is checked, then the command that must succeed
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then echo "ok    $what"; else echo "FAIL  $what"; bad=1; fi
}
[ -d "$prebuilt" ] || { echo "native/verify.sh: nothing is committed for $platform" >&2; exit 1; }
(cd "$here/.." && go run ./native/unpack)

compressed() { (cd "$prebuilt" && grep 'zst$' SHA256SUMS | sha256sum -c -); }
unpacked() { (cd "$lib" && grep -v 'zst$' "$prebuilt/SHA256SUMS" | sha256sum -c -); }
same_inputs() { grep -q "$("$here/inputs.sh")" "$prebuilt/BUILT.md"; }
exports() { nm -D --defined-only "$lib/liblancedb_go.so" | grep " T simple_lancedb_$1\$"; }
tokenizer() { nm "$lib/libtokenizers.a" 2>/dev/null | grep " T tokenizers_encode\$"; }
no_paths() { ! strings -n 6 "$lib/$1" | grep -E '(^|[^A-Za-z0-9_./-])/(root|home|Users|tmp|work)/'; }
no_debug() { ! readelf -S "$lib/liblancedb_go.so" | grep -q '\.debug_info'; }

check "compressed files have the committed checksums" compressed
check "unpacked files have the committed checksums" unpacked
check "built from this manifest, script and lock files" same_inputs
for symbol in connect open_table create_table_with_ipc table_add_ipc table_select_query table_delete table_create_index; do
  check "liblancedb_go exports simple_lancedb_$symbol" exports "$symbol"
done
check "libtokenizers exports tokenizers_encode" tokenizer
check "liblancedb_go has no debug information" no_debug
check "liblancedb_go names no folder of the machine that built it" no_paths liblancedb_go.so
check "libtokenizers names no folder of the machine that built it" no_paths libtokenizers.a
exit $bad
