# SPDX-License-Identifier: Apache-2.0
"""`fold` as the map step of srun: a Slurm of four slurmds on this machine, started and ended here."""
import getpass
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import launchers

CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
MpiDefault=none
{nodes}
PartitionName=all Nodes=n[0-3] Default=YES State=UP
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Slurm:
    """munged, slurmctld and the slurmds, which are `machines`."""

    def __init__(self):
        self.folder, self.started = t.scratch(), []
        os.chmod(self.folder, 0o755)
        os.mkdir(self.path("state"))
        with open(self.path("key"), "wb") as file:
            file.write(secrets.token_bytes(64))
        os.chmod(self.path("key"), 0o600)
        nodes = "".join("NodeName=n{} NodeAddr=127.0.0.1 NodeHostname={} Port={} CPUs=1 State=UNKNOWN\n"
                        .format(i, socket.gethostname(), free_port()) for i in range(4))
        with open(self.path("slurm.conf"), "w") as file:
            file.write(CONF.format(host=socket.gethostname(), port=free_port(), folder=self.folder,
                                   user=getpass.getuser(), nodes=nodes))
        self.environment = {"SLURM_CONF": self.path("slurm.conf")}

    def path(self, name):
        return os.path.join(self.folder, name)

    def start(self, *command):
        self.started.append(subprocess.Popen(
            command, env=t.environment(preload=False, **self.environment),
            stdout=open(self.path("out"), "a"), stderr=subprocess.STDOUT))

    def __enter__(self):
        self.start("munged", "--foreground", "--force", "--key-file=" + self.path("key"),
                   "--socket=" + self.path("munge.socket"), "--pid-file=" + self.path("munged.pid"),
                   "--log-file=" + self.path("munged.log"), "--seed-file=" + self.path("seed"))
        while not os.path.exists(self.path("munge.socket")) and self.started[0].poll() is None:
            time.sleep(0.1)
        self.start("slurmctld", "-D")
        for i in range(4):
            os.mkdir(self.path("spool-n{}".format(i)))
            self.start("slurmd", "-D", "-N", "n{}".format(i))
        return self

    def __exit__(self, *_):
        for process in reversed(self.started):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()

    def is_ready(self):
        done = t.run(["sinfo", "-h", "-o", "%D %t"],
                     env=t.environment(preload=False, **self.environment), timeout=30)
        return done.out.split() == ["4", "idle"]

    def logs(self):
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".log") or name == "out":
                with open(self.path(name), errors="replace") as file:
                    t.say(name, file.read()[-1500:])


for tool in ("munged", "slurmctld", "slurmd", "srun"):
    if not shutil.which(tool, path=os.environ["PATH"] + ":/usr/sbin"):
        t.skip(tool + " is not there: tests/fleet/install.sh")
os.environ["PATH"] += ":/usr/sbin"
if os.geteuid() != 0:
    t.skip("slurmd wants root")
with Slurm() as slurm:
    end = time.monotonic() + 60
    while not slurm.is_ready() and time.monotonic() < end:
        time.sleep(0.5)
    launchers.check(["srun", "-N", "4", "--ntasks-per-node=1"], "SLURM_NODEID", slurm.environment)
    if t.failure_count():
        slurm.logs()
t.finish()
