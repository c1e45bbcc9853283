# SPDX-License-Identifier: Apache-2.0
"""Checks whether a report contradicts itself: check(report) returns what is wrong in its JSON.

dlprof_test.report() calls it for every JSON report that a test makes."""
WORDS = (("not_input_bound", 0, 0.05), ("moderately_input_bound", 0.05, 0.2),
         ("highly_input_bound", 0.2, 2))
PARTS = ("not_ready", "receiving", "sampling", "epoch_start", "epoch_end")
# Causes that are time of steps; all other causes are waiting.
PAUSES = ("main_thread_periodic", "saving", "logging", "step_line", "steps_held", "around_loader")
# Advice whose gain does not come from less waiting.
STEPS = ("work_in_workers", "reduce_main_thread_event", "pageable_h2d", "hide_copies")
TOLERANCE = 0.02
MORE_WORKERS = ("workers_x2", "more_workers", "use_workers")


def check_account(found, say):
    stall = found["stall"]
    parts = [stall[part] for part in PARTS if part != "sampling" or stall[part] is not None]
    if stall["ratio"] is None or None in parts:
        return
    if abs(sum(parts) - stall["ratio"]) > 1e-6:
        say("the parts sum to", sum(parts), "and the ratio is", stall["ratio"])
    if stall["time_s"] and abs(stall["wait_s"] / stall["time_s"] - stall["ratio"]) > 1e-6:
        say("the ratio is not wait_s / time_s", stall)
    if stall["ratio"] < 1 and abs(stall["gain_max"] * (1 - stall["ratio"]) - 1) > 1e-4:
        say("gain_max is not that of no waiting", stall)
    if stall["gain_max"] is not None and not stall["gain_alone"] >= stall["gain_max"] * (1 - 1e-9):
        say("gain_alone is below gain_max", stall)


def check_verdict(found, say):
    ratio = found["stall"]["ratio"]
    for word, low, high in WORDS:
        if found["verdict"] == word and found["clock"] == "gpu" and not low <= ratio < high:
            say(word, "by the GPU's clock at", ratio)
        elif found["verdict"] == word and not (low <= ratio < high or word == WORDS[0][0]):
            say(word, "at", ratio)
        if found["verdict"] == word and bool(found["starved"]) != (word != WORDS[0][0]):
            say(word, "and starved is", found["starved"])


def check_causes(found, say):
    stall, causes = found["stall"], found["causes"]
    waiting = [cause for cause in causes if cause["id"] not in PAUSES]
    seconds = [cause["s"] for cause in waiting]
    # In a highly input-bound training, the first cause must be one of waiting.
    highly = found["verdict"] == "highly_input_bound"
    if causes != sorted(causes, key=lambda cause: (highly and cause["id"] in PAUSES, -cause["s"])):
        say("the causes are not sorted", causes)
    first = causes[0]["id"] if causes else None
    if first != (found["cause"] if found["cause"] != "none" else None):
        say("the cause is", found["cause"], "and the first is", first)
    if seconds and sum(seconds) > stall["wait_s"] * (1 + 1e-6):
        say("the causes are", sum(seconds), "s of", stall["wait_s"], "s of waiting")
    if len({cause["id"] for cause in causes}) != len(causes):
        say("a cause stands twice", causes)
    # Where a sampler chooses in iter(), that time is the sampler's, with what it takes before batches.
    chosen = sum(cause["share"] for cause in causes if cause["id"] == "sampler") - (stall["sampling"] or 0)
    restart = (stall["epoch_start"] or 0) + (stall["epoch_end"] or 0) - max(chosen, 0)
    for cause in causes:
        for name, share in (("delivery", stall["receiving"]), ("epoch_start", restart)):
            if cause["id"] == name and abs(cause["share"] - (share or 0)) > 1e-6:
                say(name, "is", cause["share"], "and its part is", share)


