# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges: marks as long as they were, steps where nothing else tells them, no harm to a program.

usage: nvtx.py MODULE HOST...: builds of nvtx_host.c, with our own caller of NVTX tools and, where CUDA
is installed, with NVTX's own header.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from dlprof_test import (PYTHON, SHIM, check, environment, equal, finish, need_shim,  # noqa: E402
                         report, rows, run, say, scratch, wait_for_drain)

MODULE, HOSTS = os.path.abspath(sys.argv[1]), [os.path.abspath(path) for path in sys.argv[2:]]
DEEPEST = 4
FLOOD, KEPT_MOST = 100_000, 20_000


class Done:
    """What the program said it did, and the database."""

    def __init__(self, host, script, preload=True, **changes):
        self.database = os.path.join(scratch(), "run.db")
        settings = dict(DLPROF_NVTX="1", DLPROF_OUT=self.database, NVTX_INJECTION64_PATH=None)
        settings.update(changes)
        result = run([host], text_in="\n".join(script) + "\n",
                     env=environment(preload=preload, **settings))
        self.err = result.err
        equal(result.status, 0, "exit status", result.err)
        self.lines = [line.split(" ", 5) for line in result.out.splitlines()]
        # Without the times.
        self.answers = [line[:3] + line[5:] for line in self.lines]
        if preload:
            wait_for_drain(self.database)

    def recorded(self):
        return os.path.exists(self.database)

    def query(self, text):
        return rows(self.database, text)

    def marks(self, which="ns IS NOT NULL"):
        return self.query("SELECT * FROM mark WHERE {} ORDER BY ts_ns".format(which))

    def notes(self):
        return [row["text"] for row in self.query("SELECT text FROM note")]

    def meta(self):
        return {row["key"]: row["value"] for row in self.query("SELECT key, value FROM meta")}


def script_of(text):
    return [line.strip() for line in text.strip().splitlines()]


NESTED = script_of("""
0 push epoch 0
0 push step 1
0 push data
0 sleep 3000
0 pop
0 registered train
0 sleep 2000
0 wide a@b
0 pop
0 pop
0 pop
0 mark half
0 push step 2
0 sleep 1000
0 pop
0 pop
1 push side
1 sleep 4000
1 pop
1 pop
0 pop
""")


def true_ranges(done):
    """(thread, text) -> the earliest and the latest begin, and end, that it can have had."""
    found, stacks = {}, {}
    for thread, call, _, before, after, text in done.lines:
        stack = stacks.setdefault(thread, [])
        if call in ("push", "registered", "wide"):
            stack.append((text if call == "push" else None, int(before), int(after)))
        elif call == "pop" and stack:
            name, low, high = stack.pop()
            found[name] = (low, high, int(before), int(after))
    del found[None]  # not read; but its pop was no other's
    return found


def check_nested(host):
    done = Done(host, NESTED)
    truth = true_ranges(done)
    marks = {row["text"]: row for row in done.marks()}
    equal(sorted(marks), sorted(truth), "names")
    for name, (low, high, end_low, end_high) in truth.items():
        begin, end = marks[name]["ts_ns"], marks[name]["ts_ns"] + marks[name]["ns"]
        # A nanosecond more than the clock where two begin in the same one.
        check(low <= begin <= high + 10 and end_low <= end <= end_high + 10, name,
              (low, high, end_low, end_high), (begin, end))
    equal(len({row["tid"] for row in marks.values()}), 2, "threads")
    equal(done.marks("ns IS NULL"), [], "moments")
    equal(done.query("SELECT * FROM loss"), [], "losses")
    equal(done.meta().get("nvtx"), "recorded", "meta")
    plain = Done(host, NESTED, preload=False)
    by_thread = [[a for a in d.answers if a[0] == "0"] for d in (done, plain)]
    equal(by_thread[0], by_thread[1], "what comes back is what comes back without a tool")
    events = json.loads(report("trace", done.database).out)["traceEvents"]
    equal(sorted(e["name"] for e in events if e["ph"] == "X"), sorted(truth), "in the trace")


