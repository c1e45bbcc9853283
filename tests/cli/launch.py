# SPDX-License-Identifier: Apache-2.0
"""`dlprof run` behaves as the command alone, sets only the variables that it must, and says what cannot
work."""
import os
import shlex
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

MARKS = """
import ctypes
shim = ctypes.CDLL(None)
for i in range(30):
    shim.dlprof_batch_begin()
    shim.dlprof_batch_end(ctypes.c_int64(i))
"""


def dlprof(*arguments, cwd=None, **changes):
    return t.run([t.DLPROF] + list(arguments), env=t.environment(preload=False, **changes), cwd=cwd)


def refused(status, words, *arguments, **keywords):
    """Checks for one line with these words on standard error, and that nothing was run."""
    result = dlprof(*arguments, **keywords)
    t.equal(result.status, status, arguments, result.err)
    t.equal(result.out, "", arguments)
    t.equal(result.err.count("\n"), 1, arguments, result.err)
    t.check(result.err.startswith("dlprof: ") and words in result.err, arguments,
            "does not say", words, result.err)


def check_status():
    for status in (0, 1, 2, 7, 255):
        done = dlprof("run", "--", "sh", "-c", "echo out; echo err >&2; exit {}".format(status))
        t.equal((done.status, done.out, done.err), (status, "out\n", "err\n"), "status")
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
        done = dlprof("run", "sh", "-c", "kill -{} $$".format(int(number)))
        t.equal((done.status, done.err), (-number, ""), "signal", number)
    done = dlprof("run", "-q", "echo", "--quiet", "-o", "--", "x")
    t.equal(done.out, "--quiet -o -- x\n", "the command's own options", done.err)
    # As with git, options before the verb are dlprof's, and options behind the command are the command's.
    for before in (["-q"], ["--quiet", "--always"], ["-q", "run", "-q"]):
        verb = [] if "run" in before else ["run"]
        done = dlprof(*before, *verb, "echo", "--csv", "-o", "run", "--", "x")
        t.equal((done.status, done.out, done.err), (0, "--csv -o run -- x\n", ""), before)
    done = dlprof("--quiet", "run", "--", "sh", "-c", "echo $1", "sh", "--help")
    t.equal((done.status, done.out), (0, "--help\n"), "-- behind the verb", done.err)


def check_refusals(folder):
    plain = os.path.join(folder, "plain.py")
    with open(plain, "w") as file:
        file.write("print(1)\n")
    for verb in ([], ["run"], ["run", "--"]):
        refused(2, "something is missing", *verb)
    refused(2, "'python' is no verb; to run it: dlprof run python", "python", "train.py")
    refused(2, "'python' is no verb; to run it: dlprof run python", "-q", "python", "train.py",
            "--epochs", "3")
    refused(2, "--json does not go with dlprof run", "--json", "run", "true")
    refused(2, "'doctr' is no verb; did you mean doctor?", "doctr")
    refused(2, "unknown option --csv", "--csv", "run", "true")
    refused(2, "unknown option --csv", "run", "--csv", "true")
    refused(2, "--json does not go with dlprof run", "run", "--json", "true")
    refused(2, "--dry-run does not go with dlprof demo", "demo", "--dry-run")
    refused(2, "--detail: 'much' is not batches|slow|all", "run", "--detail", "much", "true")
    refused(127, "cannot run 'no-such-program': No such file", "run", "no-such-program")
    refused(127, "did you mean: dlprof run python train.py", "run", "train.py", "--lr", "1")
    refused(126, "did you mean: dlprof run python " + plain, "run", plain)
    refused(126, "Permission denied", "run", folder)
    touch = os.path.join(folder, "touched")
    refused(2, "name another with -o", "run", "-o", os.path.join(plain, "x.db"), "touch", touch)
    for library, why in ((os.path.join(folder, "none.so"), "No such file"), (plain, "not a library"),
                         (folder, "Is a directory")):
        refused(2, why, "run", "--library", library, "touch", touch)
    blank = os.path.join(folder, "a b.so")
    shutil.copy(t.SHIM, blank)
    refused(2, "LD_PRELOAD cannot hold", "run", "--library", blank, "touch", touch)
    t.check(not os.path.exists(touch), "ran although it was refused")


