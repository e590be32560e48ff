#!/bin/sh
# Makes sure that a Chromium can be run for the browser tests: does nothing if
# there is one, else installs it with apt or brew where that needs no prompt.
set -eu

for name in chromium chromium-browser google-chrome google-chrome-stable; do
	if command -v "$name" >/dev/null 2>&1; then
		exit 0
	fi
done

say() { echo "holdfast: the browser tests need Chromium: $1" >&2; }

if command -v apt-get >/dev/null 2>&1; then
	if [ "$(id -u)" = 0 ]; then
		as_root=""
	elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
		as_root="sudo -n"
	else
		say "run 'sudo apt-get install chromium' once"
		exit 1
	fi
	say "installing it with apt"
	# Another apt may hold the lock, the lists may be old, a mirror slow: no failure
	# is final before the fourth. sudo hands on no variable that it is not given.
	apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" >/dev/null; }
	exec 3>/dev/null
	for pause in 0 5 15 none; do
		if apt install --no-install-recommends chromium 2>&3; then break; fi
		if [ "$pause" = none ]; then exit 1; fi
		exec 3>&2
		sleep "$pause"
		apt update || true
	done
elif command -v brew >/dev/null 2>&1; then
	say "installing it with brew"
	HOMEBREW_NO_AUTO_UPDATE=1 brew install --cask chromium >/dev/null
else
	say "install it and put it on the PATH"
	exit 1
fi
