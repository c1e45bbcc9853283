# SPDX-License-Identifier: Apache-2.0
"""Checks whether the sentences of a report agree with its figures.

check(text, found) returns what does not agree. `text` is the printed report, one screen or with -v;
`found` is the same run's `--json`. Whether the JSON agrees with itself is checked by consistent.py.
Sentences are found by the patterns in WORDS; a sentence that the text lacks is not checked. If the
report's words change, change WORDS; seen() returns which patterns a text contains."""
import math
import re

import consistent

NUMBER = r"[\d,]*\d(?:\.\d+)?"
FACTOR = NUMBER + "x"
SHARE = r"(?:< )?" + NUMBER + " %"
TIME = NUMBER + r" (?:ns|us|ms|s|min \d\d s|h \d\d min|days)"

# Patterns to find in the text, in which each run of blanks and newlines is a single blank.
WORDS = {name: re.compile(words.format(n=NUMBER, x=FACTOR, p=SHARE, t=TIME)) for name, words in {
    # The first line.
    "headline": r"BOUND (?:the GPU waited |the host waited )?({p}) of the time",
    "ideal": r"With ideal input (?:this training|this loop|it) would run ({x})(?: to ({x}))? as fast",
    "lossless": r"nothing lost",
    "sure": r" Sure .*?({n}) batches, (?:({n}) records lost|nothing lost)",
    # The lines after "Why".
    "fewer": r"load fewer batches a second than|cannot keep up with the training",
    "rates": r"({n}) workers? loads? ({n}) batches/s, [\w ]+ would take ({n})",
    "hardly": r"({n}) workers? loads? ({n}) batches/s, hardly more than [\w ]+ would take: ({n})",
    "capacity": r"({n}) workers? can load ({n}) batches/s; without waiting the [\w ]+ would take "
                r"({n})",
    "longer": r"({n}) times as long",
    "asks": r"asks its worker for {n} descriptors? and waits ({t}) for each",
    "load": r" (?:Load +|One load takes )({t})",
    "cost": r"(?:It takes|They take) {t}, ({p}) of the time\.",
    "also": r"Also: [\w ,]+, ({p}) of the time\.",
    "steps_first": r"That is time of steps",
    "cold": r"Its loads take ({t}), later ones ({t}); for ({p}) of its time the training waits for "
            r"unfinished batches, later for ({p})",
    "shift": r"on loads take ({t}), before ({t})",
    "of_counted": r"({n}) of ({n}) (?:steady batches|steps|workers|batches|ranks)\b",
    # The lines after "Next" and "No".
    "range": r"({x})(?: as fast)? \(({x}) to ({x})",
    "shared": r"\(({x}) to {x}[^()]*\) num_workers={n}; no gain if",
    "bound": r"(?:at most|up to) ({x})",
    "enough": r"({n}) (?:\w+ )?would be enough|num_workers=({n})|workers, ({n}) in all",
    "not_enough": r"no number is enough",
    # A load's or step's parts: "57 ms: libjpeg 47 %, asleep 0 %".
    "shares": r" (?:Load|Step) +({t}): ([^%,]+ {p}(?:, (?!partly)[^%,]+ {p})*)(, partly at the same time)?",
    # Only with -v.
    "interval": r"Interval +({p}) to ({p}) \(95 %\) as this run's batches vary",
}.items()}

# Each of these patterns must be found in some report of a test with runs of all kinds.
EVERYDAY = {"headline", "ideal", "lossless", "sure", "rates", "capacity", "fewer", "longer", "cost",
            "also", "of_counted", "range", "enough", "interval"}

# For each prediction: the pattern that advises it, and the words that call it useless. One screen
# must not have both.
EITHER = {
    "workers_x2": (r"[Uu]se more workers|num_workers=\d+\)", "more workers"),
    "prefetch_x4": (r"prefetch_factor=\d", "prefetch_factor"),
    "in_order_false": (r"in_order=False", "in_order=False"),
    "persistent": (r"persistent_workers=True", "persistent workers"),
}

PARTS = (r"[█▓▚▒░·#=%+.-] (not ready|waiting|receiving|sampling|epoch start|epoch end|end|step) "
         r"({}) %")
BANDS = (("NOT INPUT-BOUND", 0, 5), ("MODERATELY INPUT-BOUND", 5, 20),
         ("HIGHLY INPUT-BOUND", 20, 200))
