#!/usr/bin/env bash
# Documents that are alike: every pair against sets in Python, and inputs of every sort.
. "$(dirname "$0")/../../../tests/cli/check.sh"

section 'Real texts: all pairs, against Python'

n_texts=24
[ -z "${TAMIS_SANITIZED:-}" ] || n_texts=6
mkdir texts
find /usr/share/doc -name copyright -type f -size -40k | LC_ALL=C sort | head -n "$n_texts" |
    while read -r file; do
        cp "$file" "texts/$(basename "$(dirname "$file")").txt"
    done
printf 'one two three four' >texts/unended.txt
printf 'One, two; THREE\n-four!\n' >texts/folded.txt
printf 'two' >texts/short.txt
printf 'caf\xc3\xa9 \xce\xa3\xce\xa4 \xd0\x96 na\xc3\xafve\n' >texts/utf8.txt
printf 'bad \xff\xc3 bytes \xe2\x82 here\n' >texts/broken.txt

cat >truth.py <<'PY'
"""FOLDER words|chars K: every pair of its files, with its true values. FOLDER TO: shingles, as lines."""
import math, os, sys

BETWEEN = [(0x80, 0xA9), (0xAB, 0xB4), (0xB6, 0xB9), (0xBB, 0xBF), (0xD7, 0xD7), (0xF7, 0xF7), (0x1680, 0x1680),
           (0x2000, 0x206F), (0x20A0, 0x20CF), (0x2190, 0x2BFF), (0x3000, 0x3004), (0x3008, 0x3020),
           (0x3030, 0x3030), (0xFE30, 0xFE6F), (0xFEFF, 0xFF0F), (0xFF1A, 0xFF20), (0xFF3B, 0xFF40),
           (0xFF5B, 0xFF65), (0xFFE0, 0xFFFD)]

def in_word(c):
    if c < "\x80":
        return c.isalnum() or c == "_"
    return not any(low <= ord(c) <= high for low, high in BETWEEN)

ALPHABETS = [(0x41, 0x12f), (0x132, 0x17f), (0x18f, 0x18f), (0x1a0, 0x1a0), (0x1af, 0x1af), (0x1cd, 0x1db),
             (0x1f8, 0x21e), (0x386, 0x3ab), (0x400, 0x4bf), (0x4c1, 0x52f), (0x1e00, 0x1e95), (0x1ea0, 0x1eff)]
CAPITALS = [chr(c) for low, high in ALPHABETS for c in range(low, high + 1) if chr(c).lower() != chr(c)]
SMALL = {c: c.lower() for c in CAPITALS}

def small(c):
    return SMALL.get(c, c)

def units(text, of_words):
    text = "".join(small(c) for c in text)
    if of_words:
        return "".join(c if in_word(c) else " " for c in text).split(" ")
    return list(" ".join(text.split()))

def shingles(path, how, k):
    text = open(path, "rb").read().decode("utf-8", "replace")
    parts = [u for u in units(text, how == "words") if u]
    joint = " " if how == "words" else ""
    if 0 < len(parts) < k:
        return {joint.join(parts)}
    return {joint.join(parts[i:i + k]) for i in range(len(parts) - k + 1)}

def main(folder, how, k):
    names = sorted((os.path.join(folder, n) for n in os.listdir(folder)), key=os.fsencode)
    sets = {n: shingles(n, how, int(k)) for n in names}
    for i, a in enumerate(names):
        for b in names[i + 1:]:
            both, size_a, size_b = len(sets[a] & sets[b]), len(sets[a]), len(sets[b])
            print(a, b, "%.4f" % (both / (size_a + size_b - both)), "%.4f" % (both / math.sqrt(size_a * size_b)),
                  "%.4f" % (both / size_a), "%.4f" % (both / size_b), sep="\t")

def write(folder, to):
    for name in os.listdir(folder):
        with open(os.path.join(to, name), "w") as out:
            out.write("\n".join(sorted(shingles(os.path.join(folder, name), "words", 3))) + "\n")
    open("capitals", "w").write(" ".join(CAPITALS))
    open("small", "w").write(" ".join(SMALL.values()))

if len(sys.argv) == 4:
    main(*sys.argv[1:])
else:
    write(*sys.argv[1:])
PY

for how in words chars; do
    k=$([ $how = words ] && echo 3 || echo 5)
    "$python" -I truth.py texts $how $k >pairs.$how
    exits 0 "$tamis" similar --$how $k --check --above 0 texts
    says 'inside their bars'
    cp "$said/out" jaccard.$how
    cut -f 3-5 jaccard.$how | LC_ALL=C sort >found
    awk -F '\t' '{ print $3 "\t" $1 "\t" $2 }' pairs.$how | LC_ALL=C sort >expected
    same found expected
