# SPDX-License-Identifier: Apache-2.0
"""The shim's table of CUPTI's fields, and the fakes, agree with NVIDIA's headers and libraries.

usage: abi.py headers|library|double|versions. TEST_CUDA: a toolkit to use instead of /usr/local/cuda.
TEST_LIBCUPTI: the libcupti to use. `library` asks NVIDIA's libcupti without a driver, `double` asks the
fake libcupti the same. `versions` checks headers and library of each version of CUPTI whose wheels,
nvidia_cuda_cupti*.whl and the nvidia_cuda_runtime*.whl of the same CUDA, lie in one folder: TEST_CUPTI,
or the one that tests/run.sh filled by wheels.txt.
"""
import glob
import os
import re
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from gpu import (FAKES, check, environment, equal, finish, need_shim, run, say, scratch,  # noqa: E402
                 skip, start)
import pypi  # noqa: E402

ROOT = os.path.join(HERE, "..", "..")
CUDA = os.environ.get("TEST_CUDA") or "/usr/local/cuda"
PYTHON = "/usr/bin/python3"

# {version: what libcupti from that version on answers without a driver; None: the function may be missing}
NO_DRIVER, NOT_INITIALIZED = {0: 15, 130000: 999}, {0: 0, 130200: 999}
ANSWERS = {
    "cuptiGetVersion": NOT_INITIALIZED, "cuptiGetTimestamp": NOT_INITIALIZED,
    "realtime": {0: 1, 130200: 0}, "cuptiGetResultString": NOT_INITIALIZED,
    "cuptiGetLastError": NOT_INITIALIZED,
    "cuptiActivityGetNumDroppedRecords": {0: 15, 23: 0, 130200: 999},
    "cuptiActivityRegisterCallbacks": NOT_INITIALIZED, "cuptiSubscribe": NO_DRIVER,
    "cuptiEnableCallback": {0: 1, 130200: 999}, "cuptiEnableDomain": {0: 1, 130200: 999},
    "cuptiUnsubscribe": {0: 1, 130200: 999}, "cuptiActivityEnable": NO_DRIVER,
    "cuptiActivityRegisterTimestampCallback": NO_DRIVER, "cuptiSetThreadIdType": NO_DRIVER,
    "cuptiActivitySetAttribute": NO_DRIVER, "cuptiActivityFlushAll": NO_DRIVER,
    "cuptiActivityFlushPeriod": NO_DRIVER,
    "cuptiActivityEnableAllSyncRecords": {0: None, 26: 15, 130000: 999},
    "cuptiActivityEnableRuntimeApi": {0: None, 23: 15, 130000: 999},
    "cuptiFinalize": NOT_INITIALIZED,
}
CRASHES = range(130200, 130300)  # versions of which every function crashes where there is no driver


def expected(name, version):
    return ANSWERS[name][max(first for first in ANSWERS[name] if first <= version)]


# {the shim's name of a record: (NVIDIA's name of its struct, the number of that struct in CUDA 11.0)}
STRUCTS = {"KERNEL": ("Kernel", 5), "MEMCPY": ("Memcpy", 1), "MEMCPY2": ("MemcpyPtoP", 1),
           "MEMSET": ("Memset", 1), "SYNC": ("Synchronization", 1), "GRAPH": ("GraphTrace", 1),
           "API": ("API", 1), "OVERHEAD": ("Overhead", 1)}


def compile_c(*arguments, text=None):
    return run(["cc", "-w", "-D_GNU_SOURCE"] + list(arguments), text_in=text)


def structs(headers):
    """The structs that the headers have for each record: {"KERNEL": ["CUpti_ActivityKernel5", ...]}, newest last."""
    done = compile_c("-E", "-P", *headers, "-xc", "-", text="#include <cupti.h>\n")
    equal(done.status, 0, "headers", done.err)
    found = {}
    for name, (vendor, oldest) in STRUCTS.items():
        pattern = r"\}\s*CUpti_Activity" + vendor + r"(\d*)\s*;"
        numbers = sorted(int(number or 1) for number in re.findall(pattern, done.out))
        found[name] = ["CUpti_Activity{}{}".format(vendor, number if number > 1 else "")
                       for number in numbers if number >= oldest]
        check(found[name], "structs of", name)
    return found


