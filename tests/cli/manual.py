# SPDX-License-Identifier: Apache-2.0
"""Help, manual pages and completions agree on all options, and man, bash, zsh and fish accept them."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import dlprof_test as t

FOLDER = os.path.join(t.BUILD, "analyzer", "manual")
PROGRAMS = ("dlprof", "dlprof-report")
EMPTY = t.scratch()  # folder for the completions, which would offer its files too
PAGES = ("dlprof.1", "dlprof-report.1", "dlprof.7")
BASH = """
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_"$1"_words
printf '%s\\n' "${COMPREPLY[@]}"
"""


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def output(*argv, cwd=None, **keywords):
    return t.run(list(argv), cwd=cwd, env=t.environment(preload=False, LC_ALL="C.UTF-8", **keywords))


def helps(program):
    """Returns a program's options and those of each verb: {option: its text}, {verb: {options}}."""
    path = os.path.join(t.BUILD, "analyzer", program)
    top = output(path, "--help").out
    verbs = [v for v in re.findall(r"^  ([a-z]+) {2,}\S", top, re.MULTILINE)]
    options, of = {}, {}
    for verb in [""] + verbs:
        text = output(path, *([verb] if verb else []), "--help").out
        rows = re.findall(r"^  (?:-(\w), |    )--([\w-]+)(?: [\w:=.,|]+)? +(\S.*)$", text, re.MULTILINE)
        of[verb] = {name for _, name, _ in rows}
        options.update({name: (letter, said) for letter, name, said in rows})
    t.check(len(verbs) >= 2 and len(options) >= 8, program, "help cannot be read", verbs, options)
    return top, options, of


def plain(page):
    """Returns a manual page as text, without troff's marks."""
    text = re.sub(r"\\f[BIR]", "", read(FOLDER, page)).replace("\\-", "-").replace("\\e", "\\")
    return re.sub(r"\s+", " ", text.replace("\n", " "))


def check_options(program):
    top, options, of = helps(program)
    page = plain(program + ".1")
    for name, (letter, said) in sorted(options.items()):
        head = "{}--{}".format("-{}, ".format(letter) if letter else "", name)
        t.check(re.search(r"\.TP " + re.escape(head) + r"( [\w:=.,|]+)? " + re.escape(said), page),
                program, "the page lacks", head, said)
    fish = read(FOLDER, program + ".fish")
    for verb, names in of.items():
        for name in names:
            letter, said = options[name]
            end = "{}.* -d '{}'$".format(" -s " + letter if letter else "", re.escape(said.replace("'", "\\'")))
            t.check(re.search(" -l " + name + end, fish, re.M), program, verb, "fish lacks", name, said)
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
    """The manual has each level of DLPROF_CUDA and DLPROF_DETAIL, and so has README where it has a table."""
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
    done = output("bash", "-c", BASH, "bash", os.path.join(FOLDER, program), program, *words,
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
    t.check("python3" in bash_words("dlprof", "run", "pytho"), "a command")
    t.equal(bash_words("dlprof", "run", "-o", "r"), [], "a file, which bash offers then")
    t.check("complete -o bashdefault -o default " in read(FOLDER, "dlprof"), "files")
    t.equal(bash_words("dlprof-report", "--explain", "head"), ["head_of_line"], "an explanation")
    t.equal(bash_words("dlprof", "demo", "slow"), ["slow_worker"], "a pattern")
    for program, of in verbs.items():
        for verb, options in of.items():
            found = bash_words(program, *([verb] if verb else []), "--")
            if verb or program != "dlprof":
                t.check({"--" + name for name in options} <= set(found), program, verb, found)
    t.say("bash: passed")


# Prints what zsh's own functions offer; zsh leaves out what does not begin like the word.
ZSH = """
autoload -U +X bashcompinit && bashcompinit
compdef() {{ }}
compadd() {{ print -l -- "$@" }}
_default() {{ echo a file }}
words=("$@")
CURRENT=$#
. {source}
"""


def zsh_words(program, *words):
    script = ZSH.format(source=os.path.join(FOLDER, "_" + program))
    done = output("zsh", "-f", "-c", script, program, program, *words)
    t.equal(done.err, "", "zsh", words)
    return done.out.splitlines()


def check_zsh():
    t.check("--color" in zsh_words("dlprof-report", "--col"), "zsh, an option")
    t.check({"auto", "always", "never"} <= set(zsh_words("dlprof-report", "--color", "a")), "zsh, a value")
    t.check("run" in zsh_words("dlprof", "ru"), "zsh, a verb")
    t.check("--cuda" in zsh_words("dlprof", "run", "--cu"), "zsh, a verb's option")
    t.check("--cuda" not in zsh_words("dlprof", "doctor", "--cu"), "zsh, another verb's option")
    t.equal(zsh_words("dlprof", "run", "-o", ""), ["a file"], "zsh, a file")


def fish_words(source, line, cwd):
    done = output("fish", "--no-config", "-c", "source {}; complete -C '{}'".format(source, line),
                  HOME=t.scratch(), cwd=cwd)
    return [found.split("\t")[0] for found in done.out.splitlines()], done.err


def check_other_shells():
    for program in PROGRAMS:
        if shutil.which("zsh"):
            done = output("zsh", "-n", os.path.join(FOLDER, "_" + program))
            t.equal((done.status, done.err), (0, ""), "zsh", program)
            if program == PROGRAMS[0]:
                check_zsh()
        if shutil.which("fish"):
            done = output("fish", "-n", os.path.join(FOLDER, program + ".fish"))
            t.equal((done.status, done.err), (0, ""), "fish", program)
    if not shutil.which("fish"):
        t.say("no fish: not completed")
        return
    for line, expected in (("dlprof-report --col", "--color"), ("dlprof-report tra", "trace"),
                           ("dlprof-report batches --cs", "--csv"), ("dlprof run --det", "--detail"),
                           ("dlprof-report --color=al", "--color=always"),
                           ("dlprof-report --explain head", "head_of_line"),
                           ("dlprof demo slow", "slow_worker")):
        source = os.path.join(FOLDER, line.split()[0] + ".fish")
        found, err = fish_words(source, line, EMPTY)
        t.check(expected in found, "fish", line, found, err)


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
    check_other_shells()
    check_installed()
    t.finish()


main()
