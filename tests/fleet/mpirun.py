# SPDX-License-Identifier: Apache-2.0
"""`fold` as the map step of mpirun: each process its machine's ranks, then their partials."""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import launchers

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "4", "--host", "localhost:4"]

if not shutil.which("mpirun"):
    t.skip("mpirun is not there: tests/fleet/install.sh")
launchers.check(MPIRUN, "OMPI_COMM_WORLD_RANK", {
    # Of this machine alone.
    "OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo"})
t.finish()