LAYOUT = """#include <stddef.h>
#include <cupti.h>
#include "cuda/record.h"
"""
OF_STRUCT = """#define X(record, vendor, field, type, offset) OF_##record(field, type, offset)
{others}
#define OF_{name}(field, type, offset) _Static_assert(offsetof({struct}, field) == (offset) && \\
	sizeof((({struct} *)0)->field) == sizeof(type), "{struct}." #field " lies elsewhere");
CUPTI_FIELDS(X)
#undef X
{forget}
"""


# The headers of CUDA 12.0 and 12.1 have CUPTI_API_VERSION 18, as those of 11.8 do: the fakes call it 19.
VERSION = "-DFAKE_VERSION=(CUPTI_API_VERSION == 18 && CUDA_VERSION >= 12000 ? 19 : CUPTI_API_VERSION)"


def check_headers(include):
    """All structs have the fields that the shim reads where CUDA 11.0 had them; the fakes write the newest structs."""
    headers = [part for folder in include for part in ("-isystem", folder)]
    shim = ["-I", os.path.join(ROOT, "shim"), "-I", os.path.join(ROOT, "include")]
    found, folder = structs(headers), scratch()
    text = LAYOUT
    for name in found:
        for struct in found[name]:
            text += OF_STRUCT.format(
                name=name, struct=struct,
                others="\n".join("#define OF_{}(...)".format(o) for o in STRUCTS if o != name),
                forget="\n".join("#undef OF_" + o for o in STRUCTS))
    done = compile_c(*headers, *shim, "-fsyntax-only", "-xc", "-", text=text)
    equal(done.status, 0, "every struct of", include, done.err)
    done = compile_c(*headers, *shim, "-fsyntax-only",
                     os.path.join(ROOT, "tests", "unit", "test_cuda_layout.c"))
    equal(done.status, 0, "test_cuda_layout.c", include, done.err)

    fakes, program = os.path.join(HERE, "..", "fakes"), os.path.join(folder, "abi")
    newest = ["-D{}={}".format(name, found[name][-1]) for name in found]
    done = compile_c(*headers, *newest, VERSION, "-include", "cupti.h", "-I", fakes, "-o",
                     program, os.path.join(HERE, "abi.c"),
                     *(os.path.join(fakes, name) for name in ("records.c", "common.c")))
    if equal(done.status, 0, "abi.c builds", done.err):
        done = run([program])
        equal((done.status, done.out), (0, "checked\n"), "records")
    return {name: len(found[name]) for name in found}, found["KERNEL"][-1]


def check_toolkit():
    include = os.path.join(CUDA, "include")
    if not os.path.exists(os.path.join(include, "cupti.h")):
        skip("no CUPTI headers in {}; cuda-abi-versions has those of PyPI".format(include))
    check_headers([include])


def ask(path, versions, **changes):
    """Checks what the libcupti at `path` answers without a driver; returns its version, else versions[0]."""
    environments = [environment(preload=preload, LD_LIBRARY_PATH=None, **changes)
                    for preload in (False, True)]
    done, under_us = (run([os.path.join(FAKES, "nodriver"), path], env=env)
                      for env in environments)
    equal((under_us.status, under_us.out), (done.status, done.out), path, "under dlprof")
    if versions[0] in CRASHES:
        check(done.status in (-11, -6), path, "crashes without a driver", done.status)
        return versions[0]
    equal(done.status, 0, path, done.err)
    answers = [line.split() for line in done.out.splitlines()]
    equal(answers.pop(), ["end"], path, "came to its end")
    answers = [(name, None if value == "missing" else int(value)) for name, value in answers]
    found = {name for name, _ in answers}
    equal(sorted(set(ANSWERS) - found), [], "asked")
    version = dict(answers)["version"] or versions[0]
    check(version in versions, path, "version", version, versions)
    for name, value in answers:
        if name != "version" and not (value is not None and expected(name, version) is None):
            equal(value, expected(name, version), path, version, name)
    return version


def need_no_driver():
    # A new process tries it: meson puts the fakes' libcuda into the LD_LIBRARY_PATH of this process.
    find = "import ctypes; ctypes.CDLL('libcuda.so.1')"
    env = environment(preload=False, LD_LIBRARY_PATH=None)
    if not run([sys.executable, "-c", find], env=env).status:
        skip("this machine has a driver: see tests/gpu")


def check_library():
    need_no_driver()
    named = os.environ.get("TEST_LIBCUPTI")
    paths = [named] if named else sorted(
        glob.glob(os.path.join(CUDA, "lib64", "libcupti.so.13")) +
        glob.glob(os.path.join(CUDA, "extras", "CUPTI", "lib64", "libcupti.so.13")))
    if not paths:
        skip("no libcupti.so.13 in {}; cuda-abi-versions has those of PyPI".format(CUDA))
    say(paths[0], ask(paths[0], range(130000, 130200)))


