#!/bin/sh
# Makes sure that redis-server can be run: does nothing if it is there, else
# installs it with apt or brew where that needs no prompt. The package's own
# service is not started: Holdfast runs redis-server as child processes.
set -eu

if command -v redis-server >/dev/null 2>&1; then
	exit 0
fi

say() { echo "holdfast: redis-server is not installed: $1" >&2; }

if command -v apt-get >/dev/null 2>&1; then
	if [ "$(id -u)" = 0 ]; then
		as_root=""
	elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
		as_root="sudo -n"
	else
		say "run 'sudo apt-get install redis-server' once"
		exit 1
	fi
	say "installing it with apt"
	# policy-rc.d is Debian's way to say "start no service while installing".
	policy=/usr/sbin/policy-rc.d
	if [ ! -e "$policy" ]; then
		printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
		$as_root chmod 755 "$policy"
		trap '$as_root rm -f "$policy"' EXIT
	fi
	# Another apt may hold the lock, the lists may be old, a mirror slow: no failure
	# is final before the fourth. sudo hands on no variable that it is not given.
	apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" >/dev/null; }
	exec 3>/dev/null
	for pause in 0 5 15 none; do
		if apt install --no-install-recommends redis-server 2>&3; then break; fi
		if [ "$pause" = none ]; then exit 1; fi
		exec 3>&2
		sleep "$pause"
		apt update || true
	done
elif command -v brew >/dev/null 2>&1; then
	say "installing it with brew"
	HOMEBREW_NO_AUTO_UPDATE=1 brew install redis >/dev/null
else
	say "install Redis 7 or later and put redis-server on the PATH"
	exit 1
fi
command -v redis-server >/dev/null 2>&1 || { say "the installation put no redis-server on the PATH"; exit 1; }
