# SPDX-License-Identifier: Apache-2.0
"""Write a text file as a C string: embed.py NAME INPUT OUTPUT."""
import sys

name, source, target = sys.argv[1:]
with open(source, encoding="ascii") as text, open(target, "w", encoding="ascii") as out:
    out.write(f"static const char {name}[] =\n")
    for line in text.read().splitlines():
        line = line.split("--")[0].rstrip()
        if line:
            escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
            out.write(f'\t"{escaped}\\n"\n')
    out.write("\t;\n")
