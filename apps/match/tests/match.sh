#!/usr/bin/env bash
# tamis match: the lines of grep -F -f, and every occurrence as Python finds it.
. "$(dirname "$0")/../../../tests/cli/check.sh"
export LC_ALL=C

rounds=10
[ -z "${TAMIS_SANITIZED:-}" ] || rounds=3
[ -z "${TAMIS_LONG:-}" ] || rounds=2000

# as_grep PATTERNS TEXT OPTION...: whole outputs and exit codes are equal.
as_grep()
{
    local patterns=$1 text=$2 code=0

    shift 2
    grep -aF "$@" -f "$patterns" "$text" >lines || code=$?
    exits "$code" "$tamis" match "$@" "$patterns" "$text"
    same "$said/out" lines
    is_silent
}

section 'Real text'

cat "$tests"/../../../docs/*.md "$tests"/../../../cli/*/*.c "$tests"/../../../apps/*/*.c >sources
awk 'length > 3 && NR % 5 == 0' /usr/share/dict/american-english >words
as_grep words sources
as_grep words sources -v -n
as_grep words sources -H
dpkg-query -W -f '${Package}\n' | head -n 200 >packages # grep -w takes seconds for thousands
as_grep packages sources -w

section 'Random text'

promise 'Few letters, so that patterns overlap and are within each other; with -i, -w and -v'
cat >oracle.py <<'PYTHON'
import random, string, subprocess, sys

tamis, rounds = sys.argv[1], int(sys.argv[2])
rng = random.Random(int(sys.argv[3]))
WORD = (string.ascii_letters + string.digits + "_").encode()


def run(*command):
    done = subprocess.run(command, check=False, capture_output=True)
    return done.returncode, done.stdout


def some(alphabet, n):
    return bytes(rng.choice(alphabet) for _ in range(n))


def patterns_of(alphabet):
    longest = rng.choice((3, 8, 12, 40, 100))
    patterns = [some(alphabet, rng.randint(1, longest)) for _ in range(rng.choice((1, 3, 30, 300)))]
    if rng.random() < 0.5:
        patterns += [patterns[0][:k] for k in range(1, len(patterns[0]))]
    if rng.random() < 0.5:
        patterns += [patterns[0] * k for k in range(1, 4)]
    return patterns


def text_of(alphabet, patterns):
    text, size = b"", rng.choice((0, 1, 7, 50, 1000, 5000))
    while len(text) < size:
        text += rng.choice(patterns) if rng.random() < 0.4 else some(alphabet, rng.randint(1, 5))
        text += b"\n" if rng.random() < 0.2 else b""
    return text * rng.choice((1, 1, 1, 1, 1, 1, 1, 60))


def is_word(text, start, end):
    return not (start and text[start - 1] in WORD) and not (end < len(text) and text[end] in WORD)


def occurrences(patterns, text, options):
    """Each different pattern, and the places of each."""
    fold = bytes.lower if "-i" in options else bytes
    different, folded = {}, fold(text)
    for pattern in patterns:
        different.setdefault(fold(pattern), pattern)
    found = {pattern: [] for pattern in different.values()}
    for key, pattern in different.items():
        at = folded.find(key)
        while at >= 0:
            if "-w" not in options or is_word(text, at, at + len(key)):
                found[pattern].append(at)
            at = folded.find(key, at + 1)
    return found


def check(what, options, got, want):
    if got != want:
        open("wrong", "wb").write(want)
        sys.exit(f"{what} {options}: not as expected; see PATTERNS 'p', TEXT 't', and 'wrong'")


for _ in range(rounds):
    alphabet = rng.choice((b"ab", b"abc -", b"aA_ \r", b"ab\0\xff.", bytes(set(range(256)) - {10})))
    patterns = patterns_of(alphabet)
    text = text_of(alphabet, patterns)
    open("p", "wb").write(b"\n".join(patterns) + rng.choice((b"", b"\n")))
    open("t", "wb").write(text)
    options = [o for o in ("-i", "-w") if rng.random() < 0.3]
    lines = options + [o for o in ("-v", "-n") if rng.random() < 0.3]
    threads = rng.choice(("-j1", "-j3"))

    code, out = run(tamis, "match", threads, *lines, "p", "t")
    assert (code, out) == run("grep", "-aF", *lines, "-f", "p", "t"), lines
    found = occurrences(patterns, text, options)
    places = sorted((at, len(p), p) for p, all_at in found.items() for at in all_at)
    code, out = run(tamis, "match", threads, "--offsets", *options, "p", "t")
    check("--offsets", options, out, b"".join(b"%d:%s\n" % (at, p) for at, _, p in places))
    assert code == (not places)
    code, out = run(tamis, "match", threads, "--count", *options, "p", "t")
    check("--count", options, out, b"".join(b"%d\t%s\n" % (len(f), p) for p, f in found.items() if f))
    code, out = run(tamis, "match", threads, "--patterns", "-v", *options, "p", "t")
    check("--patterns -v", options, out, b"".join(p + b"\n" for p, f in found.items() if not f))
    assert code == all(found.values())
    code, out = run(tamis, "match", threads, "-q", *options, "p", "t")
    assert (code, out) == (not places, b"")
PYTHON
check "random patterns in random text" "$python" -I oracle.py "$tamis" "$rounds" "${SEED:-1}"

section 'Chunks'

promise 'No line end anywhere, matches across the ends of chunks, a pattern longer than a chunk'
"$python" -I - <<'PYTHON'
import random

rng = random.Random(2)
long = bytes(rng.randrange(256) for _ in range(300000)).replace(b"\n", b" ")
text = bytearray(rng.randbytes(1200000).replace(b"\n", b" "))
for at in range(262144, 1200000, 262144):
    text[at - 13 : at + 7] = b"across the boundary!"
text[700001 : 700001 + len(long)] = long
open("text", "wb").write(text)
open("patterns", "wb").write(b"across the boundary!\ncross\n" + long + b"\n" + long[:20] + b"\n")
found = [(at - 13, b"across the boundary!") for at in range(262144, 1200000, 262144) if at != 786432]
found += [(at + 1, b"cross") for at, _ in found] + [(700001, long[:20]), (700001, long)]
found.sort(key=lambda f: (f[0], len(f[1])))
open("expected", "wb").write(b"".join(b"%d:%s\n" % f for f in found))
PYTHON
for threads in 1 4; do
    exits 0 "$tamis" match -j "$threads" --offsets patterns text
    same "$said/out" expected
done
exits 0 "$tamis" match -q patterns text
as_grep patterns text
gzip -k text
exits 0 "$tamis" match --offsets patterns - <text.gz
same "$said/out" expected
gzip patterns
exits 0 "$tamis" match --offsets patterns.gz text.gz
same "$said/out" expected

promise 'A line comes out before the input ends'
exits 0 timeout 60 bash -c "mkfifo slow && exec 3<>slow && echo abc >&3
    read -r line < <('$tamis' match <(echo b) slow 3>&-); [ \"\$line\" = abc ]"

section 'Patterns made to be slow'

promise 'Patterns a, aa, aaa, ... in a text of nothing else'
# 600 million matches are counted, not visited.
awk 'BEGIN { for (s = "a"; length(s) <= 2000; s = s "a") print s }' >nested
head -c 300000 /dev/zero | tr '\0' a >same
exits 0 "$tamis" match --count nested same
awk '{ print 300000 - length + 1 "\t" $0 }' nested >expected
same "$said/out" expected
awk 'BEGIN { while (n++ < 1500) run = run "a"; while (i++ < 100) printf "%sb", run }' >runs
exits 0 "$tamis" match --count nested runs
awk 'length <= 1500 { print 100 * (1500 - length + 1) "\t" $0 }' nested >expected
same "$said/out" expected
exits 0 "$tamis" match --patterns nested same
same "$said/out" nested
exits 0 "$tamis" match nested same
echo | cat same - | cmp - "$said/out" || failed "one line of a"

promise 'Patterns that begin alike, some beyond all windows that are chosen from'
prefix=https://$(head -c 100 /dev/zero | tr '\0' x)/
(seq -f 'https://example.org/%06.0f' 20000; seq -f "$prefix%06.0f" 20000) >alike
(seq -f '<https://example.org/%06.0f>' 19990 20010; seq -f "<$prefix%06.0f>" 19990 20010) >links
as_grep alike links

section 'Outputs'

printf '%s\n' red green blue red >colours
printf 'a red barn\nGreen field\n' >one
printf 'blue, evergreen' >two
exits 0 "$tamis" match colours one two
prints_exactly 'one:a red barn\ntwo:blue, evergreen\n'
exits 0 "$tamis" match --no-filename colours one two
prints_exactly 'a red barn\nblue, evergreen\n'
exits 0 "$tamis" match --offsets colours one two
prints_exactly 'one:2:red\ntwo:0:blue\ntwo:10:green\n'
exits 0 "$tamis" match --offsets colours two two
prints_exactly 'two:0:blue\ntwo:10:green\ntwo:0:blue\ntwo:10:green\n'
exits 0 "$tamis" match -l colours /dev/null one two
prints_exactly 'one\ntwo\n'
exits 0 "$tamis" match -l -v colours one two
prints_exactly 'one\n'
exits 0 "$tamis" match --count -i colours one two
prints_exactly '1\tred\n2\tgreen\n1\tblue\n'
exits 0 "$tamis" match --patterns colours one
prints_exactly 'red\n'
exits 0 "$tamis" match -v --patterns colours one
prints_exactly 'green\nblue\n'
exits 0 "$tamis" match -w colours two
prints_exactly 'blue, evergreen\n'
exits 1 "$tamis" match -w --offsets <(echo green) two
prints_nothing
exits 0 "$tamis" match -n colours - <one
prints_exactly '1:a red barn\n'
exits 0 "$tamis" match - one <colours
exits 0 "$tamis" match colours <one
exits 0 "$tamis" match --json -i colours one two
json_holds "lines" 'it[0] == {"file": "one", "line": 1, "text": "a red barn"}' 'len(it) == 3' \
    'it[1]["line"] == 2' 'it[2]["text"] == "blue, evergreen"'
exits 0 "$tamis" match --json --offsets colours one two
json_holds "offsets" 'it[2] == {"file": "two", "offset": 10, "pattern": "green"}'
exits 0 "$tamis" match --json --count colours one
json_holds "counts" 'it == [{"count": 1, "pattern": "red"}]'
exits 0 "$tamis" match --json --patterns colours one
json_holds "patterns" 'it == [{"pattern": "red"}]'
exits 0 "$tamis" match --json -l colours one two
json_holds "names" 'it == ["one", "two"]'
exits 1 "$tamis" match --json colours /dev/null
json_holds "nothing" 'it == []'
printf 'red\nbarn\0x' >records
exits 0 "$tamis" match -z --offsets records - <<<$'a red\nbarn'
prints_exactly '2:red\nbarn\0'

section 'Bad input'

exits 2 "$tamis" match
exits 2 "$tamis" match --count --offsets colours one
exits 2 "$tamis" match -v --count colours one
exits 2 "$tamis" match -n --offsets colours one
exits 2 "$tamis" match - - <one
exits 2 "$tamis" match - <one
exits 3 "$tamis" match no-such-file one
says "no-such-file"
exits 3 "$tamis" match colours one no-such-file
prints_exactly 'one:a red barn\n'
exits 3 "$tamis" match colours .
says "Is a directory"
exits 3 "$tamis" match . one
exits 3 "$tamis" match colours <(gzip -c one | head -c 20)
exits 3 bash -c "'$tamis' match colours one >/dev/full"
exits 3 bash -c "'$tamis' match --json --offsets colours one >/dev/full"
exits 1 "$tamis" match /dev/null one
says "there is no pattern in it"
exits 0 "$tamis" match -v /dev/null one
same "$said/out" one
exits 1 "$tamis" match <(printf '\n\n') one
exits 0 "$tamis" match <(printf '\nred\n\n') one
prints_exactly 'a red barn\n'
says "2 empty lines are no patterns"
exits 1 "$tamis" match <(printf 'red\r\n') one
says "--crlf leaves it out"
exits 0 "$tamis" match --crlf <(printf 'red\r\n') one
is_silent
exits 1 "$tamis" match text colours
prints_nothing
exits 141 bash -c "yes red | '$tamis' match colours | head -n 1; exit \${PIPESTATUS[1]}"
