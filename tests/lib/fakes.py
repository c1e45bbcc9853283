# SPDX-License-Identifier: Apache-2.0
"""Fake modules with the frameworks' names, with the structure that loaders.def relies on.

write(folder) makes packages from frameworks/. Elements are numbers, and loading is sleeping."""
import os
import shutil

FRAMEWORKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "frameworks")


def write(folder):
    shutil.copytree(FRAMEWORKS, folder, dirs_exist_ok=True)
    for above, folders, _ in os.walk(FRAMEWORKS):
        for name in folders:
            made = os.path.join(folder, os.path.relpath(above, FRAMEWORKS), name, "__init__.py")
            if not os.path.exists(made):
                open(made, "w").close()
