# SPDX-License-Identifier: Apache-2.0
"""Help, manual pages and completions say the same of the same options, and are what tools accept."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

FOLDER = os.path.join(t.BUILD, "analyzer", "manual")
SHELLS = os.path.join(t.BUILD, "analyzer", "line")
PROGRAMS = ("dlprof", "dlprof-report")
EMPTY = t.scratch()  # to complete in: what lies in a folder is offered, too
PAGES = ("dlprof.1", "dlprof-report.1", "dlprof.7")
BASH = """
. "$1"
complete() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); {function}; printf '%s\\n' "${{COMPREPLY[@]}}"; }}
shift
complete "$@"
"""


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def output(*argv, cwd=None, **keywords):
    # The programs complete themselves.
    path = os.path.join(t.BUILD, "analyzer") + ":" + os.environ["PATH"]
    return t.run(list(argv), cwd=cwd,
                 env=t.environment(preload=False, LC_ALL="C.UTF-8", PATH=path, **keywords))


def helps(program):
    """Of the program and of each verb: {option: its text}, {verb: {options}}."""
    path = os.path.join(t.BUILD, "analyzer", program)
    top = output(path, "--help").out
    verbs = [v for v in re.findall(r"^  ([a-z]+) {2,}\S", top, re.MULTILINE)]
    options, of = {}, {}
    for verb in [""] + verbs:
        text = output(path, *([verb] if verb else []), "--help").out
        rows = re.findall(r"^  (?:-(\w), |    )--([\w-]+)(?: [\w:=.|]+)? +(\S.*)$", text, re.MULTILINE)
        of[verb] = {name for _, name, _ in rows}
        options.update({name: (letter, said) for letter, name, said in rows})
    t.check(len(verbs) >= 2 and len(options) >= 8, program, "help cannot be read", verbs, options)
    return top, options, of


def plain(page):
    """A manual page as text without troff."""
    text = re.sub(r"\\f[BIR]", "", read(FOLDER, page)).replace("\\-", "-").replace("\\e", "\\")
    return re.sub(r"\s+", " ", text.replace("\n", " "))


def check_options(program):
    top, options, of = helps(program)
    page = plain(program + ".1")
    for name, (letter, said) in sorted(options.items()):
        head = "{}--{}".format("-{}, ".format(letter) if letter else "", name)
        t.check(re.search(r"\.TP " + re.escape(head) + r"( [\w:=.|]+)? " + re.escape(said), page),
                program, "the page lacks", head, said)
    path = os.path.join(t.BUILD, "analyzer", program)
    for verb, names in of.items():
        offered = output(path, "__complete", *([verb] if verb else []), "-").out.splitlines()
        for name in names:
            letter, said = options[name]
            lines = ["--{}\t{}".format(name, said)] + (["-{}\t{}".format(letter, said)] if letter else [])
            t.check(set(lines) <= set(offered), program, verb, "completions lack", lines, offered)
        t.check(not verb or ".TP {} ".format(verb) in page, program, "the page lacks", verb)
    said = re.search(r"^exit status: (.*)$", top, re.MULTILINE).group(1)
    t.check(".SH EXIT STATUS " + said in page, program, "exit status", said)
    t.say(program, len(options), "options", sorted(of))
    return of


def check_explanations():
    listed = output(t.REPORT, "--explain", "all").out
    ids = re.findall(r"^  ([a-z]\w+) ", listed, re.MULTILINE)
    t.check(len(ids) > 20, "explanations", ids)
    page = plain("dlprof-report.1")
    for name in ids:
        t.check(".TP {} ".format(name) in page, "the page lacks", name)
    shown = re.sub(r"\s+", " ", output(t.REPORT, "--explain", "head_of_line").out)
    t.check(shown.split("(cause) ")[1].split(". ")[0] in page, "the page's words", shown)


def check_levels():
    """Each level of DLPROF_CUDA and DLPROF_DETAIL is in the page and, where README has a table, there."""
    page = plain("dlprof.7")
    of_cuda = read(t.ROOT, "include/dlprof/levels.h").split("#define DLPROF_CUDA_LEVELS")[1].split("\n\n")[0]
    names = re.findall(r'\(\w+, "(\w+)", "', of_cuda)
    t.equal(len(names), 5, "levels of DLPROF_CUDA", names)
    for name in names:
        t.check("{}: ".format(name) in page.split(".TP DLPROF_CUDA ")[1].split(".TP")[0], "dlprof.7 lacks", name)
    table = read(t.ROOT, "README.md").partition("| `DLPROF_CUDA` | records |")[2].split("\n\n")[0]
    t.check(not table or re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == names, "README's levels", table)


def check_environment():
    page = plain("dlprof.7")
    names = re.findall(r"^SETTING\((\w+),", read(t.ROOT, "include/dlprof/settings.def"), re.MULTILINE)
    t.check(len(names) > 8, "settings", names)
    for name in names:
        t.check(".TP {} ".format(name) in page, "dlprof.7 lacks", name)
    said = set(re.findall(r"\b(DLPROF_[A-Z_]+)", read(t.ROOT, "README.md"))) - {"DLPROF_END"}
    t.check(said and said <= set(names), "README names variables that nobody reads", said - set(names))


def check_format():
    for page in PAGES:
        path = os.path.join(FOLDER, page)
        if shutil.which("mandoc"):
            done = output("mandoc", "-Tlint", "-Wwarning", path)
            t.equal((done.status, done.out), (0, ""), "mandoc", page)
        if shutil.which("man") and shutil.which("groff"):
            done = output("man", "--warnings", "-l", path, MANWIDTH="80")
            t.equal((done.status, done.err), (0, ""), "man", page)
            t.check("NAME\n" in done.out and "SEE ALSO" in done.out, "man", page, done.out[:200])


def bash_words(program, *words, cwd=None):
    script = BASH.format(function="_" + program.replace("-", "_"))
    done = output("bash", "-c", script, "bash", os.path.join(SHELLS, program), program, *words,
                  cwd=cwd or EMPTY)
    t.equal((done.status, done.err), (0, ""), "bash", words)
    return done.out.split()


def check_bash(verbs):
    t.equal(bash_words("dlprof-report", "--col"), ["--color"], "bash")
    t.equal(bash_words("dlprof-report", "x.db", "--color", "a"), ["auto", "always"], "bash")
    t.equal(bash_words("dlprof-report", "--color", "=", "n"), ["never"], "bash")
    t.equal(bash_words("dlprof-report", "--color", "="), ["auto", "always", "never"], "bash")
    t.equal(bash_words("dlprof-report", "batches", "--cs"), ["--csv"], "bash")
    t.equal(bash_words("dlprof-report", "--cs"), [], "an option of another verb")
    t.equal(bash_words("dlprof-report", "tra"), ["trace"], "bash")
    t.equal(bash_words("dlprof", "ru"), ["run"], "bash")
    t.equal(bash_words("dlprof", "run", "--det"), ["--detail"], "bash")
    t.equal(bash_words("dlprof", "run", "--detail", "b"), ["batches"], "bash")
    t.check("python3" in bash_words("dlprof", "run", "-o", "x.db", "pytho"), "a command")
    t.check("python3" in bash_words("dlprof", "run", "--", "pytho"), "a command after --")
    t.check("/etc/passwd" in bash_words("dlprof", "run", "-o", "/etc/passw"), "a file")
    t.equal(bash_words("dlprof-report", "--explain", "head"), ["head_of_line"], "an explanation")
    t.equal(bash_words("dlprof", "demo", "slow"), ["slow_worker"], "a pattern")
    for program, of in verbs.items():
        for verb, options in of.items():
            found = bash_words(program, *([verb] if verb else []), "--")
            if verb or program != "dlprof":
                t.check({"--" + name for name in options} <= set(found), program, verb, found)
    t.say("bash: passed")


def neighbours():
    """A folder with names that begin as verbs do."""
    folder = t.scratch()
    for name in ("run", "runs", "trace", "exports"):
        os.mkdir(os.path.join(folder, name))
    for name in ("training.db", "training.log"):
        open(os.path.join(folder, name), "w").close()
    return folder


def check_bash_beside_files():
    """A verb is offered as such, whatever lies in the folder; a run where a run may stand."""
    folder = neighbours()
    t.equal(bash_words("dlprof", "ru", cwd=folder), ["run"], "bash, where no file may stand")
    t.equal(bash_words("dlprof", "train", cwd=folder), [], "bash, where no file may stand")
    t.equal(bash_words("dlprof-report", "tra", cwd=folder), ["trace"], "bash, a folder named as a verb")
    t.equal(bash_words("dlprof-report", "export", cwd=folder), ["export", "exports"], "bash")
    t.equal(bash_words("dlprof-report", "train", cwd=folder), ["training.db"], "bash, a run")
    t.equal(bash_words("dlprof-report", "trace", "train", cwd=folder), ["training.db"], "bash, a run")
    for words in (("compare", "train"), ("gate", "x.db", "--baseline", "train")):
        t.equal(bash_words("dlprof-report", *words, cwd=folder), ["training.db"], "not the log")
    t.equal(bash_words("dlprof-report", "import", "training.l", cwd=folder), ["training.log"], "a CSV")
    t.equal(bash_words("dlprof-report", "training.l", cwd=folder), ["training.log"],
            "where no run begins so")


# What zsh's own functions are asked for.
ZSH = """
emulate zsh
_describe() {{ for line in ${{(P)@[-1]}}; do echo "$line"; done }}
_files() {{ echo "_files $*" }}
_normal() {{ echo "_normal $CURRENT $words" }}
compset() {{ }}
words=("$@")
CURRENT=$#
. {source}
"""


def zsh_words(program, *words):
    """With the script's last line it calls itself."""
    script = ZSH.format(source=os.path.join(SHELLS, "_" + program))
    done = output("zsh", "-f", "-c", script, program, program, *words)
    t.equal((done.status, done.err), (0, ""), "zsh", words)
    return done.out.splitlines()


