# SPDX-License-Identifier: Apache-2.0
"""The recipes for conda-forge and Spack name this version, and options that the build has.

py-rattler-build, where it is installed, also reads the one for conda; nothing of Spack's can be had here.
"""
import json
import os
import subprocess
import sys
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t  # noqa: E402

PACKAGING = os.path.join(t.ROOT, "packaging")
CONDA = os.path.join(PACKAGING, "conda", "recipe.yaml")


def introspect(what):
    out = subprocess.check_output(["meson", "introspect", what, os.path.join(t.ROOT, "meson.build")])
    return json.loads(out.decode())


def check_conda(version):
    try:
        import yaml
    except ImportError:
        return t.say("no yaml: the recipe for conda is not read")
    with open(CONDA, encoding="utf-8") as file:
        text = file.read()
    recipe = yaml.safe_load(text)
    t.equal(recipe["package"], {"name": "dlprof", "version": version}, "conda: package")
    t.check(os.path.exists(os.path.join(t.ROOT, recipe["about"]["license_file"])), "conda: licence")
    top = os.path.join(PACKAGING, "conda", recipe["source"]["path"])
    t.check(os.path.samefile(top, t.ROOT), "conda: the source", top)
    try:
        import rattler_build as conda
    except ImportError:
        return t.say("no py-rattler-build: the recipe for conda is not rendered")
    variants = conda.VariantConfig.from_file(os.path.join(PACKAGING, "conda", "variants.yaml"))
    t.equal(len(conda.Stage0Recipe.from_yaml(text).render(variants)), 1, "conda: packages")


class Spec:
    def __init__(self, *variants):
        self.variants = variants

    def satisfies(self, variant):
        return variant in self.variants


def spack_package():
    """The class, where Spack's words stand for nothing."""
    words = {name: lambda *_, **__: None for name in ("license", "version", "variant", "depends_on",
                                                      "requires")}
    modules = {"spack": {}, "spack.package": words, "spack_repo": {}, "spack_repo.builtin": {},
               "spack_repo.builtin.build_systems": {},
               "spack_repo.builtin.build_systems.meson": {"MesonPackage": object}}
    for name, contents in modules.items():
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(contents)
    with open(os.path.join(PACKAGING, "spack", "package.py"), encoding="utf-8") as file:
        names = {}
        exec(compile(file.read(), "package.py", "exec"), names)
    return names["Dlprof"]()


def check_spack(options):
    package = spack_package()
    for variants in ((), ("+stacks",)):
        package.spec = Spec(*variants)
        for argument in package.meson_args():
            name, value = argument[2:].split("=")
            choices = {"boolean": ["true", "false"], "feature": ["enabled", "disabled", "auto"]}
            t.check(argument[:2] == "-D" and value in choices.get(options.get(name), []),
                    "Spack: no such option", argument)


def main():
    try:
        version = introspect("--projectinfo")["version"]
    except OSError:
        t.skip("no meson")
    check_conda(version)
    with open(os.path.join(t.ROOT, "meson_options.txt"), encoding="utf-8") as file:
        check_spack(dict((line.split("'")[1], line.split("'")[3]) for line in file if "'" in line))
    t.finish()


main()
