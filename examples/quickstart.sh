#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From nothing to a verdict: installs what is missing, builds, makes 2,000 images, trains a small
# network on them under the preload, and prints the report.
#
# usage: quickstart.sh [OPTION of train.py...]     e.g. quickstart.sh --workers 0
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/examples/install-deps.sh"

install_deps
# Who has built the tests keeps them.
[ -f "$root/build/build.ninja" ] && tests= || tests=-Dtests=false
build $tests

images=$root/build/images
if [ ! -d "$images" ]; then
	echo "making images in $images"
	rm -rf "$images.part"
	/usr/bin/python3 "$root/examples/make_images.py" "$images.part"
	mv "$images.part" "$images"
fi

runs=$root/build/runs
mkdir -p "$runs"
rm -f "$runs"/quickstart*.db*

echo "training"
DLPROF_OUT=$runs/quickstart.db LD_PRELOAD=$root/build/shim/libdlprof.so \
	/usr/bin/python3 "$root/examples/train.py" --data "$images" "$@"

"$root/build/analyzer/dlprof-report" "$runs/quickstart.db"
