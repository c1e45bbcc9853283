# SPDX-License-Identifier: Apache-2.0
"""Where the programs and the library of dlprof lie in this package."""
import os

_HOME = os.path.dirname(os.path.abspath(__file__))

PROGRAMS = os.path.join(_HOME, "bin")
LIBRARY = os.path.join(_HOME, "lib", "libdlprof.so")
