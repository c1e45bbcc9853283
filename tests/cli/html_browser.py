# SPDX-License-Identifier: Apache-2.0
"""The HTML report in a browser logs no error, is read offline and without script, and its controls work.

Skipped without Chromium.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import browser
import dlprof_test as t
import line_runs
import pages

SET = """(() => {{
	const input = document.getElementById("s-{0}");
	if (input.type === "checkbox") input.checked = {1}; else input.value = {1};
	input.dispatchEvent(new Event("input"));
	return document.getElementById("predicted").value;
}})()"""


def page(folder, name, make, *options):
    run, path = os.path.join(folder, name + ".db"), os.path.join(folder, name + ".html")
    result = t.report("html", make(run), "-o", path, *options)
    t.check(result.status in (0, 3), name, result.err)
    return run, path


def visible(chrome):
    """Returns the visible text of the page."""
    shot = chrome.call("DOMSnapshot.captureSnapshot", computedStyles=[])
    layout = shot["documents"][0]["layout"]["text"]
    return " ".join(shot["strings"][i] for i in layout if i >= 0)


def check_quiet(chrome, folder):
    """Opens the pages of all kinds of runs, light and dark, wide and narrow."""
    for name, (make, _) in pages.RUNS.items():
        _, path = page(folder, name, make)
        for width, dark in ((1280, False), (400, True)):
            chrome.look(width, dark)
            chrome.open(path)
            t.equal(chrome.evaluate("document.documentElement.scrollWidth <= innerWidth"), True,
                    name, "is wider than", width)
            t.equal(chrome.complaints(), [], name, width)


def check_hostile(chrome, folder):
    _, path = page(folder, "hostile", pages.hostile)
    chrome.look()
    chrome.open(path)
    t.equal(chrome.evaluate("window.hacked"), None, "a script in a name ran")
    t.equal(chrome.complaints(), [], "hostile")
    # The page's policy would stop a script that got into it.
    with open(path, encoding="utf-8") as file:
        text = file.read()
    planted = text.replace("<main>", "<main>" + pages.MARKUP + "<b onclick=1 style='top:0'></b>")
    with open(path, "w", encoding="utf-8") as file:
        file.write(planted)
    chrome.open(path)
    t.equal(chrome.evaluate("window.hacked"), None, "the policy lets a script run")
    t.check(any("Content Security Policy" in text for text in chrome.complaints()),
            "the policy says nothing", chrome.complaints())


def check_without_script(chrome, folder):
    _, path = page(folder, "plain", pages.lockstep)
    chrome.look(script=False)
    chrome.open(path)
    text = visible(chrome)
    for words in ("HIGHLY INPUT-BOUND", "What would help", "twice the workers", "one batch is one bar",
                  "With JavaScript there are sliders here", "This figure is drawn with JavaScript"):
        t.check(words in text, "without script there is no", words)
    for words in ("Try it", "Drag to zoom"):
        t.check(words not in text, "without script there is", words)
    chrome.open(page(folder, "plain-lines", line_runs.capacity)[1])
    text = visible(chrome)
    for words, there in (("collate, train.py:12", True), ("80 % ± 3", True), ("Click or Enter", False)):
        t.equal(words in text, there, "lines without script", words)
    chrome.look()


def predicted(words):
    found = re.search(r"([0-9.]+) batches/s", words)
    return float(found.group(1)) if found else None


def check_sliders(chrome, folder):
    for name, make in (("lockstep", pages.lockstep), ("uneven", pages.uneven), ("alone", pages.alone)):
        run, path = page(folder, name + "-sliders", make)
        rates = {row["id"]: row for row in json.loads(t.report("--json", run).out)["whatif"]}
        chrome.look()
        chrome.open(path)
        grid = chrome.evaluate("data.grid")
        workers, prefetch, load = (grid[key][place] for key, place in
                                   zip(("workers", "prefetch", "load"), grid["was"]))
        for id_, slider, value, back in (
                ("baseline", "load", 1, load), ("workers_x2", "workers", 2 * workers, workers),
                ("load_x0.5", "load", 0.5, load), ("use_workers", "workers", None, workers),
                ("prefetch_x4", "prefetch", 4 * prefetch, prefetch),
                ("in_order_false", "order", "false", "true")):
            if id_ not in rates:
                continue
            value = rates[id_].get("workers") if value is None else value
            place = value if slider == "order" else grid[slider].index(value)
            words = chrome.evaluate(SET.format(slider, place))
            t.equal(predicted(words), float("{:.4g}".format(rates[id_]["batches_per_s"])), name, id_, words)
            shown = float(re.search(r"waiting ([0-9.e-]+) %", words).group(1))
            t.equal(shown, float("{:.2g}".format(100 * rates[id_]["stall_ratio"])), name, id_, words)
            chrome.evaluate(SET.format(slider, back if slider == "order" else grid[slider].index(back)))
        chrome.evaluate(SET.format("load", 0))
        chrome.evaluate("document.getElementById('s-reset').click()")
        t.check("As it was" in chrome.evaluate("document.getElementById('predicted').value"),
                "as it was")
        t.equal(chrome.complaints(), [], name)


HEIGHTS = """Array.from(document.querySelector("#bars path.{}").getAttribute("d").matchAll(
	/M([0-9.]+) ([0-9.]+)V([0-9.]+)/g), found => [Number(found[1]), found[2] - found[3]])"""


def check_time(chrome, folder):
    """Bars are as high as the times in the database, on axes with round numbers, also for steps alone."""
    run, path = page(folder, "time", pages.lockstep)
    chrome.look()
    chrome.open(path)
    rows = t.rows(run, "SELECT wait_ns, compute_ns FROM batch ORDER BY epoch, batch")
    compute, wait = (chrome.evaluate(HEIGHTS.format(name)) for name in ("compute", "wait"))
    t.equal((len(compute), len(wait)), (len(rows), len(rows)), "bars")
    scale = sum(height for _, height in compute) / sum(row["compute_ns"] for row in rows)
    high = max(row["wait_ns"] + row["compute_ns"] for row in rows)
    for (left, height), (_, waited), row in zip(compute, wait, rows):
        t.check(abs(height - scale * row["compute_ns"]) < 0.2, left, "compute", height, row)
        t.check(abs(waited - scale * row["wait_ns"]) < 0.3 or row["wait_ns"] > 0.9 * high, left,
                "wait", waited, row)
    labels = chrome.evaluate("Array.from(document.querySelectorAll('#time .axis text'), e => e.textContent)")
    t.check({"0", "50 ms", "100 ms", "batch", "20"} <= set(labels), "axes", labels)
    t.equal(chrome.evaluate("document.querySelector('#time title').textContent"),
            "Wait and step, batch by batch", "a name")
    for name, make, drawn in (("steps", pages.steps, ["compute"]), ("gpu", pages.gpu, ["compute", "wait", "busy"])):
        chrome.open(page(folder, "time-" + name, make)[1])
        found = chrome.evaluate("Array.from(document.querySelectorAll('#bars > path'), "
                                "e => e.getAttribute('class'))")
        t.equal([kind for kind in found if kind != "most"], drawn, name, found)
    t.equal(chrome.complaints(), [], "time")


def check_zoom(chrome, folder):
    bars = "document.getElementById('bars').innerHTML"
    key = """document.querySelector("#time svg").dispatchEvent(
        new KeyboardEvent("keydown", {{key: "{}", bubbles: true}}))"""
    for name, make in (("short", pages.lockstep),
                       ("long", lambda path: pages.long_run(path, 120000))):
        _, path = page(folder, "zoom-" + name, make)
        chrome.look()
        chrome.open(path)
        before = chrome.evaluate(bars)
        chrome.evaluate(key.format("+"))
        t.check(chrome.evaluate(bars) != before, name, "+ zooms in")
        chrome.evaluate(key.format("ArrowRight"))
        chrome.evaluate(key.format("0"))
        t.equal(chrome.evaluate(bars), before, name, "0 shows all again")
        t.equal(chrome.complaints(), [], "zoom", name)


FLAME = """(() => {{
	const area = document.querySelectorAll(".flame")[{}];
	const find = words => Array.from(area.children).find(one => one.textContent.startsWith(words));
	{}
}})()"""
SHOWN = "return Array.from(area.children, one => [one.textContent, parseFloat(one.style.width)]);"


def check_flames(chrome, folder):
    """Flame graphs are as wide as their time, can be zoomed and searched, and work by keyboard."""
    _, path = page(folder, "flames", line_runs.capacity)
    chrome.look()
    chrome.open(path)
    t.equal(chrome.evaluate("document.querySelectorAll('.flame').length"), 3, "graphs")
    widths = dict(chrome.evaluate(FLAME.format(0, SHOWN)))
    t.equal(widths, {"Loads": 100, "_MapDatasetFetcher.fetch, torch/utils/data/_utils/fetch.py:54": 100,
                     "collate, train.py:12": 80, "open, PIL/Image.py:3131": 10,
                     "Tensor.__torch_function__, torch/_tensor.py:1295": 80,
                     "Pics.__getitem__, train.py:22": 10}, "widths")
    widths = dict(chrome.evaluate(FLAME.format(0, "find('collate').click(); " + SHOWN)))
    t.equal((widths["collate, train.py:12"], "open, PIL/Image.py:3131" in widths), (100, False), "zoom")
    key = ("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{key: '{}', bubbles: true}}));"
           "return document.activeElement.textContent;")
    for name, expected in (("ArrowDown", "Tensor.__torch_function__"), ("ArrowUp", "collate"),
                           ("Escape", "Loads"), ("ArrowDown", "_MapDatasetFetcher"),
                           ("ArrowDown", "collate"), ("ArrowRight", ""), ("ArrowLeft", "collate")):
        found = chrome.evaluate(FLAME.format(0, key.format(name)))
        t.check(found.startswith(expected), name, "leads to", found)
    t.equal(chrome.evaluate(FLAME.format(0, "return area.querySelectorAll('[tabindex=\"0\"]').length;")), 1,
            "one stop of the Tab key")
    # A sample counts once, though two of its lines match.
    found = chrome.evaluate(FLAME.format(0, """const input = area.previousSibling.querySelector("input");
        input.value = "T"; input.dispatchEvent(new Event("input"));
        return [area.previousSibling.querySelector("output").value, area.querySelectorAll(".hit").length];"""))
    t.equal(found, ["100 % of the time", 4], "a search")
    found = chrome.evaluate(FLAME.format(0, """const input = area.previousSibling.querySelector("input");
        input.value = "train.py"; input.dispatchEvent(new Event("input"));
        return [area.previousSibling.querySelector("output").value, area.querySelectorAll(".hit").length];"""))
    t.equal(found, ["90 % of the time", 2], "a search")
    t.equal(chrome.complaints(), [], "flames")


def main():
    if not browser.find():
        t.skip("no chromium")
    folder = t.scratch()
    with browser.Browser() as chrome:
        for check in (check_quiet, check_hostile, check_without_script, check_sliders,
                      check_time, check_zoom, check_flames):
            check(chrome, folder)
    t.finish()


main()
