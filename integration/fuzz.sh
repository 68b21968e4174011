#!/usr/bin/env bash
# Runs each fuzz target of the repository for a while, one after the other, and stops at the first failure. The input
# that failed is in testdata/fuzz of the target's package, where go test runs it from then on: commit it.
#
#   integration/fuzz.sh                   all targets, ten minutes each (about six hours)
#   FUZZTIME=20s integration/fuzz.sh      for a first look
#   SHARD=2/8 integration/fuzz.sh         the second eighth of the targets
set -euo pipefail
cd "$(dirname "$0")/.."
time=${FUZZTIME:-10m}
shard=${SHARD:-1/1}
number=0
while IFS=: read -r file _ line; do
	number=$((number + 1))
	[ $((number % ${shard#*/})) -eq $((${shard%/*} % ${shard#*/})) ] || continue
	target=${line#func }
	target=${target%%(*}
	echo "fuzz: $target in $(dirname "$file")"
	"${GO:-go}" test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$(dirname "$file")"
done < <(git grep -n '^func Fuzz' -- '*_test.go')