SHARES_SLACK = 2  # percentage points by which a sum of rounded shares may differ from the whole
# A row of the predictions: setting, batches a second, range, gain, waiting.
ROW = r"    (\S.*?) {{2,}}{n} .* (-|[-+][\d,]+ %) +([-<\d].*%|\?)$".format(n=NUMBER)
NO_NUMBER = r"(?<![\w./])[-+]?(?:nan|inf)(?![\w./])"
MINUS_NOTHING = r"(?<![\w.,-])-0(?:\.0+)?(?![\w.,:-])"

# Causes and advice about workers, which a run with num_workers=0 must not have.
OF_WORKERS = {"loader_capacity", "cpu_contention", "slow_worker", "head_of_line", "idle_workers",
              "worker_interpreter", "too_many_workers", "persistent_workers", "fix_slow_worker",
              "prefetch_or_in_order_false", "use_fewer_workers", "more_loader_capacity",
              "more_shards", "file_system_sharing", "uneven_shards", "even_shards"}
# Causes and advice about the CPU; loads that sleep more than ASLEEP_MOST must not have them.
OF_CPU = {"cpu_contention", "reduce_cpu_per_batch"}
ASLEEP_MOST = 0.8

# Advice whose gain does not come from less waiting.
OF_STEPS = consistent.STEPS + ("own_threads", "move_out_of_process")


def flat(text):
    return re.sub(r"\s+", " ", text)


def value(words):
    """Returns a number, factor or share as a number, and a time in seconds."""
    number = float(re.search(NUMBER, words)[0].replace(",", ""))
    for unit, seconds in ((" ns", 1e-9), (" us", 1e-6), (" ms", 1e-3)):
        if words.endswith(unit):
            return number * seconds
    if " min " in words or " h " in words:
        first, second = (float(n) for n in re.findall(r"\d+", words))
        return 60 * first + second if " min " in words else 3600 * first + 60 * second
    return number * 86400 if words.endswith(" days") else number


def grain(words):
    """Returns half a unit of the last printed digit: the largest error by rounding."""
    number = re.search(NUMBER, words)[0]
    return 0.5 * 10.0 ** -len(number.partition(".")[2])


def seen(text):
    """Returns the names of the patterns in WORDS that a text contains."""
    return {name for name, words in WORDS.items() if words.search(flat(text))}


class Text:
    """A report's text and JSON, and the contradictions found so far."""

    def __init__(self, text, found):
        self.lines, self.flat, self.found = text, flat(text), found
        self.wrong = []
        # The first screen ends at its line "More"; -v prints details below.
        self.screen = text[:text.find("\n  More ")] if "\n  More " in text else text
        self.workers = (found.get("workers") or {}).get("count")

    def say(self, *words):
        self.wrong.append(" ".join(str(word) for word in words))

    def all(self, name):
        """Yields, for each match of a pattern in WORDS, the whole match and its groups."""
        for match in WORDS[name].finditer(self.flat):
            yield (match[0],) + match.groups()

    def first(self, name):
        return next(self.all(name), None)

    def has(self, name):
        return WORDS[name].search(self.flat) is not None


def check_head(t):
    headline = t.first("headline")
    if not headline:
        return
    share, most = value(headline[1]), grain(headline[1])
    for words, low, high in BANDS:
        # "NOT INPUT-BOUND" may go with a larger share if the GPU's clock is used, or waits cost
        # nothing.
        if words in t.flat and not low - most <= share < high + most and low:
            t.say(words, "at", headline[1])
    parts = re.findall(PARTS.format(NUMBER), t.screen)
    if parts:
        waiting = sum(float(share) for name, share in parts if name != "step")
        whole = sum(float(share) for _, share in parts)
        if abs(whole - 100) > 1e-6:
            t.say("the parts of the bar sum to", whole, parts)
        if abs(waiting - share) > 0.5 + 1e-6 and t.found["clock"] == "host":
            t.say("the bar's waiting is", waiting, "and the headline says", headline[1])
    interval = t.first("interval")
    if interval and t.found["clock"] == "host" and not (
            value(interval[1]) - grain(interval[1]) <= share + most and
            share - most <= value(interval[2]) + grain(interval[2])):
        t.say("not around", headline[1], ":", interval[0])


