# SPDX-License-Identifier: Apache-2.0
"""Names that look like markup are text in the page, and --redact leaves none of them."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t
import html_file
import pages


def check_hostile(folder):
    """A run that has names which look like markup in all places."""
    path = pages.hostile(os.path.join(folder, "h\"o's<t>&.db"))
    page, raw = html_file.check_page(path, "hostile")
    t.check("<script>window.hacked" not in raw and "<img" not in raw, "not escaped")
    t.check(not any("hacked" in value for e in page.elements for value in e["attrs"].values()
                    if value), "in an attribute")
    # Bytes that are no valid text become the replacement character.
    t.check(raw.count("\ufffd") >= 2, "bytes that are no text")
    t.check("&lt;script&gt;window.hacked" in raw, "it is shown as it is")
    t.check("busy" in [e["attrs"].get("id") for e in page.all("figure")], "no lanes of stages")
    for what in ("files", "samples"):
        t.check(raw.count("&quot;quo&#39;te&quot;") >= 3, what)
    result = t.report("html", path, "-o", os.path.join(folder, "out.html"))
    t.equal((result.status, result.out, result.err), (0, "", ""), "-o")
    with open(os.path.join(folder, "out.html"), "rb") as file:
        file.read().decode("utf-8")


def check_redact(folder):
    path = pages.secret(os.path.join(folder, "SECRETrun.db"))
    _, raw = html_file.check_page(path, "open")
    t.check(raw.count("SECRET") > 20, "the test plants names", raw.count("SECRET"))
    _, raw = html_file.check_page(path, "redacted", "--redact")
    t.equal(re.findall(".{60}SECRET.{20}", raw), [], "--redact leaks")
    for words in ("python3 arguments-1", "host-1", "file-1", "folder-1", "RandomCrop", "JPEG, libjpeg"):
        t.check(words in raw, "--redact takes away more than names:", words)


def main():
    folder = t.scratch()
    check_hostile(folder)
    check_redact(folder)
    t.finish()


main()
