# SPDX-License-Identifier: Apache-2.0
"""Makes runs for tests of the gate: similar ones, slower, short, and with lost records."""
import os
import re

import dlprof_test as t
import rundb

CLEAR = {"GITHUB_ACTIONS": None, "GITHUB_STEP_SUMMARY": None, "GITHUB_OUTPUT": None,
         "GITHUB_WORKSPACE": None, "LC_ALL": "C.UTF-8"}
LIMITS = """# limits
--limit 'stall.ratio <= 10%'        # AU
--limit stall.ratio.increase<=3pp
  --warn\tstall.wait_p99<=1ms\r
--limit "stall.batches >= 1000"

--warn workers.load_mean<=41ms
--limit=loss.share<=0.5%
--warn stall.receiving<=0.1%
--limit stall.wait_p50<=900ms"""


def report(*arguments, cwd=None, **changes):
    return t.run([t.REPORT] + list(arguments), cwd=cwd,
                 env=t.environment(preload=False, **dict(CLEAR, **changes)))


def gate(*arguments, **keywords):
    return report("gate", *arguments, **keywords)


def make(path, load_ms=40, count=330, workers=4, seed=1, meta=None, known=True, **keywords):
    facts = {"run_id": "run-{}-{}".format(os.path.basename(path), seed),
             "start_unix_ns": str((1766000000 + 3600 * seed) * 10**9)}
    facts.update(meta or {})
    batches = rundb.simulate(count, workers, load_ms, 10, seed=seed, jitter=0.2, known=known)
    return rundb.build(path, [rundb.loader(batches, workers=workers)], meta=facts, **keywords)


class Runs:
    """The runs of the tests: baselines, a run like them, a slower one, and broken ones."""

    def __init__(self, folder):
        self.folder = folder
        self.base = os.path.join(folder, "base")
        os.mkdir(self.base)
        for seed in range(1, 7):
            make(os.path.join(self.base, "b{}.db".format(seed)), seed=seed)
        self.same = make(self.at("same.db"), seed=10)
        self.slow = make(self.at("slow.db"), load_ms=55, seed=11)
        self.short = make(self.at("short.db"), count=200, seed=12)
        self.lost = make(self.at("lost.db"), seed=13, losses=[20])
        self.wide = make(self.at("wide.db"), workers=8, seed=14)
        self.empty = rundb.build(self.at("empty.db"))

        self.validated = self.validate("validated.db", 100, 4)
        self.starved = self.validate("starved.db", 40, 1)

    def validate(self, name, count, workers):
        """Makes a run of 400 batches that hardly wait, and `count` of another loader, which starves."""
        train = rundb.simulate(400, 4, 20, 10)
        validate = rundb.simulate(count, workers, 80, 10)
        later = train[-1]["begin_ns"] + train[-1]["step_ns"] - rundb.START_NS
        for batch in validate:
            batch["begin_ns"] += later
            batch["load_begin_ns"] += later
        return rundb.build(self.at(name), [
            rundb.loader(train, workers=4), rundb.loader(validate, workers=workers)])

    def at(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
        return path


def annotations(text):
    """Returns the annotations in a text, read as GitHub reads workflow commands."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"::(error|warning|notice) ([^:]*)::(.*)", line)
        if not match:
            continue
        properties = dict(pair.split("=", 1) for pair in match.group(2).split(","))
        decode = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}
        unescape = lambda s: re.sub("%(0D|0A|3A|2C|25)", lambda m: decode[m.group(0)], s)
        t.check(not re.search("%(?!0D|0A|3A|2C|25)", line), "a bare %", line)
        found.append((match.group(1), {k: unescape(v) for k, v in properties.items()},
                      unescape(match.group(3))))
    return found
