#!/bin/sh
# Fuzzes every decoder of the module, one after the other: fuzz.sh TIME. GO names
# the go command. It ends with 1 at the first input that fails.
set -u
go=${GO:-go}
said=$(mktemp -d) || exit 1
trap 'rm -rf "$said"' EXIT

# Go's fuzzer may take the end of its own time for a failure and say no more than
# this (go.dev/issue/75804). An input that fails is named on the line instead.
only_its_time_was_up() {
	grep -A1 '^--- FAIL: ' "$said/log" | grep -q '^    context deadline exceeded$'
}

for folder in $(grep -rl '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u); do
	for fuzzer in $(cat "$folder"/*_test.go | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p'); do
		echo "== $folder $fuzzer"
		{ $go test -run '^$' -fuzz "^$fuzzer\$" -fuzztime "$1" "$folder" 2>&1; echo $? >"$said/code"; } | tee "$said/log"
		[ "$(cat "$said/code")" = 0 ] || only_its_time_was_up || exit 1
	done
done
