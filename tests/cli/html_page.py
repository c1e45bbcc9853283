# SPDX-License-Identifier: Apache-2.0
"""The HTML report as a file: well-formed, alone, harmless, of bounded size, and what it predicts."""
import base64
import hashlib
import html.parser
import json
import os
import pty
import re
import sqlite3
import statistics
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import pages
import rundb

VOID = {"meta", "input", "br"}
MS = rundb.MS
TOLERANCE = 0.005  # of a prediction: times in the page have a precision of 0.02 %


class Page(html.parser.HTMLParser):
    """Every element with its attributes and text; what is not balanced."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.faults, self.declarations = [], [], [], []
        self.feed(text)
        self.close()
        self.faults += ["not closed: " + element["tag"] for element in self.open]

    def handle_decl(self, decl):
        self.declarations.append(decl)

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        if len(set(names)) != len(names):
            self.faults.append("twice in {}: {}".format(tag, names))
        element = {"tag": tag, "attrs": dict(attrs), "text": "", "inside": [],
                   "parent": self.open[-1] if self.open else None}
        self.elements.append(element)
        if self.open:
            self.open[-1]["inside"].append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1]["tag"] != tag:
            self.faults.append("</{}> in {}".format(tag, [e["tag"] for e in self.open]))
            return
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.open[-1]["text"] += data

    def all(self, tag):
        return [element for element in self.elements if element["tag"] == tag]

    def data(self):
        return json.loads(next(e["text"] for e in self.all("script") if e["attrs"].get("id") == "data"))


def hash_of(text):
    return "'sha256-{}'".format(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode())


def check_alone(page, text, what, has_script):
    """Nothing is fetched, and only our own script and style may take effect."""
    t.check(not re.search(r"https?:|\burl\((?!#)|@import", text), what, "names an address")
    for element in page.elements:
        for name in element["attrs"]:
            t.check(name not in ("src", "href", "srcset", "action", "style", "data", "srcdoc") and
                    not name.startswith("on"), what, element["tag"], "has", name)
    policy = [e["attrs"]["content"] for e in page.all("meta")
              if e["attrs"].get("http-equiv") == "Content-Security-Policy"]
    if t.equal(len(policy), 1, what, "policies"):
        rules = dict(rule.strip().split(" ", 1) for rule in policy[0].split(";"))
        scripts = [e for e in page.all("script") if "type" not in e["attrs"]]
        t.equal(rules.get("default-src"), "'none'", what)
        t.equal([rules.get("script-src")] if "script-src" in rules else [],
                [hash_of(e["text"]) for e in scripts], what, "script")
        t.equal([rules.get("style-src")], [hash_of(e["text"]) for e in page.all("style")], what,
                "style")
        t.equal(rules.get("base-uri"), "'none'", what)
    t.equal(len(page.all("script")), 2 * has_script, what, "scripts: data and ours")


def check_access(page, what):
    """Names and descriptions; ids are there once; tables have headings."""
    ids = [e["attrs"]["id"] for e in page.elements if "id" in e["attrs"]]
    t.equal(sorted(set(ids)), sorted(ids), what, "ids")
    for element in page.elements:
        for name in ("aria-labelledby", "for"):
            for id_ in element["attrs"].get(name, "").split():
                t.check(id_ in ids, what, element["tag"], name, id_, "is nowhere")
    for svg in page.all("svg"):
        for tag in ("title", "desc"):
            found = [e for e in svg["inside"] if e["tag"] == tag]
            t.check(found and found[0]["text"].strip(), what, "an svg without", tag, svg["attrs"])
        t.check("role" in svg["attrs"] or "aria-hidden" in svg["attrs"], what, "an svg without role")
    for number in ("nan", "inf", "-0 "):
        t.check(not any(number in value.lower() for e in page.elements for value in
                        (v for k, v in e["attrs"].items() if v and k in
                         ("d", "x", "y", "width", "height", "cx", "cy"))), what, "draws", number)
    t.equal([e["tag"] for e in page.all("h1")], ["h1"], what)
    t.equal(page.all("html")[0]["attrs"].get("lang"), "en", what)


def check_page(run, what, *options, status=0, has_script=True):
    """The page and its text, after everything that holds for any."""
    result = t.report("html", run, *options)
    t.equal((result.status, result.err), (status, ""), what)
    raw = result.out
    page = Page(raw)
    t.equal(page.faults, [], what, "is not well-formed")
    t.equal(page.declarations, ["DOCTYPE html"], what)
    # C1 controls and what turns text around have no place in it.
    t.check(not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", raw), what,
            "holds control characters")
    check_alone(page, raw, what, has_script)
    check_access(page, what)
    return page, raw


def check_kinds(folder):
    for name, (make, expected) in pages.RUNS.items():
        path = make(os.path.join(folder, name + ".db"))
        page, raw = check_page(path, name, status=3 if name in ("nothing", "one") else 0)
        sections = [e["attrs"]["id"] for e in page.all("section")]
        t.equal(sections, expected.split(), name, "sections")
        # The text's verdict and the page's are one.
        words = {"highly_input_bound": "HIGHLY INPUT-BOUND", "incomplete": "INCOMPLETE",
                 "moderately_input_bound": "MODERATELY INPUT-BOUND", "not_input_bound": "NOT INPUT-BOUND"}
        verdict = json.loads(t.report("--json", path).out)["verdict"]
        t.check(words[verdict] in page.all("h1")[0]["text"], name, verdict)
        t.check(len(raw) < 300000, name, "has", len(raw), "bytes")


def check_content(folder):
    page, raw = check_page(pages.lockstep(os.path.join(folder, "content.db")), "content")
    for words in ("stalls every 7 batches, as many as there are workers", "7 workers",
                  "Use more workers: 1.46x as fast",
                  "not observed: part of the dataset's code", "python3 train.py --epochs 3"):
        t.check(words in raw, "missing:", words)
    order = [raw.find('id="{}"'.format(id_)) for id_ in
             ("wait-h", "time", "period", "residue", "stages", "lanes-h", "predict-h", "replay",
              "coverage-h")]
    t.check(-1 not in order and order == sorted(order), "order of the page", order)
    gpu = check_page(pages.gpu(os.path.join(folder, "gpu.db")), "gpu")[1]
    for words in ("the GPU was busy for", "copy to the GPU", "of it GPU busy",
                  "the GPU&#39;s: waits while it was idle", "the GPU is idle <strong>"):
        t.check(words in gpu, "missing:", words)
    t.check("the GPU was busy for" not in raw, "a GPU that was not seen")


def inside(element):
    yield element
    for one in element["inside"]:
        yield from inside(one)


def words_of(element):
    return re.sub(r"\s+", " ", " ".join(one["text"] for one in inside(element))).strip()


def read_time(text):
    number, unit = text.split()
    return float(number) * {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}[unit]


def check_gpu(folder):
    """Shares, the stack of each bar and the table are those of the rows."""
    path = pages.gpu(os.path.join(folder, "steps.db"))
    page, _ = check_page(path, "gpu")
    facts = json.loads(t.report("--json", path).out)["gpu"]
    section = next(e for e in page.all("section") if e["attrs"]["id"] == "gpu")
    parts = list(inside(section))
    words = words_of(section)
    for text in ("The GPU (NVIDIA H200), in ", "idle but for copies to it",
                 "98 % from pageable memory", "300 kernels and 2 graphs a step", "host in sync",
                 "kernel<0>(float const*)", "kernel<9>", "a bar is the mean of 6 steps"):
        t.check(text in words, "gpu: missing", text, words)
    t.check("kernel<10>" not in words, "ten kernels")
    t.check("why is not known" not in words, "all of it is attributed", words)
    t.check("1,234 records were dropped by CUPTI" in words_of(page.all("body")[0]), "dropped")
    # The bar of all steps: busy, then the causes in their order, as long as their shares.
    balance = next(e for e in parts if e["attrs"].get("class") == "balance")
    widths = [float(e["attrs"]["width"]) + 1 for e in balance["inside"] if e["tag"] == "rect"]
    shares = [facts["busy_s"]] + [facts["idle"][gap + "_s"] for gap in pages.GAPS]
    if t.equal(len(widths), len(shares), "parts of the bar"):
        for width, seconds in zip(widths, shares):
            t.check(abs(width / 720 - seconds / facts["steps_s"]) < 0.002, "a part of the bar",
                    width / 720, seconds / facts["steps_s"])
    # Every bar of the figure is a stack of the means of its steps.
    rows = t.rows(path, "SELECT {} FROM t_batch LEFT JOIN t_gpu_step USING (loader_id, epoch, task)"
                  " ORDER BY epoch, batch".format(", ".join("gap_{}_ns".format(gap)
                                                            for gap in pages.GAPS)))
    known = [[row["gap_{}_ns".format(gap)] for gap in pages.GAPS] for row in rows]
    groups = [[one for one in known[i:i + 6] if one[1] is not None] for i in range(0, 900, 6)]
    means = [[sum(column) / len(group) for column in zip(*group)] for group in groups]
    figure = next(e for e in parts if e["attrs"].get("id") == "idle")
    stacks, tops = {}, {}
    for element in inside(figure):
        class_ = element["attrs"].get("class")
        if element["tag"] == "path" and class_ in ("wait", "copy", "sync", "host", "rest"):
            for x, low, high in re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)", element["attrs"]["d"]):
                i = round((float(x) - 84) / 624 * 150)
                stacks.setdefault(class_, {})[i] = float(low) - float(high)
                t.check(abs(float(low) - tops.get(i, 162)) < 0.4, class_, i, "stands at", low)
                tops[i] = float(high)
    heights = statistics.median(stacks["copy"][i] / means[i][1] for i in stacks["copy"])
    high = [i for i, mean in enumerate(means) if sum(mean) * heights > 149]  # beyond the scale
    t.check(len(high) < 10, "bars that end at the top", high)
    t.equal(sorted(set(range(150)) - set(stacks["copy"]) - set(high)), [], "bars that are missing")
    for class_, gap in (("copy", 1), ("sync", 2), ("host", 3), ("rest", 4)):
        for i, height in stacks.get(class_, {}).items():
            t.check(i in high or abs(height - means[i][gap] * heights) < 0.3, class_, i, height,
                    means[i][gap] * heights)
    table = [[cell["text"] for cell in row["inside"]] for e in figure["parent"]["inside"]
             if e["tag"] == "details" for row in inside(e) if row["tag"] == "tr"]
    t.equal(table[1][0], "0 to 5", "the first row")
    for row in table[1:]:
        i = int(row[0].split()[0]) // 6
        for text, mean in zip(row[4:8], means[i][1:]):
            t.check(abs(read_time(text) - mean) <= 0.006 * mean + 1000, row[0], text, mean)
    # Without causes, and without times.
    words = words_of(check_page(pages.gpu_import(os.path.join(folder, "why.db")), "import")[0]
                     .all("main")[0])
    t.check("idle, and why is not known" in words and "CUPTI" not in words, "import", words)
    words = words_of(check_page(pages.gpu_host(os.path.join(folder, "host.db")), "host")[0]
                     .all("main")[0])
    for text in ("30 kernels a step", "only what the host saw of it was recorded, no times of its "
                 "own: CUPTI is in use"):
        t.check(text in words, "host: missing", text, words)
    t.check("was busy for" not in words, "host: times of the GPU")


def check_ranks(folder):
    """Several runs are the ranks of a job: a row and a picture of each, and the culprit."""
    job = rundb.job(os.path.join(folder, "job"), [1, 1, 90, 1])
    facts = json.loads(t.report("--json", job).out)
    page, raw = check_page(job, "ranks", has_script=False)
    words = words_of(page.all("main")[0])
    for text in ("4 ranks", job, "HIGHLY INPUT-BOUND", "Hosts 2", "rank by rank 0.8 % to 23 %",
                 "Rank 2 (node1) waits for data in 98 % of the lost time",
                 "aligned by step", "* the culprit", "waiting for data", "to one scale: a full row"):
        t.check(text in words, "ranks: missing", text, words)
    t.check("{:.0f} %".format(100 * facts["stall"]["ratio"]) in words_of(page.all("header")[0]),
            "the job's stall ratio")
    rows = [[words_of(cell) for cell in row["inside"]] for row in page.all("tr")]
    t.equal([row[0] for row in rows], ["Rank", "0", "1", "2 *", "3"], "the table")
    t.equal(rows[3][1:3] + rows[3][4:], ["node1", "400", "23 %", "98 %", "■ highly",
                                         os.path.join(job, "r2.db")], "the culprit's row")
    # The culprit's bars: a wait of a third of 90 ms above a compute of 101 ms.
    svg = page.all("svg")[1]
    waits = [e["attrs"]["d"] for e in inside(svg) if e["attrs"].get("class") == "wait"]
    heights = [[float(low) - float(high)
                for low, high in re.findall(r"M[\d.]+ ([\d.]+)V([\d.]+)", d)] for d in waits]
    computes = [float(low) - float(high) for low, high in
                re.findall(r"M[\d.]+ ([\d.]+)V([\d.]+)",
                           [e["attrs"]["d"] for e in inside(svg)
                            if e["attrs"].get("class") == "compute"][2])]
    if t.equal(len(heights), 4, "pictures"):
        t.check(max(heights[0] + heights[1] + heights[3]) < 0.5 and len(heights[2]) > 130,
                "who waits", heights)
        t.check(abs(sum(heights[2]) / sum(computes) - (92 / 3) / 100) < 0.01,
                "wait against compute", sum(heights[2]) / sum(computes))
    # The same of files, in any order; of one rank its own page; of many, the worst are drawn.
    files = [os.path.join(job, "r{}.db".format(rank)) for rank in (3, 0, 2)]
    page = check_page(files[0], "files", *files[1:], has_script=False)[0]
    t.equal([words_of(row["inside"][0]) for row in page.all("tr")], ["Rank", "0", "2 *", "3"])
    for arguments in ((job, "--rank", "2"), (files[2],)):
        t.check("python3 train.py" in check_page(arguments[0], "one", *arguments[1:])[1], arguments)
    many = rundb.job(os.path.join(folder, "many"), [1] * 39 + [90], steps=20)
    page = check_page(many, "many", has_script=False)[0]
    labels = [e["text"] for e in inside(page.all("svg")[1]) if e["text"].startswith("rank ")]
    t.equal((len(labels), labels[0], len(page.all("tr"))), (16, "rank 39 *", 41), "many", labels)
    t.check("to blame for most" in words_of(page.all("main")[0]), "many: which are drawn")
    # Names that want to be markup, or are nobody's business.
    hostile = rundb.job(os.path.join(folder, "<i>job"), [1, 90], host=pages.MARKUP)
    page, raw = check_page(hostile, "hostile ranks", has_script=False)
    t.check("&lt;script&gt;window.hacked" in raw and "&lt;i&gt;job" in raw, "shown as it is")
    hidden = rundb.job(os.path.join(folder, "SECRET"), [1, 90], host="SECREThost")
    raw = check_page(hidden, "redacted ranks", "--redact", has_script=False)[1]
    t.check("SECRET" not in raw and "run-2" in raw and "host-1" in raw, "--redact")
    # Nothing to draw, and what is no run.
    empty = os.path.join(folder, "none")
    for rank in range(2):
        os.makedirs(empty, exist_ok=True)
        rundb.build(os.path.join(empty, "{}.db".format(rank)), meta={"rank": str(rank)})
    page = check_page(empty, "no batches", status=3, has_script=False)[0]
    t.check("no rank has batches" in words_of(page.all("main")[0]), "no batches")
    for path in (os.path.join(folder, "nowhere"), t.scratch()):
        result = t.report("html", path, "-o", os.path.join(folder, "no.html"))
        t.equal((result.status, result.out, result.err.count("\n")), (2, "", 1), path, result.err)
        t.check(not os.path.exists(os.path.join(folder, "no.html")), "a page of nothing")
    result = t.report("html", job, "-f", "-o", files[0])
    t.equal(result.status, 2, "over one of the runs")
    t.check("will not write over the run itself" in result.err, result.err)


def unpack(text):
    packed = base64.b64decode(text)
    return [float("nan") if one == 65535 else (2 ** (one / 1500) - 1) * 1e3
            for one, in struct.iter_unpack("<H", packed)]


def replay(trace):
    """In order, as it was, of one epoch: analysis/replay.h, once more."""
    load, compute, lag, latency, handover = (
        unpack(trace[key]) for key in ("load", "compute", "lag", "latency", "handover"))
    workers, slots = trace["workers"], trace["workers"] * trace["prefetch"]
    (_, setup, start, _, _), = trace["epochs"]
    free, done, request, begin = [setup + start] * workers, [setup] * slots, setup, None
    for j, ns in enumerate(load):
        factor = dict(enumerate(trace["factors"])).get(j % workers, 1)
        free[j % workers] = max(free[j % workers], done[j % slots]) + lag[j] + ns * factor
        request = max(request, free[j % workers] + latency[j]) + handover[j]
        begin = begin or request
        done[j % slots] = request
        request += compute[j]
    return len(load) / (request - begin) * 1e9


def check_data(folder):
    """What is embedded is the run: times as recorded, and the replay's own batches."""
    for make in (pages.lockstep, pages.uneven):
        path = make(os.path.join(folder, "data.db"))
        page, _ = check_page(path, "data")
        data = page.data()
        rows = t.rows(path, "SELECT wait_ns, compute_ns FROM batch ORDER BY epoch, batch")
        for key in ("wait", "compute"):
            found = [ns for part in data["raw"] for ns in unpack(part[key])]
            t.equal(len(found), len(rows), key)
            worst = max(abs(ns - row[key + "_ns"]) / (row[key + "_ns"] + 1000)
                        for ns, row in zip(found, rows))
            t.check(worst < 0.0003, key, "is off by", worst)
        predicted = {row["id"]: row["batches_per_s"]
                     for row in json.loads(t.report("--json", path).out)["whatif"]}
        found = replay(data["trace"])
        t.check(abs(found / predicted["baseline"] - 1) < TOLERANCE, "baseline", found, predicted)