def injects():
    return "InitializeInjection" in subprocess.run(["nm", "-D", "--defined-only", t.SHIM],
                                                   stdout=subprocess.PIPE).stdout.decode()


def environment_of(*options, **changes):
    done = dlprof("run", *options, "env", **changes)
    t.equal(done.status, 0, options, done.err)
    found = dict(line.split("=", 1) for line in done.out.splitlines() if "=" in line)
    before = t.environment(preload=False, **changes)
    ours = ("_", "SHLVL", "DLPROF_RUNS")  # DLPROF_RUNS is the list for the report: see run_report.py
    return {k: v for k, v in found.items() if before.get(k) != v and k not in ours}


def check_environment(folder):
    expected = {"LD_PRELOAD": t.SHIM}
    if injects():
        expected["CUDA_INJECTION64_PATH"] = t.SHIM
    t.equal(environment_of(), expected, "environment")
    # ld.so only says that it cannot preload libraries that do not exist.
    other, asan = "/nonexistent/other.so", "/nonexistent/libasan.so.8"
    for before, after in ((other, t.SHIM + ":" + other), (t.SHIM, t.SHIM),
                          (other + " " + asan, asan + ":" + t.SHIM + ":" + other),
                          (other + ":" + t.SHIM + "::", t.SHIM + ":" + other)):
        found = environment_of(LD_PRELOAD=before)
        t.equal(found.get("LD_PRELOAD", before), after, "beside", before)
    found = environment_of("-o", "x-%r.db", "--detail", "all", "--slow-us", "77", "--batch-fn",
                           "a:b", "--cuda", "off", "--segment-dir", folder, "--log", "stderr",
                           "--always", "-q", cwd=folder, DLPROF_DISABLE="1")
    t.equal(found, {"LD_PRELOAD": t.SHIM, "DLPROF_OUT": "x-%r.db", "DLPROF_DETAIL": "all",
                    "DLPROF_SLOW_US": "77", "DLPROF_BATCH_FN": "a:b", "DLPROF_CUDA": "off",
                    "DLPROF_SEGMENT_DIR": folder, "DLPROF_LOG": "stderr",
                    "DLPROF_ACTIVATE": "always", "DLPROF_QUIET": "1"}, "options")
    shown = dlprof("run", "-n", "-o", "it's.db", "sh", "-c", "touch x", cwd=folder)
    words = shlex.split(shown.out.replace("\\\n", ""))
    t.equal((words[0], words[-3:]), ("env", ["sh", "-c", "touch x"]), "dry run", shown.out)
    t.equal(sorted(words[1:-3])[-2:], ["DLPROF_OUT=it's.db", "LD_PRELOAD=" + t.SHIM], "dry run")
    t.equal(os.listdir(folder), [], "a dry run leaves")


def build(folder, name, text, *arguments, compiler="cc"):
    path = os.path.join(folder, name)
    if not shutil.which(compiler):
        t.say("no", compiler, "for", name)
        return None
    done = subprocess.run([compiler, "-x", "c", "-", "-o", path] + list(arguments),
                          input=text.encode(), stderr=subprocess.PIPE)
    if done.returncode:
        t.say("cannot build", name, done.stderr.decode()[:200])
        return None
    return path


def check_injection(folder):
    """CUDA's variable names the library only if that exports what CUDA looks for, and not if it is set."""
    library = build(folder, "inject.so", "int InitializeInjection(void) { return 1; }", "-shared",
                    "-fPIC")
    if not library:
        return
    name = "CUDA_INJECTION64_PATH"
    t.equal(name in environment_of(), injects(), "injection of the real library")
    t.equal(environment_of("--library", library).get(name), library, "injection")
    t.equal(environment_of("--library", library, "--cuda", "off").get(name), None, "cuda off")
    t.equal(environment_of("--library", library, **{name: "/x"}).get(name), None, "taken")


