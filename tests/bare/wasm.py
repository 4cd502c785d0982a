#!/usr/bin/env python3
"""tests/bare/wasm.py: does the core run where there is no operating system?

Takes everything but src/os for wasm32, compiled for the module of cmake/web.cmake or, where there is
none, here, and looks at what the objects ask for: a few functions on memory, mathematics, and what
compilers bring along. Then links them with kinds.c on a stack of 20 KiB, of which a call may take 16,
and runs that under node. Skipped (77) without the tools.

    tests/bare/wasm.py /path/to/tamis, which the module is beside
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADERS = pathlib.Path("/usr/include/wasm32-wasi")
FLAGS = ["--target=wasm32-wasi", "-std=c11", "-O1", "-ffreestanding", "-DNDEBUG", "-DXXH_NO_STDLIB",
         "-Werror=implicit-function-declaration", f"-I{ROOT}/include",
         f"-I{ROOT}/src", f"-I{ROOT}/tests"]
STACK = 20 << 10
# What a host without an operating system still has: memory, mathematics, the compiler's arithmetic.
ALLOWED = set("""memcpy memmove memset memcmp strcmp strlen __multi3 __stack_pointer
    ceil exp exp2 expm1 fabs floor fmax fmin frexp ldexp log log1p log2 pow rint sqrt lgamma
    nextafter erfc hypot cbrt round trunc lround fmod""".split())
RUN = """const fs = require('fs');
WebAssembly.instantiate(fs.readFileSync(process.argv[1]), {}).then(m => {
    const failed = m.instance.exports.first_failure();
    console.log(failed ? `kind ${failed} does not work` : 'every kind works');
    process.exit(failed ? 1 : 0);
}).catch(e => { console.log(`${e}`); process.exit(1); });"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:1]))}: {done.stdout}{done.stderr}")
    return done.stdout


def sources():
    found = [p for p in sorted((ROOT / "src").glob("*/*.c"))
             if p.parent.name != "os" and
             not p.stem.endswith(("_avx2", "_avx512", "_neon", "_simd128"))]
    return found + [ROOT / "tests" / "bare" / "kinds.c"]


def made_before(source):
    """What `make web` has made of it, or None."""
    name = f"{source.parent.name}-{source.stem}.o"
    web = pathlib.Path(sys.argv[1]).parent / "web-objects"
    return next((p for p in (web / "both" / name, web / "plain" / name)
                 if p.exists() and p.stat().st_mtime >= source.stat().st_mtime), None)


def asked_for(objects):
    """Symbols that no object defines."""
    lines = run(nm(), "--format=posix", *objects).splitlines()
    rows = [line.split() for line in lines if len(line.split()) >= 2]
    defined = {name for name, kind, *_ in rows if kind not in "Uw"}
    return {name for name, kind, *_ in rows if kind in "Uw"} - defined


def nm():
    return next((path for name in ("llvm-nm", "llvm-nm-14") if (path := shutil.which(name))), None)


def main():
    if os.environ.get("TAMIS_SANITIZED"):
        sys.exit(77)
    node = shutil.which("node") or shutil.which("nodejs")
    if not (shutil.which("clang") and shutil.which("wasm-ld") and node and nm()
            and HEADERS.is_dir()):
        print("no compiler or host for wasm32 here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        (scratch / "xxhash.h").symlink_to(next(
            p for p in (pathlib.Path("/usr/include/xxhash.h"),
                        pathlib.Path("/usr/local/include/xxhash.h")) if p.exists()))
        system = ["-isystem", scratch, "-isystem", HEADERS]

        def compiled(source):
            if made := made_before(source):
                return made
            made = scratch / f"{source.parent.name}-{source.stem}.o"
            run("clang", *FLAGS, *system, "-c", source, "-o", made)
            return made

        with ThreadPoolExecutor(2) as pool:
            objects = list(pool.map(compiled, sources()))
        strange = asked_for(objects[:-1]) - ALLOWED
        if strange:
            sys.exit(f"the core asks for: {' '.join(sorted(strange))}")
        module = scratch / "core.wasm"
        run("clang", "--target=wasm32-wasi", "-nostartfiles", "-Wl,--no-entry", "-Wl,--stack-first",
            f"-Wl,-z,stack-size={STACK}", "-Wl,--fatal-warnings", *objects, "-lm", "-o", module)
        done = subprocess.run([node, "-e", RUN, module], capture_output=True, text=True)
        print(done.stdout, done.stderr, sep="", end="")
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
