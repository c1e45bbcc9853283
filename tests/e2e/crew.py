# SPDX-License-Identifier: Apache-2.0
"""Many trainings of sleeper.py, each in a process of its own, for one start of torch.

usage: crew.py FOLDER AT_ONCE [NICE...], and on stdin [["name", {plan}], ...]. Each log is
FOLDER/name.json; stdout is one line "name pid status" for each. They only sleep, so several fit on
one core. NICE: meanwhile a program of that nice value is always busy.
"""
import json
import os
import subprocess
import sys

import sleeper

# Until the crew is gone, however it went.
BUSY = "while kill -0 $PPID; do i=0; while [ $i -lt 99999 ]; do i=$((i + 1)); done; done"


def main():
    folder, most = sys.argv[1], int(sys.argv[2])
    names = {}
    busy = [subprocess.Popen(["/usr/bin/nice", "-n", nice, "/bin/sh", "-c", BUSY], env={})
            for nice in sys.argv[3:]]
    jobs = json.load(sys.stdin)[::-1]
    while jobs or names:
        while jobs and len(names) < most:
            name, plan = jobs.pop()
            pid = os.fork()
            if not pid:
                sys.argv[1] = os.path.join(folder, name + ".json")
                os.dup2(2, 1)  # what it prints is not our answer
                sys.exit(sleeper.train(sys.argv[1], plan))
            names[pid] = name
        pid, status = os.wait()
        print(names.pop(pid), pid, os.waitstatus_to_exitcode(status), flush=True)
    for process in busy:
        process.kill()


main()
