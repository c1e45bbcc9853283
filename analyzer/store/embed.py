# SPDX-License-Identifier: Apache-2.0
"""Write text files, one after the other, as a C string: embed.py [--rows] NAME OUTPUT INPUT...

--rows: each file becomes a row {name, text} of a table, unchanged; name is that of the file
without folder and suffix. Else, SQL loses its comments and empty lines, and NAME_HASH is the hash
by which a Content-Security-Policy names the text.
"""
import base64
import hashlib
import os
import sys


def strip(line, path):
    return (line.split("--")[0] if path.endswith(".sql") else line).rstrip()


def quoted(line):
    escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return '\t"{}\\n"\n'.format(escaped)


def write_rows(name, target, sources):
    with open(target, "w", encoding="ascii") as out:
        out.write("static const struct {{ const char *name, *text; }} {}[] = {{\n".format(name))
        for path in sources:
            with open(path, encoding="ascii") as text:
                out.write('{{"{}",\n{}}},\n'.format(
                    os.path.basename(path).split(".")[0],
                    "".join(quoted(line.rstrip("\n")) for line in text)))
        out.write("};\n")


if sys.argv[1] == "--rows":
    write_rows(sys.argv[2], sys.argv[3], sys.argv[4:])
    sys.exit(0)
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
        out.write(quoted(line))
    out.write("\t;\n")
