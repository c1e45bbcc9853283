#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles sources into an archive, and writes which headers they took.
#
# usage: archive.sh ARCHIVE DEPFILE SOURCE... -- COMPILER FLAG...
set -eu

archive=$1
depfile=$(realpath "$2")
shift 2
objects=$(realpath "$archive").p
sources=
while [ "$1" != -- ]; do
	sources="$sources $(realpath "$1")"
	shift
done
shift
rm -rf "$objects" "$archive"
mkdir "$objects"
(cd "$objects" && "$@" -MD -MT "$archive" -c $sources && cat ./*.d >"$depfile")
ar rc "$archive" "$objects"/*.o