def check_double():
    for cuda, versions in (12, (18, 21, 23, 24, 26, 28)), (13, (130000, 130001, 130101, 130201, 130301,
                                                            130500)):
        path = os.path.join(FAKES, "v{}".format(cuda), "libcupti.so.{}".format(cuda))
        for version in versions:
            ask(path, [version], FAKE_CUPTI_VERSION=version)


ATTACH = """
import ctypes, sys
for path in sys.argv[1:]:
    ctypes.CDLL(path)
print(ctypes.CDLL("libcuda.so.1").cuInit(0))
print(*sorted({line.split()[-1] for line in open("/proc/self/maps") if "libcupti" in line}))
"""


def check_attach(one, other):
    """The shim asks the libcupti of the process and no other, also where that cannot use the driver."""
    path = "{}:{}".format(FAKES, os.path.dirname(other.library))
    driver = 12040 if one.version in CRASHES else 13000
    for already in one.library, one.runtime:
        done = start([PYTHON, "-c", ATTACH, already], LD_LIBRARY_PATH=path,
                     FAKE_DRIVER_VERSION=driver)
        equal((done.status, done.out.splitlines()), (0, ["0", os.path.realpath(one.library)]),
              one.name, "with", already, done.err[-500:])
        meta = done.meta()
        reason = meta.get("cuda_reason", "")
        equal(meta.get("cuda_mode"), "cudart", one.name, "mode")
        if one.version in CRASHES:
            wanted = "libcupti is of CUDA 13, the driver of CUDA 12"
        elif one.version > CRASHES[-1]:
            wanted = "cuptiGetVersion said 999"
        else:
            wanted = "cuptiSubscribe said {}".format(expected("cuptiSubscribe", one.version))
            equal(meta.get("cupti_version"), str(one.version), one.name, "version")
        check(wanted in reason, one.name, "reason", reason)


class Wheels:
    """The libcupti, libcudart and headers of one version of CUPTI, unpacked as in site-packages."""

    def __init__(self, name, wheels):
        self.name, self.folder = name, scratch()
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(self.folder, [
                    member for member in archive.namelist()
                    if "/include/" in member or re.search(r"/lib(cupti|cudart)\.so", member)])
        self.library, = self.find("lib/libcupti.so.*")
        self.runtime, = self.find("lib/libcudart.so.*")
        self.include = sorted({os.path.dirname(path) for path in
                               self.find("include/cu*.h") + self.find("include/crt")})
        with open(self.find("include/cupti_version.h")[0]) as file:
            self.version = int(re.search(r"define CUPTI_API_VERSION (\d+)", file.read()).group(1))

    def find(self, pattern):
        return glob.glob(os.path.join(self.folder, "nvidia", "**", pattern), recursive=True)


def version_of(wheel):
    return re.search(r"-(\d+\.\d+)\.", os.path.basename(wheel)).group(1)


def unpack(folder):
    """Wheels of each libcupti in `folder`, by version. Those of one CUDA share its runtime's wheel, and all
    share one wheel of the compiler's headers, which the runtime's headers include."""
    common = sorted(glob.glob(os.path.join(folder, "nvidia_cuda_crt*.whl")))[-1:]
    runtimes = {version_of(path): path for path in
                sorted(glob.glob(os.path.join(folder, "nvidia_cuda_runtime*.whl")))}
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "nvidia_cuda_cupti*.whl"))):
        if check(version_of(path) in runtimes, "no nvidia_cuda_runtime wheel for", path):
            found.append(Wheels(os.path.basename(path).split("-")[1],
                                [path, runtimes[version_of(path)]] + common))
    return sorted(found, key=lambda one: one.version)


def check_versions():
    folder = pypi.need("cupti", "TEST_CUPTI")
    need_no_driver()
    need_shim()
    found = unpack(folder)
    check(found, "no nvidia_cuda_cupti wheels in", folder)
    for i, one in enumerate(found):
        structs, newest = check_headers(one.include)
        ask(one.library, [one.version])
        check_attach(one, found[i - 1])
        say("{}: version {}, {} structs, {}".format(one.name, one.version, sum(structs.values()),
                                                   newest))


def main():
    {"headers": check_toolkit, "library": check_library, "double": check_double,
     "versions": check_versions}[sys.argv[1]]()
    finish()


main()