def check_rates(t):
    for sentence, _, have, take in t.all("hardly"):
        if value(have) < value(take):
            t.say("fewer batches, not hardly more:", sentence)
    is_fewer = t.has("fewer") and not t.has("hardly")
    for name in ("rates", "capacity"):
        for sentence, _, have, take in t.all(name):
            if is_fewer and value(have) >= value(take):
                t.say("fewer batches than the training takes, and:", sentence)
    rates, capacity = t.first("rates"), t.first("capacity")
    if rates and capacity and rates[1] == capacity[1] and \
            abs(value(rates[2]) / value(capacity[2]) - 1) > 0.02:
        t.say("two figures of one capacity:", rates[0], "and", capacity[0])


def check_comparisons(t):
    for sentence, factor in t.all("longer"):
        if value(factor) <= 1:
            t.say("not longer:", sentence)
    for sentence, first, later, first_share, later_share in t.all("cold"):
        if value(first) <= value(later) or value(first_share) <= value(later_share):
            t.say("the first is no slower:", sentence)
    for sentence, after, before in t.all("shift"):
        if value(after) <= value(before):
            t.say("no longer than before:", sentence)
    for sentence, some, of_all in t.all("of_counted"):
        if value(some) > value(of_all):
            t.say("more than there are:", sentence)
    asks, load = t.first("asks"), t.first("load")
    if asks and load and value(asks[1]) > value(load[1]):
        t.say("a worker answers later than its load ends:", asks[0], "and", load[0])
    for sentence, _, shares, at_once in t.all("shares"):
        if (sum(value(share) for share in re.findall(SHARE, shares)) > 100 + SHARES_SLACK) > bool(at_once):
            t.say("more than all of it:", sentence)
    cost, also = t.first("cost"), t.first("also")
    if cost and also and value(also[1]) > value(cost[1]) and not t.has("steps_first"):
        t.say("the second cause costs more:", cost[0], also[0])


def check_gains(t):
    ideal = t.first("ideal")
    most = value(ideal[2] or ideal[1]) + 2 * grain(ideal[2] or ideal[1]) if ideal else None
    if ideal and value(ideal[1]) < 1:
        t.say("ideal input is slower:", ideal[0])
    gain_max = t.found["stall"].get("gain_max")
    if ideal and gain_max and abs(value(ideal[1]) - gain_max) > 2 * grain(ideal[1]):
        t.say("ideal input brings", ideal[1], "and its figure is", gain_max)
    gain_alone = t.found["stall"].get("gain_alone")
    if ideal and ideal[2] and (value(ideal[2]) <= value(ideal[1]) or not gain_alone or
                               abs(value(ideal[2]) - gain_alone) > 2 * grain(ideal[2])):
        t.say("ideal input brings up to", ideal[2], "and its figure is", gain_alone)
    for sentence, gain, low, high in t.all("range"):
        slack = grain(gain) + grain(low) + grain(high)
        if value(low) > value(high) or not \
                value(low) - slack <= value(gain) <= value(high) + slack:
            t.say("a range that does not hold its gain:", sentence)
        if most and value(high) > most:
            t.say("more than ideal input brings,", ideal[0], "is promised:", sentence)
        if value(gain) < 1 and sentence in flat(t.screen):
            t.say("advised, and slower:", sentence)
    for sentence, low in t.all("shared"):
        if value(low) > 1 + grain(low):
            t.say("perhaps no gain, and a range of gains alone:", sentence)
    if most and not any(step["id"] in OF_STEPS for step in t.found["advice"]):
        for sentence, bound in t.all("bound"):
            if value(bound) > most:
                t.say("more than ideal input brings,", ideal[0], "is promised:", sentence)
    for row in t.found["whatif"]:
        waiting = row["stall_ratio"]
        if waiting is not None and not -1e-9 <= waiting <= 1 + 1e-9:
            t.say("waiting of", row["id"], "is", waiting)
    check_table(t)


def check_table(t):
    """Checks the predictions of -v: "as it was" waits as the headline says, and no share is
    negative."""
    headline = t.first("headline")
    for line in t.lines.splitlines():
        found = re.match(ROW, line)
        if not found:
            continue
        if found[3].startswith("-") or value(found[3]) > 100:
            t.say("no share:", flat(line).strip())
        if found[1] == "as it was" and headline and t.found["clock"] == "host" and \
                abs(value(found[3]) - value(headline[1])) > 1:
            t.say("as it was it waits", found[3], "and the headline says", headline[1])