def check_off(host):
    """Not asked for: no tool, no database. Asked for wrongly: a note, and none either."""
    for value in None, "0", "", "x" * 64:
        done = Done(host, NESTED, DLPROF_NVTX=value)
        check(not done.recorded(), "recorded with DLPROF_NVTX =", value)
    done = Done(host, NESTED, DLPROF_NVTX="x" * 64, DLPROF_ACTIVATE="always")
    check(any("DLPROF_NVTX wants" in text for text in done.notes()), "note", done.notes())
    equal(done.marks("1"), [], "marks")
    code = "import os; print(os.environ.get('NVTX_INJECTION64_PATH'))"
    for value, expected in (("0", "None"), ("1", os.path.realpath(SHIM))):
        out = run([PYTHON, "-c", code], env=environment(DLPROF_NVTX=value)).out.strip()
        equal(os.path.realpath(out) if out != "None" else out, expected, "path with", value)


def check_other_tool(host):
    done = Done(host, NESTED, NVTX_INJECTION64_PATH=MODULE, DLPROF_ACTIVATE="always")
    check("another tool" in done.err, "their tool was called", done.err)
    equal(done.marks("1"), [], "marks")
    why = "not recorded: NVTX_INJECTION64_PATH is another tool's"
    equal(done.meta().get("nvtx"), why, "meta")
    check(why in report("-v", done.database).out, "the report's coverage")
    equal(json.loads(report("--json", done.database).out)["coverage"]["nvtx"], why, "JSON")


def steps_script(name, count, between="0 sleep 1000", thread=0, pop=True):
    script = []
    for i in range(count):
        script += ["{} push {}".format(thread, name.format(i)), between] + ["0 pop"] * pop
    return script


def true_steps(done, name):
    return [(int(line[3]), int(line[4])) for line in done.lines
            if line[1] == "push" and line[5].startswith(name)]


def check_steps_of(done, name, what):
    found = done.query("SELECT * FROM batch ORDER BY begin_ns")
    truth = true_steps(done, name)
    equal(len(found), len(truth) - 1, what, "steps")
    for row, (low, high), (end_low, end_high) in zip(found, truth, truth[1:]):
        check(low <= row["begin_ns"] <= high and
              end_low <= row["begin_ns"] + row["step_ns"] <= end_high, what, row["batch"])
        equal((row["wait_ns"], row["compute_ns"]), (None, None), what, "not observed")
    equal([row["kind"] for row in done.query("SELECT kind FROM loader")], ["nvtx"], what, "loader")


def other_steps(count):
    """Of another thread, which is later than the main one, though all begin together."""
    return ["1 sleep 200000"] + count * ["1 push step 9", "1 sleep 700", "1 pop"]


def check_steps(host):
    """By name; the outermost of those that are nested; of the main thread, whatever others do."""
    inner = "0 push step of {0}\n0 push train_step\n0 sleep 500\n0 pop\n0 pop"
    cases = {
        "iteration": (steps_script("iteration {}", 20), "1"),
        "ProfilerStep": (steps_script("ProfilerStep#{}", 20), "1"),
        "work": (steps_script("work {}", 20), "work"),
        "global": (steps_script("global step {}", 20, inner), "1"),
    }
    cases["step"] = (steps_script("step {}", 20) + other_steps(60), "1")
    for name, (script, asked) in cases.items():
        script = [line for text in script for line in text.split("\n")]
        done = Done(host, script, DLPROF_NVTX=asked)
        if name == "step":
            done.lines = [line for line in done.lines if line[0] == "0"]
        check_steps_of(done, name, name)
    judged = json.loads(report("--json", done.database).out)
    equal(judged["verdict"], "incomplete", "verdict of steps alone")


