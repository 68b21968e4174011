#!/usr/bin/env bash
# Builds liblancedb_go and libtokenizers from their pinned module sources into native/lib/<os>_<arch>/.
#
#   native/build.sh [--relock] [lancedb|tokenizers ...]      (default: both)
#
# Needs Go, Rust (cargo) and a C compiler; protoc is taken from the PATH or from crates.io.
# --relock writes Cargo's lock files again, for a change of version in manifest.toml.
# The build folder is ${YAMO_NATIVE_BUILD:-native/build}; it takes about 6 GB and 20 minutes on two cores.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${YAMO_NATIVE_BUILD:-$here/build}
platform=$(go env GOOS)_$(go env GOARCH)
out=$here/lib/$platform
locked=--locked
targets=()
for arg in "$@"; do
  case $arg in
    --relock) locked= ;;
    lancedb | tokenizers) targets+=("$arg") ;;
    *) echo "native/build.sh: unknown argument $arg (allowed: --relock, lancedb, tokenizers)" >&2; exit 2 ;;
  esac
done
[ ${#targets[@]} -gt 0 ] || targets=(lancedb tokenizers)

step() { printf '[%3d:%02d] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"; }
die() { echo "native/build.sh: $*" >&2; exit 1; }
value() { # the value of key $1 in manifest.toml
  local v
  v=$(sed -n "s/^$1 *= *[\"']\(.*\)[\"']\$/\1/p" "$here/manifest.toml")
  [ -n "$v" ] || die "manifest.toml has no $1"
  printf '%s' "${v//\\\"/\"}"
}
need() { command -v "$1" >/dev/null || die "$1 is needed: $2"; }
need go "https://go.dev/dl"
need cargo "https://rustup.rs (built and tested with Rust $(value rust_version))"
need cc "your system's C compiler"

case $platform in
  linux_amd64) cpu=$(value amd64_cpu) shared=liblancedb_go.so ;;
  linux_arm64) cpu= shared=liblancedb_go.so ;;
  darwin_arm64) cpu= shared=liblancedb_go.dylib ;;
  *) die "$platform is not supported (linux_amd64, linux_arm64, darwin_arm64)" ;;
esac