def check_hostile(folder):
    """Names that want to be markup, in all the places that a run has."""
    path = pages.hostile(os.path.join(folder, "h\"o's<t>&.db"))
    page, raw = check_page(path, "hostile")
    t.check("<script>window.hacked" not in raw and "<img" not in raw, "not escaped")
    t.check(not any("hacked" in value for e in page.elements for value in e["attrs"].values()
                    if value), "in an attribute")
    # Bytes that are no text become the character for that.
    t.check(raw.count("\ufffd") >= 2, "bytes that are no text")
    t.check("&lt;script&gt;window.hacked" in raw, "it is shown as it is")
    for what in ("files", "samples"):
        t.check(raw.count("&quot;quo&#39;te&quot;") >= 3, what)
    result = t.report("html", path, "-o", os.path.join(folder, "out.html"))
    t.equal((result.status, result.out, result.err), (0, "", ""), "-o")
    with open(os.path.join(folder, "out.html"), "rb") as file:
        file.read().decode("utf-8")


def check_redact(folder):
    path = pages.secret(os.path.join(folder, "SECRETrun.db"))
    _, raw = check_page(path, "open")
    t.check(raw.count("SECRET") > 20, "the test plants names", raw.count("SECRET"))
    _, raw = check_page(path, "redacted", "--redact")
    t.equal(re.findall(".{60}SECRET.{20}", raw), [], "--redact leaks")
    for words in ("python3 arguments-1", "host-1", "file-1", "folder-1", "RandomCrop", "JPEG, libjpeg"):
        t.check(words in raw, "--redact takes away more than names:", words)


