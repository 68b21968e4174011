#!/usr/bin/env bash
# Compresses what build.sh built into native/prebuilt/<os>_<arch>/, with checksums and a note. For a
# maintainer, after `make native`; needs zstd.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
platform=$(go env GOOS)_$(go env GOARCH)
lib=$here/lib/$platform
out=$here/prebuilt/$platform
command -v zstd >/dev/null || { echo "native/pack.sh: zstd is needed" >&2; exit 1; }
mkdir -p "$out"
for file in "$lib"/lib*; do
  packed=$out/$(basename "$file").zst
  [ "$packed" -nt "$file" ] || zstd -q -19 -T0 -f "$file" -o "$packed"
done
(cd "$lib" && sha256sum lib*) >"$out/SHA256SUMS"
(cd "$out" && sha256sum ./*.zst | sed 's|\./||') >>"$out/SHA256SUMS"
{
  echo "# How these libraries were built"
  echo
  echo "By \`native/build.sh\` on $(date -u +%Y-%m-%d), then compressed by \`native/pack.sh\`. \`make native\` does it again,"
  echo "\`make native-verify\` checks these files; the versions are in \`native/manifest.toml\`."
  echo
  echo "| what | value |"
  echo "|---|---|"
  echo "| compiler | $(rustc --version) |"
  echo "| C library | $(ldd --version | head -n 1) |"
  echo "| newest C library symbol | $(objdump -T "$lib"/liblancedb_go.so | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1) |"
  echo "| processor | $(sed -n 's/^amd64_cpu *= "\(.*\)"$/\1/p' "$here/manifest.toml") or newer |"
  echo "| inputs (SHA-256 of manifest, build script and lock files) | $("$here/inputs.sh") |"
} >"$out/BUILT.md"
ls -l "$out"
