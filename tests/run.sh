#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs the tests but the benchmarks.
#
# usage: run.sh [--all | ARGUMENT of meson test...]        e.g. run.sh --suite e2e
# Without an argument the tests of long.txt are left out, which take two thirds of the time.
# The last line is the count, before it what was skipped and why; the status is 0 if nothing failed and
# something passed.
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/examples/install-deps.sh"

# What tests alone need: other preloads, other C libraries, other compilers, other checkers, other
# processors, a browser, PyPI. A test whose tool is missing is skipped and says so, and no user needs
# any of these.
packages="$packages g++ libcriterion-dev"
extras="strace libfuse3-dev fuse3 libjemalloc2 libtcmalloc-minimal4t64|libtcmalloc-minimal4 faketime libcap2-bin
	musl-tools libc6-i386 libc6-dev-i386 clang valgrind libc6-dbg man-db groff mandoc zsh fish
	python3-h5py python3-lmdb libcharls2 libaio-dev liburing-dev python3-pip chromium
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static|qemu-user
	dpkg-dev lintian tcl python3-venv python3-ipykernel"
install_deps || exit 1
# These have in their names what the compilers are, and which versions of Python there are.
extras="lib32gcc-$(gcc -dumpversion | cut -d . -f 1)-dev"
if command -v clang >/dev/null; then
	extras="$extras libclang-rt-$(clang -dumpversion | cut -d . -f 1)-dev"
fi
if command -v apt-cache >/dev/null; then
	for python in $(apt-cache pkgnames python3. | grep -x 'python3\.[0-9]*'); do
		extras="$extras $python lib$python-testsuite"
	done
fi
install_deps || exit 1
/usr/bin/python3 "$root/tests/lib/pypi.py"
mkdir -p "$root/build"
sh "$root/packaging/wheel.sh" fetch >"$root/build/wheel.log" 2>&1 || tail -3 "$root/build/wheel.log"
build -Dtests=true || exit 1

left=
if [ "${1-}" = --all ]; then
	shift
elif [ $# -eq 0 ]; then
	left="left out, which --all runs, too: $(tr '\n' ' ' <"$root/tests/long.txt")"
	set -- $(meson test -C "$root/build" --no-rebuild --list | sed 's|.* / ||' |
		grep -vxFf "$root/tests/long.txt")
fi

logs=$root/build/meson-logs
rm -f "$logs"/testlog*.json
# A machine that others use, too, takes three times as long. A third of what a test takes it sleeps.
meson test -C "$root/build" --no-rebuild --timeout-multiplier 3 --print-errorlogs \
	--num-processes $(($(nproc) * 3 / 2)) "$@"

# Many tests run a training and judge what it waited for: while somebody else has the cores, that is
# another training. So a few that fail are asked once more, with nothing of ours beside them. Both
# results are told: one that passes at times is a bug all the same, most often of the test.
failed=$(/usr/bin/python3 "$root/tests/lib/count.py" --failed "$logs/testlog.json")
if [ -n "$failed" ] && [ "$(echo $failed | wc -w)" -le 6 ]; then
	meson test -C "$root/build" --no-rebuild --timeout-multiplier 3 --print-errorlogs \
		--num-processes 1 --logbase testlog-again $failed
fi
[ -z "$left" ] || echo "$left"
exec /usr/bin/python3 "$root/tests/lib/count.py" "$logs/testlog.json" "$logs/testlog-again.json"