def check_other_profilers(folder):
    """CUDA's variable does not name dlprof in NVIDIA's profilers and MPI's helpers; another value of it stays."""
    for name in "ncu", "nsys", "orted", "else":
        path = shutil.copy("/usr/bin/env", os.path.join(folder, name))
        for taken in None, "/x":
            for argv, preload in (([path], True), ([t.DLPROF, "run", "-q", path], False)):
                done = t.run(argv, env=t.environment(preload=preload, CUDA_INJECTION64_PATH=taken))
                found = [line for line in done.out.splitlines() if line.startswith("CUDA_INJECTION64_PATH=")]
                wanted = taken or (t.SHIM if name == "else" and injects() else None)
                t.equal((done.status, found), (0, ["CUDA_INJECTION64_PATH=" + wanted] if wanted else []), name, taken, argv)
    # Programs that ncu starts, whatever their name, have its variables.
    for mark in "NV_TPS_LAUNCH_TOKEN", "NV_NSIGHT_INJECTION_PORT_BASE", "NV_OTHER":
        done = t.run(["env"], env=t.environment(preload=True, CUDA_INJECTION64_PATH=None, **{mark: "1"}))
        t.equal("CUDA_INJECTION64_PATH" in done.out, mark == "NV_OTHER" and injects(), mark)


def check_targets(folder):
    """A program that cannot be preloaded runs all the same, and one line says that nothing is recorded."""
    hello = "#include <stdio.h>\nint main(void) { puts(\"ran\"); return 3; }"
    secure = build(folder, "secure", hello)
    if secure:
        shutil.copy(secure, secure + "-copy")
    cases = [("statically linked", build(folder, "static", hello, "-static")),
             ("linked with musl", build(folder, "musl", hello, compiler="musl-gcc")),
             ("another word size", build(folder, "small", hello, "-m32"))]
    if secure and os.geteuid() == 0:
        os.chown(secure, 65534, 65534)
        os.chmod(secure, 0o4755)
        cases.append(("is setuid", secure))
    for words, program in list(cases):
        if program:
            script = program + "-script"
            with open(script, "w") as file:
                file.write("#!/usr/bin/env {}\n".format(os.path.basename(program)))
            os.chmod(script, 0o755)
            cases.append((words, script))
    for words, program in cases:
        if not program:
            continue
        path = folder + ":" + os.environ["PATH"]
        done = dlprof("run", program, PATH=path)
        t.equal((done.status, done.out), (3, "ran\n"), program)
        said = [line for line in done.err.splitlines() if line.startswith("dlprof: ")]
        t.check(len(said) == 1 and words in said[0] and "nothing will be recorded" in said[0],
                program, done.err)
        done = dlprof("run", "-q", program, PATH=path)
        t.check("dlprof: " not in done.err, program, "is not quiet", done.err)
    if secure:
        done = dlprof("run", secure + "-copy")
        t.equal((done.status, done.out, done.err), (3, "ran\n", ""), "an ordinary program")


def check_asan(folder):
    program = build(folder, "asan", "int main(void) { return 5; }", "-fsanitize=address")
    if program and os.path.exists(program):
        done = dlprof("run", program, ASAN_OPTIONS="detect_leaks=0")
        t.equal((done.status, done.err), (5, ""), "a program with AddressSanitizer")


def check_recording(folder):
    database = os.path.join(folder, "run.db")
    done = dlprof("run", "--exec", "-o", database, t.PYTHON, "-c", MARKS)
    t.equal(done.status, 0, done.err)
    t.check(done.err.startswith("dlprof: 30 batches"), "line at exit", done.err)
    t.wait_for_drain(database)
    t.equal(t.rows(database, "SELECT COUNT(*) AS n FROM batch")[0]["n"], 30, "batches")


def main():
    t.need_shim()
    check_status()
    check_refusals(t.scratch())
    check_environment(t.scratch())
    check_injection(t.scratch())
    check_other_profilers(t.scratch())
    check_targets(t.scratch())
    check_asan(t.scratch())
    check_recording(t.scratch())
    t.finish()


main()
