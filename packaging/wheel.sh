#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes dist/dlprof-VERSION-py3-none-manylinux_2_28_ARCH.whl: one wheel for every Python 3, for every
# Linux with glibc 2.28 or later, with SQLite in it.
#
# usage: wheel.sh [-o FOLDER] [x86_64 | aarch64]...       without: dist, x86_64
#        wheel.sh fetch                          only what the others fetch, into build/wheel
#
# The compiler is PyPI's ziglang, which brings the headers of old C libraries; SQLite is Debian's
# source package. Needs apt-get, dpkg-source, tclsh (for SQLite), python3 with venv, and pip.
# OPTIMIZATION=0, as the test has it: the programs and SQLite are compiled in half of the time.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
glibc=2.28
work=$root/build/wheel
tools=$work/tools
optimization=${OPTIMIZATION-}
out=$root/dist

# Takes as whole only what was made to the end.
make_tools() {
	cmp -s "$root/packaging/requirements.txt" "$tools/done" && return
	rm -rf "$tools"
	python3 -m venv "$tools"
	"$tools/bin/pip" install -q -r "$root/packaging/requirements.txt"
	cp "$root/packaging/requirements.txt" "$tools/done"
}

# The one file that SQLite's sources become, in $work/sqlite.
make_sqlite() {
	[ -f "$work/sqlite/done" ] && return
	rm -rf "$work/sqlite"
	mkdir -p "$work/sqlite/lists/partial"
	cd "$work/sqlite"
	. /etc/os-release
	echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main" >sources.list
	from="-o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=- \
		-o Dir::State::Lists=$PWD/lists -o APT::Sandbox::User="
	apt-get $from -qq update
	apt-get $from -qq --download-only source sqlite3
	dpkg-source --no-check -x sqlite3_*.dsc source
	cd source
	./configure --disable-tcl >../configure.log
	make sqlite3.c sqlite3.h >../make.log
	touch ../done
}

# $1: the architecture.
make_wheel() {
	arch=$1
	here=$work/$arch
	rm -rf "$here"
	mkdir -p "$here/include"
	zig=$("$tools/bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')/zig
	printf '#!/bin/sh\nexec "%s" cc -target %s-linux-gnu.%s "$@"\n' \
		"$zig" "$arch" "$glibc" >"$here/cc"
	printf '#!/bin/sh\nexec "%s" ar "$@"\n' "$zig" >"$here/ar"
	chmod +x "$here/cc" "$here/ar"
	cp "$work/sqlite/source/sqlite3.h" "$here/include"
	"$here/cc" "-O${optimization:-2}" -w -fPIC -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_DQS=0 \
		-c "$work/sqlite/source/sqlite3.c" -o "$here/sqlite3.o"
	"$here/ar" rcs "$here/libsqlite3.a" "$here/sqlite3.o"
	cat >"$here/sqlite3.pc" <<-END
		Name: sqlite3
		Description: linked into the wheel's programs
		Version: $(cat "$work/sqlite/source/VERSION")
		Libs: -L$here -lsqlite3
		Cflags: -I$here/include
	END
	cat >"$here/cross.ini" <<-END
		[binaries]
		c = '$here/cc'
		ar = '$here/ar'
		pkg-config = 'pkg-config'
		[host_machine]
		system = 'linux'
		cpu_family = '$arch'
		cpu = '$arch'
		endian = 'little'
		[built-in options]
		pkg_config_path = '$here'
		c_link_args = ['-s']
	END
	cd "$root"
	PATH=$tools/bin:$PATH _PYTHON_HOST_PLATFORM=linux-$arch "$tools/bin/python" -m build --wheel \
		--no-isolation --outdir "$here/dist" \
		-Cbuild-dir="$here/build" -Csetup-args="--cross-file=$here/cross.ini" \
		${optimization:+-Csetup-args=-Doptimization=$optimization} \
		-Csetup-args=-Dstacks=disabled >"$here/build.log" ||
		{ tail -50 "$here/build.log"; return 1; }
	"$tools/bin/python" -m wheel tags --remove --python-tag py3 --abi-tag none \
		--platform-tag "manylinux_$(echo "$glibc" | tr . _)_$arch" "$here"/dist/*.whl
	mkdir -p "$out"
	mv "$here"/dist/*.whl "$out"
}

if [ "${1-}" = -o ]; then
	mkdir -p "$2"
	out=$(cd "$2" && pwd)
	shift 2
fi
mkdir -p "$work"
make_tools
make_sqlite
[ "${1-}" = fetch ] && exit
for arch in "${@:-x86_64}"; do
	make_wheel "$arch"
done