def check_no_steps(host):
    for name in "optimizer.step", "forward_step", "data":
        done = Done(host, steps_script(name, 10))
        equal(done.query("SELECT * FROM batch"), [], name)
    done = Done(host, other_steps(10))
    equal((done.query("SELECT * FROM batch"), len(done.marks())), ([], 10), "of another thread alone")
    done = Done(host, ["0 start step 1", "0 end 0"] * 10)
    check(not done.recorded(), "ranges that are started say nothing")
    # An inner loop's.
    done = Done(host, ["0 push start", "0 pop", "0 flood iteration"])
    # One more each time the thread loses its core.
    check(len(done.query("SELECT * FROM batch")) < FLOOD // 100, "steps of microseconds")


def check_flood(host):
    done = Done(host, ["0 flood kernel", "0 push after", "0 sleep 1000000", "0 pop", "0 push last", "0 pop"])
    marks = [row["text"] for row in done.marks()]
    check(0 < marks.count("kernel") < KEPT_MOST, "of a flood", marks.count("kernel"))
    check("last" in marks, "there is room again after a second", marks[-1])
    equal(done.query("SELECT * FROM loss"), [], "losses")
    check(any("more NVTX ranges than are kept" in text for text in done.notes()), "note", done.notes())
    say("kept of", FLOOD, ":", marks.count("kernel"))
    done = Done(host, ["0 flood kernel", "0 sleep 100000"] * 40)
    equal(len(done.marks()), KEPT_MOST, "of more than are kept")
    equal(done.query("SELECT * FROM loss"), [], "losses of more than are kept")


def check_depth(host):
    """The outermost are kept, the others keep the order, also across domains."""
    script = ["0 push deep {}".format(i) for i in range(20)] + ["0 pop"] * 20
    script += ["0 in a first", "0 in b", "0 out b", "0 in a second", "0 out a", "0 out a", "0 out a",
               "0 pop", "0 push end", "0 pop"]
    done = Done(host, script)
    expected = ["deep {}".format(i) for i in range(DEEPEST)] + ["a first", "b", "a second", "end"]
    marks = done.marks()
    equal([row["text"] for row in marks], expected, "kept")
    ends = {row["text"]: row["ts_ns"] + row["ns"] for row in marks}
    check(ends["b"] < ends["a second"] < ends["a first"] < ends["end"], "ends", ends)


def check_hostile(host):
    script = []
    for what in "null", "giant", "attributes", "type", "handle", "short":
        script += ["0 hostile " + what, "0 pop"]
    script += ["0 push good", "0 fork", "0 pop", "0 pop", "0 end 0", "0 push \x01\"\\", "0 pop"]
    done = Done(host, script)
    names = [row["text"] for row in done.marks()]
    equal(sorted(set(names)), sorted({"x" * 87, "good", "\x01\"\\"}), "names")
    equal({line[2] for line in done.lines if line[1] in ("hostile", "pop")}, {"-2"}, "results")
    events = json.loads(report("trace", done.database).out)["traceEvents"]
    check(any(e["name"] == "\x01\"\\" for e in events), "in the trace", events)


TRAINING = """
import ctypes, time
calls = ctypes.CDLL({module!r})
def steps(count):
    for i in range(count):
        calls.call_push(b"step %d" % i)
        time.sleep(0.001)
        calls.call_pop()
"""
LOADERS = {
    "torch.DataLoader": """
import torch.utils.data
loader = torch.utils.data.DataLoader(list(range(20)), num_workers=0)
for batch in loader:
    steps(1)
""",
    "marks": """
shim = ctypes.CDLL(None)
steps(5)
for i in range(20):
    shim.dlprof_batch_begin()
    shim.dlprof_batch_end(ctypes.c_int64(-1))
    steps(1)
""",
}


def check_precedence():
    """Who knows the waits is believed, not the ranges."""
    for kind, loop in LOADERS.items():
        database = os.path.join(scratch(), "run.db")
        done = run([PYTHON, "-W", "ignore", "-c", TRAINING.format(module=MODULE) + loop],
                   env=environment(DLPROF_OUT=database, DLPROF_NVTX="1", NVTX_INJECTION64_PATH=None))
        if "No module named 'torch'" in done.err:
            say("no torch")
            continue
        equal(done.status, 0, kind, done.err)
        wait_for_drain(database)
        found = rows(database, "SELECT kind, COUNT(*) AS n FROM batch JOIN loader USING (loader_id) "
                               "WHERE wait_ns IS NOT NULL GROUP BY 1")
        equal(found, [{"kind": kind, "n": 20}], kind, "batches")
        equal(len(rows(database, "SELECT * FROM batch WHERE wait_ns IS NULL")),
              4 if kind == "marks" else 0, kind, "steps of ranges")
        check(len(rows(database, "SELECT * FROM mark WHERE text LIKE 'step %'")) >= 20, kind, "marks")


def main():
    need_shim()
    for host in HOSTS:
        say(os.path.basename(host))
        for part in (check_nested, check_off, check_other_tool, check_steps, check_no_steps,
                     check_flood, check_depth, check_hostile):
            part(host)
    check_precedence()
    finish()


main()
