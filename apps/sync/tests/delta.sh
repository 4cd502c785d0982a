#!/usr/bin/env bash
# tamis delta: signatures, deltas and patches, alone and together with rdiff.
. "$(dirname "$0")/../../../tests/cli/check.sh"

section 'Pairs of files, and rdiff'

# Prints what went wrong, nothing if all went well.
cat >pairs.py <<'END'
import itertools, os, random, subprocess, sys

tamis, pairs, step = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
FORMATS = list(itertools.product(("blake2", "md4"), ("rabinkarp", "rollsum")))
CHANGES = ("insert", "delete", "move", "append", "truncate", "empty", "none")


def noise(r, n):
    return r.randbytes(n)


def old_file(r):
    n = r.choice((0, 1, 2, 255, 256, 257, 5000, 60000, 200000))
    texture = r.choice(("noise", "noise", "zeros", "periodic"))
    if texture == "zeros":
        return bytes(n)
    if texture == "periodic":
        return periodic(r, r.randint(1, 4096), n)
    return noise(r, n)


def periodic(r, period, n):
    return (noise(r, period) * (n // period + 1))[:n]


def changed(r, old, change):
    at, n = r.randint(0, len(old)), r.randint(0, 3000)
    if change == "insert":
        return old[:at] + noise(r, n) + old[at:]
    if change == "delete":
        return old[:at] + old[at + n:]
    if change == "move":
        rest, to = old[:at] + old[at + n:], r.randint(0, max(0, len(old) - n))
        return rest[:to] + old[at:at + n] + rest[to:]
    if change == "append":
        return old + noise(r, n)
    if change == "truncate":
        return old[:at]
    return b"" if change == "empty" else old


def run(*command):
    return subprocess.run(command, capture_output=True, check=False)


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)


def read(name):
    with open(name, "rb") as file:
        return file.read()


def patched(program, delta, new, what):
    if os.path.exists("made"):
        os.unlink("made")
    command = ([tamis, "delta", "patch"] if program == "tamis" else ["rdiff", "-f", "patch"])
    done = run(*command, "old", delta, "made")
    if done.returncode or read("made") != new:
        print(f"{program} does not patch {delta}: {what}: {done.stderr}")


def exchange(i, old, new, block, strong):
    """Signatures, deltas and patches of two files by both programs, in all ways."""
    hash, rolling = FORMATS[i % len(FORMATS)]
    what = (i, len(old), len(new), hash, rolling, block, strong)
    write("old", old)
    write("new", new)
    sizes = ["-b", str(block), "-S", str(strong)]
    run(tamis, "delta", "signature", "--hash", hash, "--rollsum", rolling, *sizes, "old", "ours.sig")
    run("rdiff", "-f", "signature", "-H", hash, "-R", rolling, *sizes, "old", "theirs.sig")
    if read("ours.sig") != read("theirs.sig"):
        print(f"signatures differ: {what}")
    run(tamis, "delta", "delta", "theirs.sig", "new", "ours.delta")
    run("rdiff", "-f", "delta", "ours.sig", "new", "theirs.delta")
    for program, delta in itertools.product(("tamis", "rdiff"), ("ours.delta", "theirs.delta")):
        patched(program, delta, new, what)
    if os.path.getsize("ours.delta") > os.path.getsize("theirs.delta") + 16:
        print(f"our delta is longer: {what}")


r = random.Random(11)
for i in range(pairs):
    old = new = old_file(r)
    for change in r.choices(CHANGES, k=r.randint(1, 3)):
        new = changed(r, new, change)
    block = r.choice((700, 256, 2048)) if len(old) > 10000 else r.choice((1, 7, 256, 2048))
    exchange(i, old, new, block, r.choice((8, 16)))

# 1, 256, 511, ... 4096, or each of them.
for i, period in enumerate((*range(1, 4096, step), 4096)):
    old = periodic(r, period, r.randint(1, 12000))
    exchange(i, old, changed(r, old, r.choice(CHANGES)), r.choice((64, 256, 700, 2048)), 16)
END
amount='40 255'
[ -z "${TAMIS_SANITIZED:-}" ] || amount='8 1023' # what a delta may hold is for fuzz.delta
[ -z "${TAMIS_LONG:-}" ] || amount='1000 1'
"$python" pairs.py "$tamis" $amount >wrong 2>&1
check "pairs of files: $(head -3 wrong)" test ! -s wrong
rm -f old new ours* theirs* made

section 'Files and pipes'

seq 100000 >old
{ echo inserted; seq 1 50000; echo changed; seq 50002 100000; } >new
exits 0 "$tamis" delta signature old old.sig
is_silent
exits 0 "$tamis" delta delta old.sig new new.delta
exits 0 "$tamis" delta patch old new.delta made
same made new
check "a delta is small" test "$(stat -c %s new.delta)" -lt 3000
"$tamis" delta signature - - <old | "$tamis" delta delta - new - | "$tamis" delta patch old - - >made
same made new
exits 0 "$tamis" delta signature -b 512 -S 8 old small.sig
check "hashes are cut" test "$(stat -c %s small.sig)" -lt "$(stat -c %s old.sig)"
: >empty
for pair in "empty old" "old empty" "empty empty" "old old"; do
    set -- $pair
    exits 0 "$tamis" delta signature "$1" pair.sig
    exits 0 "$tamis" delta delta pair.sig "$2" pair.delta
    exits 0 "$tamis" delta patch "$1" pair.delta made
    same made "$2"
done
check "a file that did not change is one command" test "$(stat -c %s pair.delta)" -lt 16

section 'What is replaced'

cp old target && chmod 640 target
exits 0 "$tamis" delta patch old new.delta target
same target new
check "the mode stays" test "$(stat -c %a target)" = 640
ln -s target link
exits 0 "$tamis" delta patch target pair.delta link
check "a link stays" test -L link
cp new kept
head -c 100 new.delta >cut.delta
exits 4 "$tamis" delta patch old cut.delta kept
says "cut.delta: the delta is cut short or damaged, or belongs to another file"
same kept new
check "nothing is left behind" test -z "$(find . -name '.*' -type f)"

section 'Few bytes that become many'

promise '60 copies of all of OLD, in 1,025 bytes'
truncate -s 8M zeros
"$python" -I - <<'END'
copy = b"\x54" + (0).to_bytes(8, "big") + (8 << 20).to_bytes(8, "big")
open("bomb.delta", "wb").write(b"rs\x026" + 60 * copy + b"\0")
END
check "the attack is 1,025 bytes" test "$(stat -c %s bomb.delta)" = 1025
(
    failures=0
    ulimit -f $((64 << 10)) # KiB: what is written meanwhile is bounded, too
    exits 5 "$tamis" delta patch zeros bomb.delta kept
    says "bomb.delta makes a file of more than 50332140 bytes; --limit-size allows more"
    exits 5 "$tamis" delta patch --limit-size 8M zeros bomb.delta kept
    says "more than 8388608 bytes"
    [ "$failures" -eq 0 ]
) || failed "a delta makes too much"
same kept new
check "nothing is left behind" test -z "$(find . -name '.*' -type f)"
exits 0 "$tamis" delta patch --limit-size 480M zeros bomb.delta made
check "as large as is allowed" test "$(stat -c %s made)" = $((60 * 8 << 20))
rm made
exits 2 "$tamis" delta delta --limit-size 1G old.sig new made
says "delta: delta does not take --limit-size"

section 'What is refused'

exits 4 "$tamis" delta patch empty new.delta made
says "new.delta: the delta is cut short or damaged, or belongs to another file"
exits 4 "$tamis" delta patch old old made
says "old is no delta"
exits 4 "$tamis" delta delta new.delta new made
says "new.delta is no signature"
head -c 30 old.sig >cut.sig
exits 4 "$tamis" delta delta cut.sig new made
says "cut.sig: the signature is cut short or damaged, or belongs to another file"
printf 'rs\001G\0\0\0\0\0\0\0\010' >zero.sig
exits 4 "$tamis" delta delta zero.sig new made
says "zero.sig: the signature says impossible things of its blocks"
printf 'rs\0026\125' >unknown.delta
exits 4 "$tamis" delta patch old unknown.delta made
printf 'rs\0026\124\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377' >far.delta
exits 4 "$tamis" delta patch old far.delta made
exits 3 "$tamis" delta signature nowhere made
exits 3 "$tamis" delta signature . made
says "cannot read .: it is a directory"
exits 2 "$tamis" delta
exits 2 "$tamis" delta patch old
says "give an OLD file, a DELTA and where the NEW file goes"
exits 2 "$tamis" delta pach old new made
says "delta: 'pach' is none of signature, delta and patch. Did you mean 'patch'?"
exits 2 "$tamis" delta signature --hash md5 old made
says "delta: --hash 'md5' is not blake2 or md4"
exits 2 "$tamis" delta signature --hash md4 -S 17 old made
exits 2 "$tamis" delta patch -b 700 old new.delta made
cat old | exits 3 "$tamis" delta patch - new.delta made
says "cannot read standard input: the old file is read in any order and cannot be a pipe"