def check_sizes(folder):
    path = rundb.build(os.path.join(folder, "10k.db"),
                       [rundb.loader(pages.with_gpu(rundb.simulate(2000, 16, 200, 10, epochs=5,
                                                                   jitter=0.9)), workers=16)])
    _, raw = check_page(path, "10,000 batches")
    t.check(len(raw) <= 390000, "10,000 batches are", len(raw), "bytes")
    t.say("10,000 batches:", len(raw), "bytes")
    path = pages.long_run(os.path.join(folder, "long.db"), 120000)
    begin = time.monotonic()
    page, raw = check_page(path, "120,000 batches")
    data = page.data()
    t.check(len(raw) <= 1000000, "120,000 batches are", len(raw), "bytes")
    t.say("120,000 batches:", len(raw), "bytes,", round(time.monotonic() - begin, 2), "s")
    most = unpack(data["buckets"]["wait"]["most"])
    t.equal(len(most), 4096, "parts")
    t.check(abs(max(most) / (9000 * MS) - 1) < 0.001, "the longest wait is in the reduction",
            max(most))
    worst = [part for part in data["raw"] if part["begin"] <= 77777 < part["begin"] + part["count"]]
    if t.equal(len(worst), 1, "the batches around the longest wait are there one by one"):
        ns = unpack(worst[0]["wait"])[77777 - worst[0]["begin"]]
        t.check(abs(ns / (9000 * MS) - 1) < 0.001, "the longest wait", ns)


