# SPDX-License-Identifier: Apache-2.0
"""Checks that hold for any page of the HTML report, and functions that read pages."""
import base64
import hashlib
import html.parser
import json
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

VOID = {"meta", "input", "br"}


class Page(html.parser.HTMLParser):
    """A parsed page: every element with its attributes and text, and the tags that are not balanced."""

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
    """Checks that the page fetches nothing, and that only its own script and style may take effect."""
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
    """Checks that drawings have names and descriptions, ids are unique, and tables have headings."""
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
    """Writes a run's page, makes the checks that hold for any page, and returns the page and its text."""
    result = t.report("html", run, *options)
    t.equal((result.status, result.err), (status, ""), what)
    raw = result.out
    page = Page(raw)
    t.equal(page.faults, [], what, "is not well-formed")
    t.equal(page.declarations, ["DOCTYPE html"], what)
    t.check(not re.search(t.HARMFUL, raw), what, "holds control characters")
    check_alone(page, raw, what, has_script)
    check_access(page, what)
    return page, raw


def inside(element):
    yield element
    for one in element["inside"]:
        yield from inside(one)


def words_of(element):
    return re.sub(r"\s+", " ", " ".join(one["text"] for one in inside(element))).strip()


def unpack(text):
    packed = base64.b64decode(text)
    return [float("nan") if one == 65535 else (2 ** (one / 1500) - 1) * 1e3
            for one, in struct.iter_unpack("<H", packed)]
