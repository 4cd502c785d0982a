#!/usr/bin/env python3
"""Programs that were compiled with an older version run with the shared library of today.

    older.py SOURCE BUILD

tests/abi/<version>/ holds the headers of a version. With each of them program.c is compiled, linked
to all functions that they declare, and run; and whatever they tell of structs and numbers must be
so today: places and sizes of fields, sizes of structs that do not start with one, values of
constants, numbers of kinds, abilities and statuses. In a long run the same programs run with a library whose structs have grown.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

STRUCT = re.compile(r"^typedef struct (\w+) \{(.*?)^\} \1;", re.MULTILINE | re.DOTALL)
FUNCTION = re.compile(r"^TAMIS_API[^;{]*?\b(tamis_\w+)\(", re.MULTILINE)
CONSTANT = re.compile(r"^\s+(TAMIS_[A-Z0-9_]+) = ", re.MULTILINE)
LISTS = ("TAMIS_KINDS", "TAMIS_ABILITIES", "TAMIS_STATUSES")
CFLAGS = ["-std=c11", "-Wall", "-Wextra", "-Werror"]


def text_of(headers):
    text = "\n".join(path.read_text() for path in sorted(headers.glob("*.h")))
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def field_names(body):
    for declaration in filter(str.strip, body.split(";")):
        pointer = re.search(r"\(\*(\w+)\)", declaration)
        if pointer:
            yield pointer.group(1)
        else:
            for part in declaration.split(","):
                yield re.search(r"(\w+)\s*(\[\w+\])?\s*$", part).group(1)


def starts_with_its_size(body):
    return next(field_names(body)) == "size" and "size_t" in body.split(";")[0]


def probe_of(headers):
    """A program that prints what the headers tell, one fact on a line, and uses every function."""
    text = text_of(headers)
    structs, functions = STRUCT.findall(text), sorted(set(FUNCTION.findall(text)))
    constants = sorted(set(CONSTANT.findall(text)))
    if min(len(structs), len(functions), len(constants)) < 10:
        sys.exit(f"older: {headers}: only {len(structs)} structs, {len(functions)} functions and "
                 f"{len(constants)} constants")
    lines = ["#include <stdio.h>", "#include <stddef.h>"]
    lines += [f"#include <{path.name}>" for path in sorted(headers.glob("*.h"))]
    lines += ["typedef void any(void);", "any *const FUNCTIONS[] = {"]
    lines += [f"    (any *){name}," for name in functions]
    lines += ["};", "int main(void)", "{", "    if (!FUNCTIONS[0])", "        return 1;"]
    for name, body in structs:
        if not starts_with_its_size(body):
            lines.append(f'    printf("{name}: %zu bytes\\n", sizeof({name}));')
        for field in field_names(body):
            if field == "reserved":  # it may have got names, in the bytes that it had
                continue
            lines.append(f'    printf("{name}.{field}: %zu bytes at %zu\\n", '
                         f"sizeof((({name} *)0)->{field}), offsetof({name}, {field}));")
    for name in constants:
        lines.append(f'    printf("{name}: %lld\\n", (long long){name});')
    lines.append('#define TAMIS_X(constant, number, ...) printf(#constant ": %u\\n", number);')
    lines += [f"    {name}(TAMIS_X)" for name in LISTS]
    return "\n".join([*lines, "    return 0;", "}", ""]), len(structs), len(functions)


class Library:
    def __init__(self, folder, headers):
        self.folder, self.headers = folder, headers
        self.environment = os.environ | {"LD_LIBRARY_PATH": str(folder)}

    def output(self, program, *words):
        done = subprocess.run([program, *words], env=self.environment, text=True,
                              stdout=subprocess.PIPE)
        if done.returncode:
            sys.exit(f"older: status {done.returncode} from {program.name} with "
                     f"{self.folder.name}")
        return done.stdout

    def compiled(self, source, headers, program):
        cc = os.environ.get("CC", "cc")
        subprocess.run([cc, *CFLAGS, f"-I{headers}", source, f"-L{self.folder}", "-ltamis", "-o",
                        program], check=True)
        return program


def facts(output):
    """By name. Lists of kinds, abilities and statuses may have new entries today."""
    return dict(line.split(": ", 1) for line in output.splitlines())


def check_version(old, library, source, scratch):
    """Returns how many facts are different today."""
    program = library.compiled(source / "tests/abi/program.c", old, scratch / "program")
    version = library.output(program, str(scratch / "file")).strip()
    if version != old.name:
        sys.exit(f"older: {old.name}: these are the headers of {version}")
    text, structs, functions = probe_of(old)
    probe = scratch / "probe.c"
    probe.write_text(text)
    then = facts(library.output(library.compiled(probe, old, scratch / "then")))
    now = facts(library.output(library.compiled(probe, library.headers, scratch / "now")))
    changed = [name for name in then if now.get(name) != then[name]]
    for name in changed:
        print(f"older: {old.name} has {name}: {then[name]}, today it is {now.get(name)}",
              file=sys.stderr)
    print(f"programs of {old.name} run with {library.folder.name}: {structs} structs, {functions} "
          f"functions, {len(then)} facts, {len(changed)} changed")
    return len(changed)


def grown(source, scratch):
    """The library as it is once every struct that starts with its size has got new fields."""
    tree, build = scratch / "tree", scratch / "grown"
    shutil.copytree(source, tree, ignore=shutil.ignore_patterns(".git", "build", "node_modules"))
    structs = 0
    for header in (tree / "include").glob("*.h"):
        def grow(match):
            nonlocal structs
            body = re.sub(r"/\*.*?\*/", "", match.group(2), flags=re.DOTALL)
            if not starts_with_its_size(body):
                return match.group()
            structs += 1
            end = f"}} {match.group(1)};"
            return match.group().replace(end, f"    uint64_t later[9];\n{end}")
        header.write_text(STRUCT.sub(grow, header.read_text()))
    if structs < 6:
        sys.exit(f"older: only {structs} structs start with their size")
    subprocess.run(["cmake", "-S", tree, "-B", build, "--log-level=ERROR", "-DTAMIS_WERROR=ON",
                    "-DTAMIS_KINDS=bloom;hashset;cqf"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build, "-j2", "--target", "tamis-shared"], check=True,
                   stdout=subprocess.DEVNULL)
    return Library(build, tree / "include")


def main():
    source, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    versions = [path for path in sorted((source / "tests/abi").iterdir()) if path.is_dir()]
    if not versions:
        sys.exit("older: there are no headers")
    changed = 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        libraries = [Library(build, source / "include")]
        if "TAMIS_LONG" in os.environ:
            libraries.append(grown(source, scratch))
        for library in libraries:
            for old in versions:
                changed += check_version(old, library, source, scratch)
    sys.exit(1 if changed else 0)


if __name__ == "__main__":
    main()
