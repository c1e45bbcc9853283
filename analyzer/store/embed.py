# SPDX-License-Identifier: Apache-2.0
"""Write text files, one after the other, as a C string: embed.py NAME OUTPUT INPUT...

What follows -- in a line of SQL is left out, as are lines that are empty then. NAME_HASH is what a
Content-Security-Policy calls a text of these very bytes.
"""
import base64
import hashlib
import sys


def strip(line, path):
    return (line.split("--")[0] if path.endswith(".sql") else line).rstrip()


name, target, *sources = sys.argv[1:]
lines = []
for path in sources:
    with open(path, encoding="ascii") as text:
        lines += [line for line in (strip(line, path) for line in text) if line]
whole = "".join(line + "\n" for line in lines).encode("ascii")
with open(target, "w", encoding="ascii") as out:
    digest = base64.b64encode(hashlib.sha256(whole).digest()).decode("ascii")
    out.write('#define {}_HASH "sha256-{}"\n'.format(name.upper(), digest))
    out.write("static const char {}[] =\n".format(name))
    for line in lines:
        escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
        out.write('\t"{}\\n"\n'.format(escaped))
    out.write("\t;\n")
