# SPDX-License-Identifier: Apache-2.0
"""Runs the examples' scripts where something is missing: a network, a package, a path without blanks."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import ROOT, check, equal, finish, scratch  # noqa: E402

EXAMPLES = os.path.join(ROOT, "examples")
SCRIPT = """
root=/clone
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
    """Runs install-deps.sh; apt-get fails for commands that contain `no`. Returns exit status and output."""
    done = subprocess.run(
        ["sh", "-c", SCRIPT, "sh", os.path.join(EXAMPLES, "install-deps.sh"), packages, extras],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(os.environ, NO=no))
    return done.returncode, done.stdout.decode()


def check_path():
    folder = os.path.join(scratch(), "with blank")
    shutil.copytree(EXAMPLES, os.path.join(folder, "examples"))
    done = subprocess.run([os.path.join(folder, "examples", "quickstart.sh")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode()
    check(done.returncode and "no path with blanks" in said and said.count("\n") == 1,
          "a clone whose path has a blank", said)


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
    check_path()
    finish()


main()
