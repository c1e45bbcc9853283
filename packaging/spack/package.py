# SPDX-License-Identifier: Apache-2.0
"""In a repository of your own: spack repo add FOLDER, this file at FOLDER/packages/dlprof/package.py.

The programs and the library, for every Python that is on the machine. For dlprof.latest(), install the
wheel into the environment of the training, too.
"""
from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Dlprof(MesonPackage):
    """Finds out how much of a deep-learning training is spent waiting for data, and why."""

    license("Apache-2.0")

    version("develop")  # spack dev-build dlprof@develop, in a clone

    variant("stacks", default=True, description="Name the native stacks of slow operations")

    depends_on("c", type="build")
    depends_on("meson@1:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("sqlite@3.36:")
    depends_on("libunwind", when="+stacks")

    requires("platform=linux", msg="dlprof preloads a library, by glibc's rules")
    requires("target=x86_64:", "target=aarch64:", policy="one_of")

    def meson_args(self):
        stacks = "enabled" if self.spec.satisfies("+stacks") else "disabled"
        return ["-Dtests=false", "-Dstacks=" + stacks]

    def test_demo(self):
        """record and judge a simulated loader"""
        which(self.prefix.bin.dlprof)("demo", "--quiet", "balanced")