mkdir -p "$build" "$out"
crates=${CARGO_HOME:-$HOME/.cargo}
source_of() { # the unpacked source of crate $1-$2, downloaded through cargo and verified by it
  local probe=$build/probe-$1 found
  mkdir -p "$probe/src"
  : >"$probe/src/lib.rs"
  printf '[package]\nname = "probe"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s = { version = "=%s", default-features = false }\n[workspace]\n' "$1" "$2" >"$probe/Cargo.toml"
  (cd "$probe" && cargo fetch --quiet) || die "cargo could not fetch $1 $2"
  found=$(ls -d "$crates"/registry/src/*/"$1-$2" 2>/dev/null | head -n 1)
  [ -n "$found" ] || die "crate $1 $2 was fetched but is not in $crates/registry/src"
  printf '%s' "$found"
}
module() { # a writable copy of Go module $1@$2 in folder $3, whose go.sum hash the go command has checked
  local dir
  dir=$(cd "$here/.." && go mod download -json "$1@$2" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  [ -d "$dir" ] || die "go mod download $1@$2 gave no folder"
  rm -rf "$3"
  cp -R "$dir" "$3"
  chmod -R u+w "$3"
}
replace() { # the one line $2 of file $1 by $3; anything but exactly one match is an error
  [ "$(grep -cxF -- "$2" "$1")" = 1 ] || die "$1 does not have exactly one line: $2"
  awk -v old="$2" -v new="$3" '$0 == old { print new; next } { print }' "$1" >"$1.new"
  mv "$1.new" "$1"
}
compile() { # cargo build in $1, with lock file $2; no path of this machine reaches the library
  local lock=$here/$2 registry flags cflags
  if [ -n "$locked" ]; then cp "$lock" "$1/Cargo.lock"; else rm -f "$1/Cargo.lock"; fi
  (cd "$1" && cargo fetch --quiet $locked) # so that the folders to rename exist
  flags="--remap-path-prefix=$HOME=home --remap-path-prefix=$build=native --remap-path-prefix=$crates=cargo"
  cflags="-ffile-prefix-map=$build=native -ffile-prefix-map=$crates=cargo"
  for registry in "$crates"/registry/src/*/; do
    flags="$flags --remap-path-prefix=${registry%/}=crates"
    cflags="$cflags -ffile-prefix-map=${registry%/}=crates"
  done
  [ -z "$cpu" ] || flags="-C target-cpu=$cpu $flags"
  # shellcheck disable=SC2086
  (cd "$1" && CARGO_TARGET_DIR=$build/target RUSTFLAGS=$flags CFLAGS="${CFLAGS:-} $cflags" CXXFLAGS="${CXXFLAGS:-} $cflags" \
    CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_STRIP=symbols \
    CARGO_TERM_PROGRESS_WHEN=${CARGO_TERM_PROGRESS_WHEN:-auto} cargo build --release $locked --lib)
  if [ -z "$locked" ]; then mkdir -p "$(dirname "$lock")"; cp "$1/Cargo.lock" "$lock"; fi
}
install_file() { # $1 to $out, atomically
  cp "$1" "$out/.$(basename "$1").tmp"
  mv "$out/.$(basename "$1").tmp" "$out/$(basename "$1")"
}

build_lancedb() {
  local version crate lance
  version=$(value lancedb_go_version) crate=$(value lancedb_crate) lance=$(value lance_crate)
  step "lancedb-go $version: sources"
  module "$(value lancedb_go_module)" "$version" "$build/lancedb-go"
  replace "$build/lancedb-go/rust/Cargo.toml" "$(value lancedb_git)" \
    "lancedb = { version = \"=$crate\", default-features = false, features = [\"$(value lancedb_features)\"] }"
  step "lance $lance: sources and patch"
  rm -rf "$build/lance"
  cp -R "$(source_of lance "$lance")" "$build/lance"
  { value lance_patch; echo; cat "$build/lance/src/lib.rs"; } >"$build/lance/src/lib.rs.new"
  mv "$build/lance/src/lib.rs.new" "$build/lance/src/lib.rs"
  printf '\n[patch.crates-io]\nlance = { path = "../../lance" }\n\n[workspace]\n' >>"$build/lancedb-go/rust/Cargo.toml"
  if [ -z "${PROTOC:-}" ] && ! command -v protoc >/dev/null; then
    step "protoc: none on the PATH, taking protoc-bin-vendored $(value protoc_crate) from crates.io"
    local host
    case $platform in
      linux_amd64) host=linux-x86_64 ;;
      linux_arm64) host=linux-aarch_64 ;;
      darwin_arm64) host=macos-aarch_64 ;;
    esac
    PROTOC=$(source_of "protoc-bin-vendored-$host" "$(value protoc_crate)")/bin/protoc
    chmod +x "$PROTOC"
    export PROTOC PROTOC_INCLUDE=${PROTOC%/bin/protoc}/include
  fi
  step "lancedb-go $version with lancedb $crate: compiling (20 minutes on two cores)"
  compile "$build/lancedb-go/rust" "$(value lancedb_go_lock)"
  install_file "$build/target/release/$shared"
  [ "$platform" != darwin_arm64 ] || install_name_tool -id "@rpath/$shared" "$out/$shared"
}

build_tokenizers() {
  local version
  version=$(value tokenizers_version)
  step "tokenizers $version: sources"
  module "$(value tokenizers_module)" "$version" "$build/tokenizers"
  replace "$build/tokenizers/Cargo.toml" "$(value tokenizers_git)" "tiktoken-rs = \"$(value tiktoken_crate)\""
  printf '\n[workspace]\n' >>"$build/tokenizers/Cargo.toml"
  step "tokenizers $version: compiling (2 minutes on two cores)"
  compile "$build/tokenizers" "$(value tokenizers_lock)"
  strip -S "$build/target/release/libtokenizers.a"
  install_file "$build/target/release/libtokenizers.a"
}

for target in "${targets[@]}"; do "build_$target"; done
step "done: $(cd "$out" && ls -l | awk 'NR > 1 { printf "%s (%.0f MB)  ", $NF, $5 / 1e6 }')"