def check_usage(folder):
    run = pages.lockstep(os.path.join(folder, "usage.db"))
    for arguments, words in ((["html", "--json", run], "--json does not go with dlprof-report html"),
                             (["import", "--redact", run], "--redact does not go with dlprof-report import"),
                             (["html"], "something is missing: dlprof-report html RUN.db"),
                             (["html", "-o", run, run, "-f"], "will not write over the run itself")):
        result = t.report(*arguments)
        t.equal((result.status, result.out), (2, ""), arguments)
        t.check(words in result.err and result.err.count("\n") == 1, arguments, result.err)
    t.equal(t.report("html", run, "-o", "/dev/full", "-f").status, 2, "a full disk")
    check_terminal(run)
    part = check_page(run, "part", "--batches", "40:70")[1]
    t.check("batches 40 to 70 of loader 1" in part, "--batches")


def check_terminal(run):
    """A terminal is no place for a page, and is told what to do."""
    main, side = pty.openpty()
    result = subprocess.run([t.REPORT, "html", run], stdin=subprocess.DEVNULL, stdout=side,
                            stderr=subprocess.PIPE, env=t.environment(preload=False), timeout=60)
    os.close(side)
    t.equal(result.returncode, 2, "html on a terminal")
    t.check(b"-o REPORT.html" in result.stderr and result.stderr.count(b"\n") == 1,
            "what to do", result.stderr)
    os.close(main)


