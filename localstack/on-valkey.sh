#!/bin/sh
# Runs a command with valkey-server in the place of redis-server, where there is
# one: on the PATH, or in apt's lists, from where it is installed if that needs no
# prompt. Where there is none it says so and runs nothing; with CI=true it may
# only be missing if apt has no such package.
#
#   on-valkey.sh go test ./admission/redis
set -eu

bin="" policy="" as_root=""
cleanup() {
	[ -z "$bin" ] || rm -rf "$bin"
	[ -z "$policy" ] || $as_root rm -f "$policy"
}
trap cleanup EXIT

say() { echo "holdfast: valkey: $1"; }

if ! command -v valkey-server >/dev/null 2>&1; then
	if ! command -v apt-cache >/dev/null 2>&1 || [ -z "$(apt-cache policy valkey-server 2>/dev/null | sed -n 's/^ *Candidate: *\([0-9].*\)/\1/p')" ]; then
		say "apt has no valkey-server on this machine: the scripts were tested on $(redis-server --version | cut -d' ' -f1-3) alone"
		exit 0
	fi
	if [ "$(id -u)" = 0 ]; then
		:
	elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
		as_root="sudo -n"
	else
		say "run 'sudo apt-get install valkey-server' to test on it as well"
		if [ "${CI:-}" = true ]; then exit 1; fi
		exit 0
	fi
	# policy-rc.d is Debian's way to say "start no service while installing".
	if [ ! -e /usr/sbin/policy-rc.d ]; then
		policy=/usr/sbin/policy-rc.d
		printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
		$as_root chmod 755 "$policy"
	fi
	DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends valkey-server >/dev/null
fi

bin=$(mktemp -d)
ln -s "$(command -v valkey-server)" "$bin/redis-server"
say "testing on $(valkey-server --version | cut -d' ' -f1-3)"
PATH="$bin:$PATH" "$@"