def check_choices(t):
    advice = t.found["advice"]
    ids = {step["id"] for step in advice} | {step.get("whatif") for step in advice}
    for row in t.found["not_useful"]:
        if row["id"] in ids:
            t.say(row["id"], "is advised, and does not help")
    steps = re.search(r"\n  Next .*?(?=\n  [A-Z]|\n\n  [A-Z]|\Z)", t.screen, re.S)
    useless = re.search(r"\n  No     (.*)", t.screen)
    if steps and useless:
        for words, answer in EITHER.values():
            if re.search(words, flat(steps[0])) and answer in useless[1]:
                t.say("advised, and under No:", answer)
    if t.has("not_enough") and any(
            step["id"] == "more_loader_capacity" for step in advice):
        t.say("more workers are advised, and no number is enough")
    for sentence, *counts in t.all("enough"):
        for count in counts:
            if count and value(count) < 1:
                t.say("of no worker:", sentence)


def told(t):
    """Returns the text of the advice and its reasons, without tables."""
    texts = [text for step in t.found["advice"] for text in (step["text"], step["how"]) if text]
    why = re.search(r"\n  Why .*?(?=\n  [A-Z]|\n\n|\Z)", t.screen, re.S)
    return flat(" ".join(texts + [why[0] if why else ""]))


def check_evidence(t):
    """Checks that no advice is about something that this run lacks, or that was not observed."""
    words, breakdown = told(t), t.found.get("breakdown") or {}
    if not breakdown.get("decode_s") and not t.found.get("decoders") and \
            re.search(r"\b(?:image|decod)(?!ing (?:included|and CPU time))", words, re.I):
        t.say("nothing was decoded:", words)
    has_gpu = t.found["clock"] == "gpu" or t.found.get("gpu") or \
        (t.found.get("coverage") or {}).get("gpu_observed")
    if not has_gpu and "pin_memory" in words and "with a GPU" not in words:
        t.say("pin_memory, and no GPU was seen:", words)
    # A loader of kind "marks" with workers is the demo's, which counts as PyTorch's.
    kinds = [row["kind"] for row in t.found.get("loaders") or ()
             if row["judged"] and not (row["kind"] == "marks" and row["workers"])]
    # With the advice to use workers comes that they persist.
    is_none = t.workers == 0 and "num_workers=" not in words
    if "persistent_workers" in words and (is_none or any(
            kind and not kind.startswith(("torch.", "torchdata.Stateful", "imported")) for kind in kinds)):
        t.say("persistent_workers of", t.workers, "workers of", kinds)
    if t.workers == 0:
        ids = [row["id"] for row in t.found["causes"] + t.found["advice"]]
        for name in ids + [t.found["cause"]]:
            if name in OF_WORKERS:
                t.say(name, "without workers")
        if "thread receives them" in words:
            t.say("a thread is to receive batches that no worker sends:", words)
    loads_s, asleep_s = breakdown.get("load_s"), breakdown.get("waits_s")
    if loads_s and asleep_s and asleep_s > ASLEEP_MOST * loads_s:
        for row in t.found["causes"][:1] + t.found["advice"]:
            if row["id"] in OF_CPU:
                t.say(row["id"], "of loads that sleep {:.0%} of their time".format(
                    asleep_s / loads_s))
    lost = (t.found.get("loss") or {}).get("events") or (t.found.get("loss") or {}).get("batches")
    if lost and t.has("lossless"):
        t.say("nothing lost, of", lost, "that are lost")


def check_figures(t):
    for line in t.lines.splitlines():
        for pattern in (NO_NUMBER, MINUS_NOTHING):
            # Names of functions, files and commands may contain anything.
            if not re.search(r"[/_(]|\.py|Command", line) and re.search(pattern, line):
                t.say("no figure:", flat(line).strip())

    def walk(path, part):
        if isinstance(part, dict):
            for key, inner in part.items():
                walk(path + "." + key, inner)
        elif isinstance(part, list):
            for inner in part:
                walk(path, inner)
        elif isinstance(part, float) and (not math.isfinite(part) or
                                          (part == 0 and math.copysign(1, part) < 0)):
            t.say("no figure:", path, part)
    walk("json", t.found)


CHECKS = (check_head, check_rates, check_comparisons, check_gains, check_choices, check_evidence,
          check_figures)


def check(text, found):
    """Returns contradictions between text and JSON as a list of texts; empty: there are none."""
    if "jobs" in found or "job" in found:
        return []
    t = Text(text, found)
    for part in CHECKS:
        part(t)
    return t.wrong