def check_bounds(folder):
    """What is not known of a file's time is said; of one that may be any other's, nothing is."""
    path = pages.rundb.healthy(os.path.join(folder, "bounds.db"))
    with sqlite3.connect(path) as database:
        for kind in ("file", "folder"):
            pages.add_total(database, kind, "/data/known", ns=50_000_000)
            pages.add_total(database, kind, "/data/nearly", ns=40_000_000, error_ns=10_000_000)
            pages.add_total(database, kind, "/data/guessed", ns=90_000_000, error_ns=80_000_000)
            database.execute("INSERT INTO t_unlisted VALUES (?, 7000000)", (kind,))
    page, raw = check_page(path, "bounds")
    times = [[words_of(cell) for cell in row["inside"]] for row in page.all("tr")]
    times = [[row[0], row[-1].rstrip("/")] for row in times]
    for row in (["50.0 ms", "/data/known"], ["30.0 ms to 40.0 ms", "/data/nearly"]):
        t.equal(times.count(row), 2, "times of files and folders", times)
    said = t.report("-v", path).out
    for words in ("/data/known", "30.0 ms to 40.0 ms", "others took at most 7.00 ms each"):
        t.check(words in said, "the report", said)
    t.check("guessed" not in raw and "guessed" not in said, "a guess is shown")


def main():
    folder = t.scratch()
    for check in (check_kinds, check_content, check_bounds, check_gpu, check_ranks, check_data,
                  check_hostile, check_redact, check_sizes, check_usage):
        check(folder)
    t.finish()


main()
