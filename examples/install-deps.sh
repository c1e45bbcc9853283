# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart.sh and tests/run.sh: installs what is missing to build, train and test.
# Nothing is asked of the network where nothing is missing. $root is the clone.

case $root in
*[\ :]*)
	echo "dlprof cannot be used in '$root': LD_PRELOAD holds no path with blanks or colons." \
		"Move the clone." >&2
	exit 1 ;;
esac

packages="gcc libc6-dev meson ninja-build pkg-config libsqlite3-dev libunwind-dev
	python3 python3-torch python3-torchvision python3-pil"
extras=

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

is_installed() {
	for one in $(echo "$1" | tr '|' ' '); do
		dpkg-query -W -f '${Status}\n' "$one" 2>/dev/null |
			grep -q '^install ok installed$' && return
	done
	return 1
}

# Of one|other, which the versions of Debian call it, the one that this one has.
known_package() {
	for one in $(echo "$1" | tr '|' ' '); do
		[ -n "$(apt-cache show "$one" 2>/dev/null)" ] && echo "$one" && return
	done
	return 1
}

apt_install() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -q -y \
		--no-install-recommends "$@"
}

# Installs $packages, and of $extras those that there are: without them less is tested.
install_deps() {
	missing= missing_extras=
	if ! command -v dpkg-query >/dev/null; then
		echo "not a Debian system: make sure that these are there:" $packages $extras >&2
		return
	fi
	for package in $packages; do
		is_installed "$package" || missing="$missing $package"
	done
	for package in $extras; do
		is_installed "$package" || missing_extras="$missing_extras $package"
	done
	[ -n "$missing$missing_extras" ] || return 0
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		echo "not installed, for which it takes root or sudo:$missing$missing_extras" >&2
		[ -z "$missing" ]
		return
	fi
	echo "installing$missing$missing_extras"
	as_root apt-get update -q ||
		echo "apt-get update failed: the lists are as old as they are" >&2
	found=
	for package in $missing; do
		found="$found $(known_package "$package" || echo "${package%%|*}")"
	done
	if [ -n "$found" ] && ! apt_install $found; then
		echo "cannot install:$missing" >&2
		return 1
	fi
	found=
	for package in $missing_extras; do
		if known=$(known_package "$package"); then
			found="$found $known"
		else
			echo "no package: $package" >&2
		fi
	done
	[ -z "$found" ] || apt_install $found && return
	# One that cannot be fetched is to keep no other away.
	for package in $found; do
		apt_install "$package" || echo "not installed: $package" >&2
	done
}

# Debian's own tools come first: pyenv and the like put others of the same names before them.
PATH=/usr/bin:/bin:$PATH

# Configures $root/build, with options of meson, and builds there.
build() {
	if [ -f "$root/build/build.ninja" ]; then
		meson setup --reconfigure "$@" "$root/build" "$root" >"$root/build/setup.log" ||
			{ cat "$root/build/setup.log"; return 1; }
	else
		meson setup "$@" "$root/build" "$root"
	fi
	ninja -C "$root/build"
}
