# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart.sh and tests/run.sh: installs what is missing to build, train and test.
# Nothing is asked of the network where nothing is missing.

packages="gcc g++ libc6-dev meson ninja-build pkg-config libsqlite3-dev libcriterion-dev libunwind-dev
	python3 python3-torch python3-torchvision python3-pil"

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

is_installed() {
	dpkg-query -W -f '${Status}\n' "$1" 2>/dev/null | grep -q '^install ok installed$'
}

install_deps() {
	missing=
	if ! command -v dpkg-query >/dev/null; then
		echo "not a Debian system: make sure that these are there:" $packages >&2
		return
	fi
	for package in $packages; do
		is_installed "$package" || missing="$missing $package"
	done
	[ -n "$missing" ] || return 0
	echo "installing$missing"
	as_root apt-get update -q
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y \
		--no-install-recommends $missing
}

# Debian's own tools come first: pyenv and the like put others of the same names before them.
PATH=/usr/bin:/bin:$PATH

# Configures and builds into $1/build.
build() {
	if [ -f "$1/build/build.ninja" ]; then
		meson setup --reconfigure "$1/build" "$1" >"$1/build/setup.log" ||
			{ cat "$1/build/setup.log"; return 1; }
	else
		meson setup "$1/build" "$1"
	fi
	ninja -C "$1/build"
}
