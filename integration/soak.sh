#!/usr/bin/env bash
# Runs the test suite ten times in a row on two cores while two busy loops take turns with it, and stops at the first
# failure: a test that passes only on an idle machine fails here.
#
#   integration/soak.sh                      all packages (a few hours)
#   integration/soak.sh ./mesh ./tools/...   these packages
#   TIMES=3 integration/soak.sh ./mesh -run Search
set -euo pipefail
cd "$(dirname "$0")/.."
times=${TIMES:-10}
[ $# -gt 0 ] || set -- ./...

run=()
if command -v taskset >/dev/null; then run=(taskset -c 0,1); fi

loops=()
trap 'kill "${loops[@]}" 2>/dev/null || true' EXIT
for _ in 1 2; do
	"${run[@]}" bash -c 'while :; do :; done' &
	loops+=($!)
done

start=$SECONDS
"${run[@]}" "${GO:-go}" test -p 2 -count "$times" -failfast -timeout 12h "$@"
echo "soak: $times times in $((SECONDS - start)) s"
