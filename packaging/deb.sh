#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes dist/dlprof_VERSION-1_ARCH.deb for the Debian that it runs on: programs, library, header, manual
# pages, completions, and the Python package.
#
# usage: deb.sh [-o FOLDER]       without: dist
#
# Needs what examples/quickstart.sh installs, and dpkg-dev.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
out=$root/dist
if [ "${1-}" = -o ]; then
	mkdir -p "$2"
	out=$(cd "$2" && pwd)
fi
work=$root/build/deb
tree=$work/tree
arch=$(dpkg --print-architecture)
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
maintainer="dlprof's maintainers <maintainers@dlprof.invalid>"

rm -rf "$work"
mkdir -p "$tree/DEBIAN" "$out"
# Stripped below: what -g writes would not be kept.
export DEB_CFLAGS_STRIP=-g
export CFLAGS="$(dpkg-buildflags --get CFLAGS) -ffile-prefix-map=$root=."
export LDFLAGS="$(dpkg-buildflags --get LDFLAGS) -Wl,-z,now"
meson setup "$work/build" "$root" --prefix=/usr --libdir="lib/$triplet" --libexecdir=libexec \
	--buildtype=plain -Dtests=false >"$work/setup.log"
ninja -C "$work/build" >"$work/build.log" || { tail -30 "$work/build.log"; exit 1; }
DESTDIR=$tree meson install -C "$work/build" --no-rebuild >"$work/install.log"
version=$(meson introspect "$work/build" --projectinfo | sed 's/.*"version": "\([^"]*\)".*/\1/')-1

strip --strip-unneeded --remove-section=.comment --remove-section=.note \
	"$tree"/usr/bin/* "$tree/usr/libexec/dlprof/dlprof-drain" "$tree/usr/lib/$triplet/libdlprof.so"
package=$tree/usr/lib/python3/dist-packages/dlprof
mkdir -p "$package"
sed -e 's|^PROGRAMS = .*|PROGRAMS = "/usr/bin"|' \
	-e "s|^LIBRARY = .*|LIBRARY = \"/usr/lib/$triplet/libdlprof.so\"|" \
	"$root/analyzer/python/dlprof/__init__.py" >"$package/__init__.py"
cp "$root/analyzer/python/dlprof/__main__.py" "$package"

doc=$tree/usr/share/doc/dlprof
mkdir -p "$doc" "$tree/usr/share/lintian/overrides"
cat >"$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: dlprof

Files: *
Copyright: $(sed -n 's/^ *Copyright \(\[*[0-9].*\)/\1/p' "$root/LICENSE" | grep -v yyyy || echo "2026 the authors of dlprof")
License: Apache-2.0
 On Debian systems, the full text is in /usr/share/common-licenses/Apache-2.0.
END
{
	echo "dlprof ($version) unstable; urgency=medium"
	echo
	echo "  * See NEWS.md.gz."
	echo
	echo " -- $maintainer  $(date -R -u -d "@${SOURCE_DATE_EPOCH:-$(stat -c %Y "$root/NEWS.md")}")"
} | gzip -9n >"$doc/changelog.Debian.gz"
gzip -9nc "$root/NEWS.md" >"$doc/NEWS.md.gz"
gzip -9n "$tree"/usr/share/man/man*/*
cat >"$tree/usr/share/lintian/overrides/dlprof" <<END
# To be preloaded by name, LD_PRELOAD=libdlprof.so: nothing is linked with it, so it has no version, no
# symbols file and no package of its own.
dlprof: package-name-doesnt-match-sonames libdlprof
dlprof: shared-library-lacks-version *
dlprof: no-symbols-control-file *
# One function reads what the host put on the stack, and none may abort it.
dlprof: hardening-no-fortify-functions
dlprof: initial-upload-closes-no-bugs
END

mkdir -p "$work/debian"
cat >"$work/debian/control" <<END
Source: dlprof
Package: dlprof
Architecture: $arch
END
cd "$work"
depends=$(dpkg-shlibdeps -O "$tree"/usr/bin/* "$tree/usr/libexec/dlprof/dlprof-drain" \
	"$tree/usr/lib/$triplet/libdlprof.so" 2>"$work/shlibdeps.log" | sed 's/^shlibs:Depends=//')
cat >"$tree/DEBIAN/control" <<END
Package: dlprof
Version: $version
Architecture: $arch
Maintainer: $maintainer
Section: devel
Priority: optional
Depends: $depends
Suggests: python3
Installed-Size: $(du -sk "$tree/usr" | cut -f 1)
Description: finds out how much of a training waits for data, and why
 "dlprof run ..." records, without a change of code, how long each
 batch of a deep-learning training was waited for, what its loading took, and
 whether the stalls come with a period; then it says what would help, and by
 how much. dlprof-report also gates CI on the stall ratio.
END
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
# ld.so finds the library by its name alone.
echo "activate-noawait ldconfig" >"$tree/DEBIAN/triggers"
chmod -R u+w,go-w,a+rX "$tree"
chmod 644 "$tree/usr/lib/$triplet/libdlprof.so"
dpkg-deb --root-owner-group --build "$tree" "$out/dlprof_${version}_$arch.deb" >/dev/null
echo "$out/dlprof_${version}_$arch.deb"
