#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what the suite "fleet" wants of Debian: Prometheus, node-exporter, Slurm, OpenMPI. They
# are run as processes by the tests, on 127.0.0.1, and no service is started here.
# Then: meson test -C build --suite fleet
set -eu
export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
apt-get update -q
exec apt-get -o DPkg::Lock::Timeout=300 install -q -y --no-install-recommends \
	prometheus prometheus-node-exporter slurm-wlm munge openmpi-bin
