# SPDX-License-Identifier: Apache-2.0
"""Without a network the tests run with what is there; only a build needs its packages."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import ROOT, check, equal, finish  # noqa: E402

SCRIPT = """
. "$1"
packages=$2 extras=$3
is_installed() { [ "$1" = there ]; }
known_package() { echo "${1%%|*}"; }
id() { echo 0; }
as_root() {
	case "$*" in *"$NO"*) return 100 ;; esac
	echo "apt: $*"
}
install_deps
"""


def install(packages, extras, no):
    """Exit status and output, where apt-get fails for commands that hold `no`."""
    done = subprocess.run(
        ["sh", "-c", SCRIPT, "sh", os.path.join(ROOT, "examples", "install-deps.sh"), packages, extras],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(os.environ, NO=no))
    return done.returncode, done.stdout.decode()


def main():
    equal(install("there", "there", ""), (0, ""), "nothing is missing")
    status, said = install("there", "a b|c", "apt-get")
    equal(status, 0, "no network, and only tests lose something", said)
    for name in "a", "b":
        check("not installed: " + name in said, "what is not there is said", said)
    status, said = install("x", "a", "apt-get")
    check(status != 0 and "cannot install: x" in said, "no network, and the build needs it", status, said)
    status, said = install("there", "a b", "install -q -y --no-install-recommends a")
    check(status == 0 and "recommends b" in said, "one that cannot be fetched keeps no other away", said)
    finish()


main()
