# SPDX-License-Identifier: Apache-2.0
"""What the report says of slow trainings whose cause and cure are known, against what cures them.

usage: cases.py [--runs N] [--only NAME,...] [--keep FOLDER] [--timeout S] [--python PATH]
                [-o FILE] FOLDER

FOLDER holds scripts NN_name.py. Each trains, prints "STOPWATCH stall P % wait ... N batches
R batches/s" by its own clock, and with --fix does the same without its cause of slowness. Both are
run in turns, N times each (3), under `dlprof run`. FILE.md and FILE.json (cases) get one row a
script; the databases stay in the folder of --keep. Scripts run in FOLDER, and their data in
CASE_DATA, if that is set.

The row is of the broken run whose rate is the median. "Real" is the median rate of the fixed runs
over that of the broken ones. It means something only on a machine that does nothing else, so the
load average stands at the top. Where a report contradicts itself, that is said below the table.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import claims  # noqa: E402
import dlprof_test as t  # noqa: E402

STOPWATCH = re.compile(r"^STOPWATCH stall ([\d.]+) %.*?(\d+) batches +([\d.]+) batches/s", re.M)
AT_EXIT = re.compile(r"^dlprof: .*? (?:waited )?(< )?([\d.]+) %", re.M)
COLUMNS = ("Case", "Stopwatch", "Report", "Verdict", "Line at exit", "Why", "Line", "Load", "Next",
           "Real")


def parse():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2].partition("\n\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="numbers or names, separated by commas")
    parser.add_argument("--keep")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--python", default=t.PYTHON)
    parser.add_argument("-o", dest="output", default="cases")
    return parser.parse_args()


def scripts(options):
    wanted = [word for word in options.only.split(",") if word]
    names = sorted(name for name in os.listdir(options.folder) if re.match(r"\d+_.*\.py$", name))
    return [name for name in names
            if not wanted or any(name == word or name.startswith((word + "_", word + "."))
                                 for word in wanted)]


def report(database, *arguments):
    env = t.environment(preload=False, COLUMNS="80", LC_ALL="C.UTF-8")
    done = subprocess.run([t.REPORT] + list(arguments) + [database], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout.decode(errors="replace")


def item(screen, label):
    """The text behind a label of the screen, which may take several lines."""
    found = re.search(r"^  {:7}(\S.*(?:\n {{9,}}\S.*)*)".format(label), screen, re.M)
    return re.sub(r"\s+", " ", found[1]) if found else None


def first_sentence(text):
    return re.split(r"(?<=[.?])\s", text, maxsplit=1)[0] if text else None


def promises(found):
    """Of each next step: what it is, the factor, and from where to where that may be."""
    rows = {row["id"]: row for row in found["whatif"]}
    was = rows["baseline"]["batches_per_s"] if "baseline" in rows else None
    ideal = 1 + rows["synthetic"]["gain"] if "synthetic" in rows else None
    for step in found["advice"][:3]:
        if step["id"] == "none":
            continue
        row = rows.get(step.get("whatif"))
        low = high = None
        if step.get("ci95") and step["ci95"][0] is not None:
            low, high = (1 + gain for gain in step["ci95"])
        elif row and row["ci95"] and row["ci95"][0] is not None and was:
            low, high = (rate / was for rate in row["ci95"])
        elif step.get("at_most") and step["gain"] is not None:
            low, high = 1, 1 + step["gain"]
        if high and ideal and not step.get("at_most"):
            high = min(high, ideal)
        yield {"id": step["id"], "text": step["text"].rstrip("."), "low": low, "high": high,
               "factor": None if step["gain"] is None else 1 + step["gain"]}


def at_exit(said, ratio):
    """What the line at exit says, and whether the report says the same to its last digit."""
    found = AT_EXIT.search(said)
    if not found or ratio is None:
        return found and found[0], found is None and ratio is None
    share = float(found[2])
    if found[1]:
        return found[0], 100 * ratio < share
    return found[0], abs(share - 100 * ratio) <= 0.5 * 10 ** -len(found[2].partition(".")[2]) + 0.05


def run_once(options, name, is_fixed, folder, number):
    """What one run said; None: it failed."""
    database = os.path.join(folder, "{}{}-{}.db".format(name[:-3], "-fix" * is_fixed, number))
    for old in (database, database + "-wal", database + "-shm"):
        if os.path.exists(old):
            os.unlink(old)
    command = [t.DLPROF, "run", "--exec", "-o", database, options.python, name]
    process = subprocess.Popen(command + ["--fix"] * is_fixed, cwd=options.folder,
                               env=t.environment(preload=False, PYTHONWARNINGS="ignore"),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = process.communicate(timeout=options.timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        t.say(name, "took longer than", options.timeout, "s")
        return None
    own = STOPWATCH.search(out.decode(errors="replace"))
    if process.returncode or not own:
        t.say(name, "ended with", process.returncode, err.decode(errors="replace")[-400:])
        return None
    t.wait_for_drain(database)
    text = report(database, "--json")
    if not text:
        t.say(name, "has no report")
        return None
    found, screen, whole = json.loads(text), report(database), report(database, "-v")
    ratio = found["stall"]["ratio"]
    line, is_same = at_exit(err.decode(errors="replace"), ratio)
    return {"database": database, "stall": float(own[1]) / 100, "rate": float(own[3]),
            "batches": int(own[2]), "ratio": ratio, "verdict": found["verdict"],
            "cause": found["cause"], "why": first_sentence(item(screen, "Why")),
            "line": item(screen, "Line"), "load": item(screen, "Load"),
            "next": list(promises(found)), "at_exit": line, "is_same_at_exit": is_same,
            "contradictions": claims.check(screen, found) + claims.check(whole, found)}


def median_of(runs):
    """The run whose rate is the median, of two the slower one."""
    return sorted(runs, key=lambda run: run["rate"])[(len(runs) - 1) // 2]


def place(step, real):
    """Whether the real gain lies in the range that was promised, to a hundredth."""
    if step["low"] is None or real is None:
        return "no range"
    if real > step["high"] + 0.01:
        return "above"
    return "below" if real < step["low"] - 0.01 else "inside"


def judge(name, broken, fixed):
    """A row; `broken` has a run or more."""
    row = dict(median_of(broken), name=name[:-3], broken=[run["rate"] for run in broken],
               fixed=[run["rate"] for run in fixed], real=None)
    if fixed:
        row["real"] = statistics.median(row["fixed"]) / statistics.median(row["broken"])
        row["fixed_verdict"] = median_of(fixed)["verdict"]
    for step in row["next"]:
        step["place"] = place(step, row["real"])
    row["other_causes"] = sorted({run["cause"] for run in broken} - {row["cause"]})
    row["off"] = max((abs(run["ratio"] - run["stall"]) for run in broken
                      if run["ratio"] is not None), default=None)
    row["contradictions"] = sorted({wrong for run in broken + fixed
                                    for wrong in run["contradictions"]})
    row["at_exit"] = ["{}; report {}".format(run["at_exit"], percent(run["ratio"]))
                      for run in broken + fixed if not run["is_same_at_exit"]]
    return row


def percent(ratio):
    return "-" if ratio is None else "{:.1f} %".format(100 * ratio)


def words_of(step):
    text = "{} ({})".format(step["text"], step["id"])
    if step["factor"] is not None:
        text += ": {:.2f}x".format(step["factor"])
    if step["low"] is not None:
        text += " ({:.2f} to {:.2f}): {}".format(step["low"], step["high"], step["place"])
    return text


def cells(row):
    why = "{} ({})".format(row["why"] or "-", row["cause"])
    if row["other_causes"]:
        why += "; other runs: " + ", ".join(row["other_causes"])
    return (row["name"], percent(row["stall"]),
            "{}, off by {}".format(percent(row["ratio"]), percent(row["off"])), row["verdict"],
            "<br>".join(row["at_exit"]) or "the same", why, row["line"] or "-",
            row["load"] or "-",
            "<br>".join("{}. {}".format(i, words_of(s)) for i, s in enumerate(row["next"], 1))
            or "-", "-" if row["real"] is None else "{:.2f}x".format(row["real"]))


def write(options, rows, loads):
    head = "load average {:.1f} at the start, {:.1f} at the end; {} runs of each; {}".format(
        loads[0], loads[1], options.runs, options.python)
    with open(options.output + ".json", "w", encoding="utf-8") as file:
        json.dump({"load_average": loads, "runs": options.runs, "cases": rows}, file, indent=1)
    with open(options.output + ".md", "w", encoding="utf-8") as file:
        file.write(head + "\n\n")
        for line in (COLUMNS, ["---"] * len(COLUMNS)) + tuple(map(cells, rows)):
            file.write("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n")
        for row in rows:
            for wrong in row["contradictions"]:
                file.write("\n{} contradicts itself: {}\n".format(row["name"], wrong))
    t.say(head)


def main():
    options = parse()
    options.folder = os.path.abspath(options.folder)
    names = scripts(options)
    t.need_shim()
    t.check(names, "no script in", options.folder)
    folder = os.path.abspath(options.keep) if options.keep else t.scratch()
    os.makedirs(folder, exist_ok=True)
    rows, loads = [], [os.getloadavg()[0]]
    for name in names:
        begin, runs = time.monotonic(), ([], [])
        for i in range(2 * options.runs):
            done = run_once(options, name, i % 2 == 1, folder, i // 2 + 1)
            if t.check(done, name, "--fix" * (i % 2), "was not measured"):
                runs[i % 2].append(done)
        if not runs[0]:
            continue
        rows.append(judge(name, *runs))
        t.say("{} {:.0f} s: {}".format(name, time.monotonic() - begin, " | ".join(cells(rows[-1]))))
        # After each: what was measured stays if the next one is interrupted.
        write(options, rows, loads + [os.getloadavg()[0]])
    t.finish()


main()
