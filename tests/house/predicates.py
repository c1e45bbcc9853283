# SPDX-License-Identifier: Apache-2.0
"""Checks that functions named is_, has_, are_ or can_ change nothing, so that they may be called anywhere.

usage: predicates.py [ROOT]: checks another folder, in which a fault was planted to see it found.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test  # noqa: E402
from dlprof_test import check, equal, finish, say  # noqa: E402

ROOT = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else dlprof_test.ROOT

PREDICATE = r"(?:\w+_)?(?:is|has|are|can)_\w+"

PLACE = r"\w+(?:(?:->|\.)\w+|\[[^\]]*\])*"
WRITES = re.compile(r"(?<![\w.>])(\**{0})\s*(?:[-+*/|&^]|<<|>>)?=(?!=)"
                    r"|(?:\+\+|--)({0})|({0})(?:\+\+|--)".format(PLACE))
WRITERS = re.compile(r"\b(atomic_(?:store|exchange|fetch_\w+|compare_exchange_\w+)|__atomic_\w*store\w*"
                     r"|note_add|thread_push|writer_\w+)\s*\(")
DECLARED = re.compile(r"(?:^\t+|for \()(?:(?:static|const|volatile|_Atomic|struct|enum|unsigned) )*"
                      r"(?:\w+|ElfW\(\w+\)|\{[^{}]*\}) (?!=)([^;(]*?(?:\[[^;\]]*\])?\s*(?:=[^;]*)?);",
                      re.MULTILINE)


def sources(*folders):
    for folder in folders:
        for where, _, leaves in os.walk(os.path.join(ROOT, folder)):
            for leaf in sorted(leaves):
                if leaf.endswith((".c", ".h")):
                    path = os.path.join(where, leaf)
                    with open(path, encoding="utf-8") as file:
                        yield os.path.relpath(path, ROOT), file.read()


def split(declared):
    """Returns the names that a declaration such as `a, *b = f(x, y), c[3]` declares."""
    depth, parts = 0, [""]
    for letter in declared:
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return {re.match(r"[\s*]*(\w*)", part).group(1) for part in parts}


def own_names(arguments, body):
    names = set(re.findall(r"(\w+)(?:\[[^\]]*\])*\s*(?:,|$)", arguments))
    for match in DECLARED.finditer(body):
        if not match.group().strip().startswith(("static", "return")):
            names |= split(match.group(1))
    return names


def writes(arguments, body):
    """Returns what a function writes besides its own variables: globals, statics, through pointers."""
    own = own_names(arguments, body)
    found = WRITERS.findall(body)
    without = DECLARED.sub(lambda match: match.group()
                           if match.group().strip().startswith("return") else ";", body)
    for match in WRITES.finditer(without):
        place = next(part for part in match.groups() if part)
        base = re.match(r"\**(\w+)", place).group(1)
        if place.startswith("*") or "->" in place or base not in own:
            found.append(place)
    return found


def predicates(text):
    text = re.sub(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', "0", text, flags=re.DOTALL)
    head = r"^(?:[\w ]+ )?bool\s+({})\(([^{{;]*)\)\s*\{{\n(.*?)^\}}".format(PREDICATE)
    return re.findall(head, text, re.MULTILINE | re.DOTALL)


def check_predicates():
    seen = written = 0
    for path, text in sources("shim", "analyzer", "include"):
        for name, arguments, body in predicates(text):
            seen += 1
            found = writes(arguments, body)
            written += bool(found)
            check(not found, path, name, "writes", found)
    say(seen, "predicates")


def check_self():
    """Checks that writes() finds each kind of write, and nothing else."""
    for body in ("\tdrain->at = 1;\n", "\t*ret = 1;\n", "\tcount++;\n", "\tstatic int at;\n\n\tat = 2;\n",
                 "\tatomic_store(&a, 1);\n", "\t--d->left;\n", "\tint x = 1;\n\n\td->seen[x] |= 4;\n"):
        check(writes("struct drain *d", body), "not found in", body)
    for body in ("\tint at = 1, *b = 0;\n\n\tat = 2;\n\tat++;\n", "\tstruct x y = {.a = 1, .b = 2};\n",
                 "\tfor (int i = 0; i < 2; i++)\n\t\treturn a->b == 3;\n", "\treturn a <= b && c >= d;\n"):
        equal(writes("const char *text", body), [], "found in", body)
    equal([found[0] for found in predicates("static bool is_on(int a)\n{\n\treturn a;\n}\n")], ["is_on"],
          "a predicate")


def main():
    check_self()
    check_predicates()
    finish()


main()
