#!/usr/bin/env bash
# Prints one digest of everything that decides what build.sh builds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
cat manifest.toml build.sh lock/lancedb-go.lock lock/tokenizers.lock | sha256sum | cut -d ' ' -f 1