done
exits 0 "$tamis" similar --check --above 0 --by cosine texts
cut -f 3-5 "$said/out" | LC_ALL=C sort >found
awk -F '\t' '{ print $4 "\t" $1 "\t" $2 }' pairs.words | LC_ALL=C sort >expected
same found expected
exits 0 "$tamis" similar --check --above 0 --by containment texts
cut -f 3-5 "$said/out" | LC_ALL=C sort >found
awk -F '\t' '{ print $5 "\t" $1 "\t" $2; print $6 "\t" $2 "\t" $1 }' pairs.words |
    LC_ALL=C sort >expected
same found expected

promise 'What is said of the errors is what the rows say, as far as their digits go'
exits 0 "$tamis" similar --check --above 0 --json texts
check 'errors are those of the rows' "$python" -I - "$said/out" jaccard.words <<'PY'
import json, sys
it = json.load(open(sys.argv[1]))
rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[2])]
far = [abs(float(r[0]) - float(r[2])) for r in rows]
assert it["check"]["pairs"] == len(rows) == it["documents"] * (it["documents"] - 1) // 2 == len(it["pairs"])
assert abs(it["check"]["mean_absolute_error"] - sum(far) / len(far)) < 2e-4
assert abs(it["check"]["mean_bar"] - sum(float(r[1]) for r in rows) / len(far)) < 2e-4
inside = sum(abs(p["jaccard"]["value"] - p["exact"]) <= p["jaccard"]["bar"] + 1e-12 for p in it["pairs"])
assert it["check"]["inside"] == inside
assert [p["a"] + p["b"] for p in it["pairs"]] == [r[-2] + r[-1] for r in rows]
assert all(p["jaccard"]["value"] <= p["cosine"]["value"] <= p["bits"] + 1e-9 or p["bits"] > 0 for p in it["pairs"])
PY

section 'Choices are those of the whole list'

exits 0 "$tamis" similar --above 0 texts
is_silent
cut -f 1,2,4,5 jaccard.words | cmp -s - "$said/out" || failed 'the truth changed the estimates'
cp "$said/out" all
check 'the best come first' sort -c -s -k 1,1nr all
exits 0 "$tamis" similar texts
head -n 20 all | cmp -s - "$said/out" || failed 'there are not 20 pairs unless asked'
for k in 1 7 100 100000; do
    exits 0 "$tamis" similar --top $k texts
    head -n $k all | cmp -s - "$said/out" || failed "top $k"
done
# Between two values of four digits, so that those printed tell.
for x in 0.00005 0.02005 0.30005 0.99995; do
    exits 0 "$tamis" similar --above $x texts
    awk -v x=$x '$1 >= x' all | cmp -s - "$said/out" || failed "above $x"
done
exits 0 "$tamis" similar --above 30.005% --top 2 texts
awk '$1 >= 0.30005' all | head -n 2 | cmp -s - "$said/out" || failed "both"
exits 0 "$tamis" similar --each 2 texts
awk -F '\t' -v OFS='\t' '{ print; print $1, $2, $4, $3 }' all | LC_ALL=C sort -s -t '	' -k 3,3 |
    awk -F '\t' '++n[$3] <= 2' | cut -f 1-3 >expected
cut -f 1-3 "$said/out" | cmp -s - expected || failed 'the best of each document'
for threads in 1 2 7; do
    exits 0 "$tamis" similar -j $threads --above 0 texts
    cmp -s all "$said/out" || failed "$threads threads find other pairs"
done

promise 'Of many sizes: where they alone tell, pairs are skipped, and none is lost'
awk 'BEGIN { for (i = 1; i <= 90; i++) { line = line " " i; print line } }' >nested
for by in jaccard cosine bits; do
    exits 0 "$tamis" similar --lines --words 1 --bits 65536 --by $by --above 0 nested
    cp "$said/out" all
    for x in 0.40005 0.90005; do
        exits 0 "$tamis" similar --lines --words 1 --bits 65536 --by $by --above $x nested
        awk -v x=$x '$1 >= x' all | cmp -s - "$said/out" || failed "$by above $x of many sizes"
    done
    exits 0 "$tamis" similar --lines --words 1 --bits 65536 --by $by --top 50 nested
    head -n 50 all | cmp -s - "$said/out" || failed "$by, top 50 of many sizes"
done

section 'Filters made before are the same filters'

mkdir shingles filters
"$python" -I truth.py texts shingles
for file in shingles/*; do
    "$tamis" build -k bloom --bits 4096 --hashes 1 -o "filters/$(basename "$file" .txt).tamis" "$file" ||
        failed "build of $file"
done
exits 0 "$tamis" similar --bits 4096 --above 0 texts
sed 's/texts/filters/g; s/\.txt/.tamis/g' "$said/out" >expected
exits 0 "$tamis" similar --filters --above 0 filters
same "$said/out" expected
seq 1 60 | sed 's/.*/& pears and 1& apples/' >counted
exits 0 "$tamis" similar --lines --bits 4096 --chars 2 --above 0 counted
cp "$said/out" expected
exits 0 "$tamis" similar --lines --chars 2 --above 0 counted
same "$said/out" expected
promise 'Folded filters, of few bits or of many, are those that were as wide from the start'
for n in 700 3000; do
    seq "$n" >one
    seq 300 "$((n + 300))" >other
    exits 0 "$tamis" similar --json --sets one other
    cp "$said/out" folded
    exits 0 "$tamis" similar --json --sets --bits "$((n == 700 ? 8192 : 32768))" one other
    same folded "$said/out"
