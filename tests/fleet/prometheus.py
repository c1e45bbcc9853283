# SPDX-License-Identifier: Apache-2.0
"""examples/fleet on the real Prometheus and node-exporter: an alert for a starved rank, by its name,
and none for a healthy job, a job that ended or one whose file was left behind.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import servers  # noqa
from dlprof_test import (PYTHON, ROOT, check, environment, equal, finish, need_shim,  # noqa
                         need_torch, run, say, scratch, skip)

FLEET = os.path.join(ROOT, "examples", "fleet")
SLEEPER = os.path.join(ROOT, "tests", "e2e", "sleeper.py")
TOOLS = ("prometheus", "promtool", "prometheus-node-exporter")
STARVED = {"workers": 1, "load_s": 0.05, "step_s": 0.01, "batches": 2000}
FED = {"workers": 2, "load_s": 0.01, "step_s": 0.05, "batches": 2000}
WITHIN_S = 150


def series(name, job, rank, step, part=None):
    labels = 'job_id="{}",rank="{}"'.format(job, rank) + (',part="{}"'.format(part) if part else "")
    return "      - series: '{}{{{}}}'\n        values: '{}'\n".format(name, labels, step)


def check_rules():
    """Hours in milliseconds, with the rules as they are."""
    folder = scratch()
    shutil.copy(os.path.join(FLEET, "rules.yml"), folder)
    text = ""
    # Job 7: rank 3 of 8 waits 31 %. Job 8: all wait 3 %. Counters of 15 s, an hour.
    for job, worst in ((7, 4.65), (8, 0.45)):
        for rank in range(8):
            wait = worst if rank == 3 else 0.3
            text += series("dlprof_wait_seconds_total", job, rank, "0+{}x240".format(wait), "not_ready")
            text += series("dlprof_compute_seconds_total", job, rank, "0+{}x240".format(15 - wait))
            text += series("dlprof_last_batch_timestamp_seconds", job, rank, "0+15x240")
            text += series("dlprof_updated_timestamp_seconds", job, rank, "0+15x240")
    # Job 9 has no batch after 10 minutes and is recorded; the file of job 10 was left behind then.
    for job, updated in ((9, "0+15x240"), (10, "0+15x40 600x200")):
        text += series("dlprof_last_batch_timestamp_seconds", job, 0, "0+15x40 600x200")
        text += series("dlprof_updated_timestamp_seconds", job, 0, updated)
    text = ("rule_files: [rules.yml]\nevaluation_interval: 30s\ntests:\n  - interval: 15s\n"
            "    input_series:\n" + text + "    promql_expr_test:\n"
            "      - expr: count by (job_id) (ALERTS{alertstate='firing'})\n        eval_time: 50m\n"
            "        exp_samples:\n          - {labels: '{job_id=\"7\"}', value: 2}\n"
            "          - {labels: '{job_id=\"9\"}', value: 1}\n"
            "      - expr: round(job_id:dlprof_stall:ratio_rate5m_max, 0.001)\n        eval_time: 50m\n"
            "        exp_samples:\n          - {labels: '{job_id=\"7\"}', value: 0.31}\n"
            "          - {labels: '{job_id=\"8\"}', value: 0.03}\n")
    with open(os.path.join(folder, "test.yml"), "w") as file:
        file.write(text)
    done = run(["promtool", "test", "rules", os.path.join(folder, "test.yml")])
    equal(done.status, 0, "promtool test rules", done.out, done.err)


def hurry(text):
    """The same rules for minutes instead of hours."""
    return (text.replace("interval: 30s", "interval: 2s").replace("for: 10m", "for: 5s")
            .replace("[5m]", "[40s]").replace("scrape_interval: 15s", "scrape_interval: 2s"))


class Servers:
    """Both on 127.0.0.1, ended with the test."""

    def __init__(self, metrics):
        folder, self.port, port = scratch(), servers.free_port(), servers.free_port()
        for name in ("rules.yml", "prometheus.yml"):
            with open(os.path.join(FLEET, name)) as file:
                text = hurry(file.read()).replace("127.0.0.1:9100", "127.0.0.1:{}".format(port))
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        self.processes = [servers.start(command, env=environment(preload=False),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                          for command in (
            ["prometheus-node-exporter", "--web.listen-address=127.0.0.1:{}".format(port),
             "--collector.disable-defaults", "--collector.textfile",
             "--collector.textfile.directory=" + metrics],
            ["prometheus", "--config.file=" + os.path.join(folder, "prometheus.yml"),
             "--storage.tsdb.path=" + os.path.join(folder, "data"),
             "--web.listen-address=127.0.0.1:{}".format(self.port)])]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(30)

    def ask(self, what, **arguments):
        url = "http://127.0.0.1:{}/api/v1/{}?{}".format(self.port, what,
                                                        urllib.parse.urlencode(arguments))
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]


def train(folder, metrics, plan, job, rank):
    return subprocess.Popen(
        [PYTHON, "-W", "ignore", SLEEPER, os.path.join(folder, "log-{}-{}".format(job, rank)),
         json.dumps(plan)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=environment(DLPROF_OUT=os.path.join(folder, "{}-{}.db".format(job, rank)),
                        DLPROF_METRICS_DIR=metrics, TMPDIR=folder, SLURM_JOB_ID=job, RANK=rank,
                        LOCAL_RANK=rank, WORLD_SIZE=2))


def wait_for_alert(prometheus):
    """What fires when DlprofJobStarved does."""
    end = time.monotonic() + WITHIN_S
    while time.monotonic() < end:
        time.sleep(1)
        try:
            firing = [alert for alert in prometheus.ask("alerts")["alerts"] if alert["state"] == "firing"]
        except OSError:
            continue
        if any(alert["labels"]["alertname"] == "DlprofJobStarved" for alert in firing):
            return firing
    return []


def check_dashboard(prometheus):
    with open(os.path.join(FLEET, "dashboard.json")) as file:
        panels = json.load(file)["panels"]
    starved = {}
    for panel in panels:
        query = panel["targets"][0]["expr"].replace("$job_id", ".*").replace("[5m]", "[40s]")
        found = prometheus.ask("query", query=query)["result"]
        check(found, "nothing is in the panel", panel["title"], query)
        starved[panel["title"]] = sum(float(row["value"][1]) for row in found
                                      if row["metric"].get("job_id") == "7001")
        if panel["title"].startswith("Jobs that wait"):
            for row in found:
                say("dashboard:", row["metric"]["job_id"], row["value"][1])
    # However a scrape falls between the moments at which a rank's file is written.
    parts, ratio = starved["What they wait for"], starved["Stall ratio of each job"]
    check(abs(parts - ratio) < 0.05, "parts and whole", parts, ratio)


def check_live():
    folder, metrics = scratch(), scratch()
    left = os.path.join(metrics, "dlprof-1-2.prom")
    with open(left, "w") as file:
        file.write('dlprof_last_batch_timestamp_seconds{job_id="6999",rank="0",local_rank="0"} 1\n'
                   'dlprof_updated_timestamp_seconds{job_id="6999",rank="0",local_rank="0"} 1\n')
    trainings = [train(folder, metrics, plan, job, rank) for plan, job, rank in (
        (FED, "7001", 0), (STARVED, "7001", 1), (FED, "7002", 0), (FED, "7002", 1))]
    try:
        with Servers(metrics) as prometheus:
            firing = wait_for_alert(prometheus)
            jobs = {(alert["labels"]["alertname"], alert["labels"]["job_id"]) for alert in firing}
            check(("DlprofJobStarved", "7001") in jobs, "no alert for the starved rank", jobs)
            equal({job for _, job in jobs}, {"7001"}, "jobs with an alert")
            for alert in firing:
                summary = alert["annotations"]["summary"]
                say(alert["labels"]["alertname"] + ":", summary)
                check("rank 1" in summary, "the rank is not named", summary)
            check_dashboard(prometheus)
            text = "".join(open(os.path.join(metrics, name)).read() for name in os.listdir(metrics)
                           if name.endswith(".prom") and "dlprof-1-2" not in name)
    finally:
        for training in trainings:
            training.terminate()
        for training in trainings:
            training.wait(60)
    one = re.split("(?<=# EOF\n)", text)[0]
    done = run(["promtool", "check", "metrics"], text_in=one)
    equal((done.status, done.out + done.err), (0, ""), "promtool check metrics of a live file")


for tool in TOOLS:
    if not shutil.which(tool):
        skip(tool + " is not there: tests/fleet/install.sh")
need_shim()
need_torch()
for name, what in (("rules.yml", "rules"), ("prometheus.yml", "config")):
    done = run(["promtool", "check", what, os.path.join(FLEET, name)])
    equal(done.status, 0, "promtool check", what, done.out, done.err)
    say(" ".join(done.out.split()))
check_rules()
equal(servers.survivors(["prometheus-node-exporter", "--web.listen-address=127.0.0.1:{}".format(
    servers.free_port())]), [], "servers of a killed test")
check_live()
finish()
