#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what the suite "fleet" wants of Debian: Prometheus, node-exporter, Slurm, OpenMPI, PostgreSQL,
# Java; and of PyPI, into build/pypi/engines (2 GB): DuckDB, ClickHouse's chdb, Spark. They are
# run as processes by the tests, on 127.0.0.1, and no service is started here.
# Then: meson test -C build --suite fleet
set -eu
export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
apt-get update -q
apt-get -o DPkg::Lock::Timeout=300 install -q -y --no-install-recommends \
	prometheus prometheus-node-exporter slurm-wlm munge openmpi-bin postgresql default-jre-headless \
	python3-venv
here=$(cd "$(dirname "$0")" && pwd)
engines=$here/../../build/pypi/engines
/usr/bin/python3 -m venv "$engines"
exec "$engines/bin/pip" install -q -r "$here/wheels.txt"