def check_zsh():
    t.check("--color:" in " ".join(zsh_words("dlprof-report", "--col")), "zsh, an option")
    t.equal(zsh_words("dlprof-report", "--color", "a"), ["auto", "always", "never"], "zsh, a value")
    t.equal(zsh_words("dlprof-report", "--color=a"), ["auto", "always", "never"], "zsh, a value")
    t.check("run:" in " ".join(zsh_words("dlprof", "ru")), "zsh, a verb")
    t.equal(zsh_words("dlprof-report", "trace", ""), ["_files -g *.db"], "zsh, a run")
    t.equal(zsh_words("dlprof", "run", "-o", ""), ["_files -g *"], "zsh, a file")
    t.equal(zsh_words("dlprof", "run", "--segment-dir", ""), ["_files -/"], "zsh, a folder")
    t.equal(zsh_words("dlprof", "run", "-o", "x.db", "python", "tra"), ["_normal 2 python tra"], "zsh, a command")


def fish_words(source, line, cwd):
    done = output("fish", "--no-config", "-c", "source {}; complete -C '{}'".format(source, line),
                  HOME=t.scratch(), cwd=cwd)
    return [found.split("\t")[0] for found in done.out.splitlines()], done.err


def check_other_shells():
    for program in PROGRAMS:
        if shutil.which("zsh"):
            done = output("zsh", "-n", os.path.join(SHELLS, "_" + program))
            t.equal((done.status, done.err), (0, ""), "zsh", program)
            if program == PROGRAMS[0]:
                check_zsh()
        if shutil.which("fish"):
            done = output("fish", "-n", os.path.join(SHELLS, program + ".fish"))
            t.equal((done.status, done.err), (0, ""), "fish", program)
    if not shutil.which("fish"):
        t.say("no fish: not completed")
        return
    for line, expected in (("dlprof-report --col", "--color"), ("dlprof-report tra", "trace"),
                           ("dlprof-report batches --cs", "--csv"), ("dlprof run --det", "--detail"),
                           ("dlprof-report --color=al", "--color=always"),
                           ("dlprof-report --explain head", "head_of_line"),
                           ("dlprof demo slow", "slow_worker")):
        source = os.path.join(SHELLS, line.split()[0] + ".fish")
        found, err = fish_words(source, line, EMPTY)
        t.check(expected in found, "fish", line, found, err)
    found, err = fish_words(os.path.join(SHELLS, "dlprof.fish"), "dlprof ru", neighbours())
    t.equal(found, ["run"], "fish, where no file may stand", err)
    for line in ("dlprof-report train", "dlprof-report compare train"):
        found, err = fish_words(os.path.join(SHELLS, "dlprof-report.fish"), line, neighbours())
        t.equal(found[:1], ["training.db"], "fish, a run", line, found, err)


def check_installed():
    done = subprocess.run(["meson", "introspect", "--installed", t.BUILD], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    if done.returncode:
        t.say("meson does not tell what it installs")
        return
    places = set(json.loads(done.stdout).values())
    for end in ("/bin/dlprof", "/bin/dlprof-report", "/man/man1/dlprof.1", "/man/man7/dlprof.7",
                "/man/man1/dlprof-report.1", "/bash-completion/completions/dlprof",
                "/zsh/site-functions/_dlprof-report", "/fish/vendor_completions.d/dlprof.fish"):
        t.check(any(place.endswith(end) for place in places), "not installed:", end)


def main():
    t.need_shim()
    verbs = {program: check_options(program) for program in PROGRAMS}
    check_explanations()
    check_environment()
    check_levels()
    check_format()
    check_bash(verbs)
    check_bash_beside_files()
    check_other_shells()
    check_installed()
    t.finish()


main()
