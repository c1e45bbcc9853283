# SPDX-License-Identifier: Apache-2.0
"""Checks that hold for the report of any run: of its screen, and that its forms agree."""
import html
import json
import re

import claims
import dlprof_test as t

LINES, COLUMNS = 22, 80
VERDICTS = {"highly_input_bound": "HIGHLY INPUT-BOUND", "incomplete": "INCOMPLETE",
            "moderately_input_bound": "MODERATELY INPUT-BOUND", "not_input_bound": "NOT INPUT-BOUND",
            "in_doubt": "IN DOUBT"}
PARTS = "not ready|waiting|receiving|sampling|epoch start|epoch end|end|step"


def flat(text):
    return re.sub(r"\s+", " ", text)


def words_of(page):
    """Returns the text of a page, without scripts, styles and drawings."""
    page = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", page, flags=re.S)
    return flat(html.unescape(re.sub(r"<[^>]*>", "", page)))


def run(path, *arguments):
    result = t.run([t.REPORT] + list(arguments) + [path],
                   env=t.environment(preload=False, COLUMNS=str(COLUMNS), LC_ALL="C.UTF-8"))
    t.check(result.status in (0, 3), arguments, path, result.err)
    return result.out


def percent(ratio):
    """Returns a share as the report writes it."""
    of_100 = 100 * ratio
    if of_100 == 0:
        return "0 %"
    if of_100 < 0.05:
        return "< 0.1 %"
    return "{:.1f} %".format(of_100) if of_100 < 9.95 else "{:.0f} %".format(of_100)


def check_fits(path, text):
    lines = text.splitlines()
    t.check(len(lines) <= LINES, path, "takes", len(lines), "lines", text)
    for line in lines:
        t.check(len(line) <= COLUMNS, path, "is wider than", COLUMNS, repr(line))


def check_bar(path, text, stall):
    """Checks that the bar's parts sum up to 100, its waits to the headline's share, and its length to both."""
    found = {"epoch end" if name == "end" else name: float(value) for name, value in re.findall(
        r"[\u2588\u2593\u259a\u2592\u2591\u00b7] ({}) ([0-9.]+) %".format(PARTS), text)}
    if not found:
        t.check(stall["ratio"] is None, path, "has no bar", text)
        return
    t.check(abs(sum(found.values()) - 100) < 1e-6, path, "the bar sums to", sum(found.values()))
    waiting = sum(value for name, value in found.items() if name != "step")
    t.check(abs(waiting - 100 * stall["ratio"]) <= (0.051 if stall["ratio"] < 0.0995 else 0.51),
            path, "waiting in the bar", waiting, stall["ratio"])
    for name in ("not_ready", "receiving", "sampling", "epoch_start", "epoch_end"):
        if stall[name] is not None:
            t.check(abs(found.get(name.replace("_", " "), 0) - 100 * stall[name]) <= 1, path, name,
                    found, stall[name])
    bar = [line.strip() for line in text.splitlines()
           if re.fullmatch(r"  [\u2588\u2593\u259a\u2592\u2591\u00b7]+", line)]
    t.equal([len(line) for line in bar], [COLUMNS - 4], path, "the bar")


def check_ceiling(path, screen):
    """Checks that no step's range of gain ends above the gain of ideal input."""
    words = flat(screen)
    most = re.search(r"With ideal input (?:this training|it) would run (?:[\d.]+x to )?([\d.]+)x", words)
    for high in re.findall(r"about [\d.]+x \([\d.]+x to ([\d.]+)x", words):
        t.check(not most or float(high) <= float(most[1]), path, "promises more than ideal input", words)


def check_forms(path, *options):
    """Checks that text, Markdown, HTML and JSON of a run have the same number, verdict, cause and advice."""
    facts = json.loads(run(path, "--json", *options))
    screen = run(path, *options)
    check_fits(path, screen)
    check_bar(path, screen, facts["stall"])
    check_ceiling(path, screen)
    said = [VERDICTS[facts["verdict"]]]
    if facts["verdict"] not in ("incomplete", "in_doubt"):
        said.append(percent(facts["stall"]["ratio"]) + " of the time")
    cause = re.search(r"\n  Why    (.*?)(?=\n\n|\n  [A-Z])", screen, re.S)
    t.equal(cause is not None, facts["cause"] is not None, path, "why", screen)
    if cause:
        said.append(flat(cause[1]))
    advice = [row["text"] for row in facts["advice"] if row["id"] != "none"]
    steps = [found[1] for found in (re.search(
        r" {}\. ({}(?:: (?:about|up to) [\d.]+x(?: \([^)]*\))?)?)".format(
            number, re.escape(flat(text.rstrip(".")))), flat(screen))
        for number, text in enumerate(advice, 1)) if found]
    t.check(min(len(advice), 1) <= len(steps) <= min(len(advice), 3), path, "steps", steps, advice)
    said += steps
    forms = {"text": flat(screen), "-v": flat(run(path, "-v", *options)),
             "Markdown": html.unescape(flat(run(path, "--markdown", *options))).replace("\\", ""),
             "HTML": words_of(run(path, "html", "-o", "-", *options))}
    for text in (screen, run(path, "-v", *options)):
        t.equal(claims.check(text, facts), [], path, "contradicts itself", text)
    for form, text in forms.items():
        t.check("(null)" not in text, path, form, "names nothing", text[:1500])
        for words in said:
            t.check(words in text, path, form, "does not say", repr(words), text[:1500])
        # Only the screen may lack room for all steps of advice and their explanation.
        for row in facts["advice"] if form != "text" else []:
            for words in (row["text"].rstrip("."), row["how"] or ""):
                t.check(row["id"] == "none" or flat(words) in text, path, form,
                        "lacks of what to do", repr(words), text)
    return facts
