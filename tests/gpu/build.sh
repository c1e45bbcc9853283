#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes build-gpu.tar.gz, all that a machine with a GPU and no compiler needs. See README.md.
#
# usage: build.sh [FOLDER]      the build folder, made if it is missing; default build-gpu
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build-gpu}
command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || {
	echo "build.sh: the kernels need nvcc: install the CUDA toolkit" >&2
	exit 1
}
# Link statically where possible: the other machine may have no libsqlite3. Call stacks are left out.
[ -f "$build/build.ninja" ] ||
	meson setup "$build" "$root" --prefer-static -Dstacks=disabled
files="shim/libdlprof.so analyzer/dlprof analyzer/dlprof-drain analyzer/dlprof-report tests/gpu/probe
	tests/gpu/spin.fatbin tests/fakes/libclient.so"
ninja -C "$build" $files
mkdir -p "$build/lib"
# Carry the libraries that are still linked dynamically and are no part of libc.
for program in analyzer/dlprof analyzer/dlprof-drain analyzer/dlprof-report; do
	ldd "$build/$program" | awk '$3 ~ /^\// && $1 !~ /^(libc|libm|libpthread|libdl|librt)\.so/ { print $3 }'
done | sort -u | while read -r library; do
	cp "$library" "$build/lib/"
done
# Carry the libcuptis of CUDA 13 that tests/run.sh fetched. dlprof does not call that of 13.2.
mkdir -p "$build/cupti"
for wheel in "$root"/build/pypi/cupti/nvidia_cuda_cupti-13.[!2]*.whl; do
	[ -f "$wheel" ] || continue
	version=${wheel##*/nvidia_cuda_cupti-}
	python3 -m zipfile -e "$wheel" "$build/wheel"
	mkdir -p "$build/cupti/${version%%-*}"
	mv "$build/wheel/nvidia/cu13/lib/libcupti.so.13" "$build/cupti/${version%%-*}/"
	rm -r "$build/wheel"
done
name=$(basename "$build")
tar -C "$(dirname "$build")" -czf "$build.tar.gz" "$name/lib" "$name/cupti" $(printf "$name/%s " $files) \
	"$name/shim/dlprof.built"
echo "$build.tar.gz: $(($(wc -c <"$build.tar.gz") / 1024)) KB"