done
exits 0 "$tamis" similar --bits 4000 --top 3 --json texts
json_holds 'bits are rounded up' 'it["bits"] == 4096'

section 'Capitals, blanks, lines, columns, sets'

exits 0 "$tamis" similar --words 1 --bits 65536 --check capitals small
check 'capitals are small letters' has_line "$said/out" '^1\.0000	0\.[0-9]*	1\.0000'
exits 0 "$tamis" similar --words 1 --case --bits 65536 --check capitals small
check_not 'unless case matters' has_line "$said/out" '^1\.0000	0\.[0-9]*	1\.0000'
printf ' a \t\xc2\xa0b\xe3\x80\x80c\n\n' >blanks
printf 'A b C' >plain
exits 0 "$tamis" similar --chars 3 --check blanks plain
check 'runs of blanks are one' has_line "$said/out" '^1\.0000	0\.[0-9]*	1\.0000'
printf 'same words here\nother words there\nsame words here' >lines
exits 0 "$tamis" similar --lines --above 0.9 lines
check 'lines are documents' test "$(cut -f 1,3- "$said/out")" = $'1.0000\tlines:1\tlines:3'
exits 0 "$tamis" similar --lines --above 0.9 - <lines
check 'and those of standard input' test "$(cut -f 1,3- "$said/out")" = $'1.0000\t-:1\t-:3'
printf 'x,"one, two\nthree ""four"" five"\ny,nothing of that\n"z,z",one two three four five\nw\n' >table.csv
exits 0 "$tamis" similar --lines --csv --id 1 --field 2 --above 0.9 table.csv
check 'records of a table' test "$(cut -f 1,3- "$said/out")" = $'1.0000\tx\tz,z'
says '1 line lacks the column'
seq 1 1000 >low
seq 501 1500 | shuf --random-source=/dev/zero >high
exits 0 "$tamis" similar --sets --check low high
check 'sets of lines' test "$(cut -f 3- "$said/out")" = $'0.3333\tlow\thigh'
gzip -k low
exits 0 "$tamis" similar --sets low low.gz
check 'compressed or not' test "$(cut -f 1 "$said/out")" = 1.0000

section 'Bad inputs'

exits 3 "$tamis" similar texts missing
says 'missing'
exits 3 "$tamis" similar --lines texts
gzip -c texts/utf8.txt | head -c 30 >cut.gz
exits 3 "$tamis" similar plain cut.gz
says 'cut.gz'
: >empty
printf ' ... \n' >dots
head -c 5000 "$tamis" >binary
exits 1 "$tamis" similar empty plain dots binary
prints_nothing
says '1 document is left out: it is binary (binary)'
says '2 documents are left out: there is nothing in them (the first is empty)'
says 'there is one document; a pair takes two'
exits 1 "$tamis" similar --json plain
prints_json
exits 0 "$tamis" similar plain plain
mkdir loop
ln -s ../loop loop/again
ln -s ../plain loop/link
cp plain blanks loop
exits 0 "$tamis" similar loop
check 'links in folders are left alone' test "$(cut -f 3- "$said/out")" = $'loop/blanks\tloop/plain'
seq 40000 >many
exits 1 "$tamis" similar --sets --bits 512 many plain
says 'all its bits are set'
exits 0 "$tamis" similar --sets --bits 4096 many low high
says '--bits'
exits 2 "$tamis" similar --by likeness plain
exits 2 "$tamis" similar --words 3 --chars 3 plain
exits 2 "$tamis" similar --lines --sets plain
exits 2 "$tamis" similar --top 3 --each 3 plain
exits 2 "$tamis" similar --sets --words 3 plain
exits 2 "$tamis" similar --filters --bits 512 plain
exits 2 "$tamis" similar --filters --check plain
exits 2 "$tamis" similar --by bits --check plain
exits 2 "$tamis" similar --id 1 plain
exits 2 "$tamis" similar --above 2 plain
exits 4 "$tamis" similar --filters filters/short.tamis plain
"$tamis" build -k bloom --bits 8192 --hashes 1 -o wider.tamis low
"$tamis" build -k blocked -o blocked.tamis low
exits 2 "$tamis" similar --filters filters/short.tamis wider.tamis
says 'differ in size'
exits 2 "$tamis" similar --filters blocked.tamis blocked.tamis
says 'blocked'
exits 3 sh -c '"$0" similar --above 0 texts >/dev/full' "$tamis"
exits 0 "$tamis" help --complete similar --by c
check 'measures are completed' test "$(cut -f 1 "$said/out" | tr '\n' ' ')" = 'cosine containment '