def check_advice(found, say):
    rows = {row["id"]: row for row in found["whatif"]}
    names = [advice["id"] for advice in found["advice"]]
    useless = [row["id"] for row in found["not_useful"]]
    # Two small causes of 5 % of waiting leave nothing to do that would gain 5 %.
    worth = any(cause["share"] >= 1 - 1 / 1.05 for cause in found["causes"])
    if found["starved"] and worth and (not names or "none" in names):
        say("it starves, and what to do is", names)
    for advice in found["advice"]:
        row, gain = advice["whatif"], advice["gain"]
        if advice["id"] != "none" and not advice["how"]:
            say(advice["id"], "does not say how")
        if row is not None and (row not in rows or rows[row]["gain"] != gain):
            say(advice["id"], "gains", gain, "and its row is", rows.get(row))
        low = rows[row]["ci95"] if row in rows else None
        # If workers share what their loads wait for, more workers are only a try: the range begins
        # at the run's own rate.
        slack = 1e-6 if row in MORE_WORKERS else 0
        if low and low[0] is not None and low[0] <= rows["baseline"]["batches_per_s"] * (1 - slack):
            say(advice["id"], "may bring nothing:", low, "as it was", rows["baseline"])
        if row is not None and advice["at_most"]:
            say(advice["id"], "is a prediction and a bound")
        if row in useless:
            say(row, "is advised, and does not help")
        if (advice["at_most"] and advice["id"] not in STEPS and gain is not None and
                found["stall"]["gain_alone"] is not None and
                gain > (found["stall"]["gain_alone"] - 1) * (1 + TOLERANCE) + TOLERANCE):
            say(advice["id"], "gains", gain, "of at most", found["stall"]["gain_alone"] - 1)
    if len(set(names)) != len(names) or len(set(useless)) != len(useless):
        say("something stands twice", names, useless)


def check_predictions(found, say):
    rows = {row["id"]: row for row in found["whatif"]}
    for row in found["whatif"]:
        low, high = row["ci95"] or (None, None)
        if row["stall_ratio"] is None or not 0 <= row["stall_ratio"] <= 1:
            say(row["id"], "waits", row["stall_ratio"], "of the time")
        if low is not None and not low <= row["batches_per_s"] <= high:
            say("the range of", row["id"], "does not hold it:", row)
    if "synthetic" in rows and found["stall"]["gain_max"] is not None:
        ideal = 1 + rows["synthetic"]["gain"]
        most = max(1 + row["gain"] for row in found["whatif"] if row["id"] != "synthetic")
        if abs(ideal / max(most, found["stall"]["gain_max"]) - 1) > TOLERANCE:
            say("an ideal loader gains", ideal, "the headline", found["stall"]["gain_max"], "others", most)
    if "baseline" in rows and rows["baseline"]["stall_ratio"] != found["stall"]["ratio"]:
        say("as it was waits", rows["baseline"]["stall_ratio"], "and the headline is",
            found["stall"]["ratio"])
    # With several loaders, the baseline is the rate of one loader, and cannot be compared.
    if "baseline" in rows and found["clock"] == "host" and len(found.get("loaders", [])) == 1:
        rate = found["stall"]["batches"] / found["stall"]["time_s"]
        if abs(rows["baseline"]["batches_per_s"] / rate - 1) > 0.001:
            say("as it was is", rows["baseline"]["batches_per_s"], "of measured", rate)


def check_lines(found, say):
    """Checks that a phase's shares add up to at most 1, and no line appears twice. Lines of other
    threads are added up apart."""
    for phase in ("load", "wait", "step"):
        for is_thread in (False, True):
            rows = [row for row in found["lines"] or ()
                    if row["phase"] == phase and (row["role"] == "thread") == is_thread]
            names = [(row["file"], row["line"], row["function"]) for row in rows]
            if sum(row["share"] for row in rows) > 1 + 1e-6 or len(set(names)) != len(names):
                say("the lines of", phase, "are more than all of it, or one stands twice", rows)
            if any(row["samples"] < 1 or row["error"] == 0 for row in rows):
                say("a line of", phase, "without samples, or without an error", rows)


def check(found):
    """Returns the report's contradictions as a list of texts; empty: there are none."""
    wrong = []

    def say(*words):
        wrong.append(" ".join(str(word) for word in words))

    if "jobs" in found:
        return sum((check(job) for job in found["jobs"]), [])
    # A job's report has only the sum of what its ranks lost, so these checks need a rank's report.
    parts = (check_account, check_verdict, check_causes, check_advice, check_predictions,
             check_lines)
    for part in (check_verdict,) if "job" in found else parts:
        part(found, say)
    return wrong
