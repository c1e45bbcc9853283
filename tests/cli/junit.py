# SPDX-License-Identifier: Apache-2.0
"""Checks a JUnit file against what the schemas of Jenkins and Ant have in common."""
import re
import xml.etree.ElementTree

import dlprof_test as t

# {element: (its attributes, its children in order)}


JUNIT = {
    "testsuites": (set(), ["testsuite"]),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped", "time", "timestamp",
                   "hostname"}, ["properties", "testcase", "system-out", "system-err"]),
    "properties": (set(), ["property"]),
    "property": ({"name", "value"}, []),
    "testcase": ({"classname", "name", "time"}, ["skipped", "error", "failure"]),
    "failure": ({"message", "type"}, []),
    "error": ({"message", "type"}, []),
    "skipped": ({"message"}, []),
    "system-out": (set(), []),
    "system-err": (set(), []),
}


def check_element(element):
    attributes, children = JUNIT[element.tag]
    t.equal(set(element.attrib), attributes, element.tag)
    places = [children.index(child.tag) if child.tag in children else -1 for child in element]
    t.check(-1 not in places and places == sorted(places), element.tag, "children", places)
    for child in element:
        check_element(child)


def check_junit(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    t.equal(root.tag, "testsuites")
    check_element(root)
    suite = root[0]
    cases = suite.findall("testcase")
    t.equal(int(suite.get("tests")), len(cases))
    for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        t.equal(int(suite.get(count)), sum(case.find(tag) is not None for case in cases), tag)
    t.check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp")), "time")
    return suite
