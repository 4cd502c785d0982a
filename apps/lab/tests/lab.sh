#!/usr/bin/env bash
# tamis lab: every experiment says the same again, lies in its bounds, and writes files that parse.
. "$(dirname "$0")/../../../tests/cli/check.sh"

exits 0 "$tamis" lab
is_silent
experiments=$(awk '{ print $1 }' "$said/out")
check "there are eight experiments or more" test "$(wc -w <<<"$experiments")" -ge 8

section 'Each of them'

# parses NAME: its CSV has rows as long as its header, its SVG is XML with a title, a description and
# nothing from elsewhere.
parses()
{
    check "$1: CSV and SVG parse" "$python" -I - "$1" <<'PYTHON'
import csv, sys
import xml.etree.ElementTree as xml

name, space = sys.argv[1], "{http://www.w3.org/2000/svg}"
header, *rows = csv.reader(open(name + ".csv", newline=""))
assert rows and len(header) == len(set(header)), header
assert all(len(row) == len(header) for row in rows), rows
picture = xml.parse(name + ".svg").getroot()
assert picture.tag == space + "svg" and picture.get("role") == "img"
assert picture.find(space + "title").text and picture.find(space + "desc").text
assert picture.findall(".//" + space + "text"), "no label"
for element in picture.iter():
    for at in ("x", "y", "cx", "cy", "x1", "x2", "width", "height"):
        assert abs(float(element.get(at, 0))) < 1e7, xml.tostring(element)
    assert not [a for a in element.attrib if a.endswith("href")]
PYTHON
}

for name in $experiments; do
    exits 0 "$tamis" lab "$name" --quick --csv "$name.csv" --svg "$name.svg"
    is_silent
    cp "$said/out" first
    parses "$name"
    check_not "$name: no number went wrong" grep -qiE '(^|[ ,"])-?(nan|inf)([ ,"]|$)' first "$name.csv" "$name.svg"
    exits 0 "$tamis" lab "$name" --help
    prints "Usage: tamis lab $name "
    check "$name: no line is over 100 columns" awk 'length > 100 { exit 1 }' "$said/out"
    cp "$said/out" help
    exits 0 "$tamis" help lab "$name"
    same "$said/out" help
    exits 0 "$tamis" help --complete lab "$name" --se
    prints "--seed"
done

# What follows looks at numbers, not at memory.
[ -z "${TAMIS_SANITIZED:-}" ] || exit 0

promise 'All that was measured at these seeds lies in its bounds'
for name in fpr poisson counting quotient spectral adapt compare; do
    exits 0 "$tamis" lab "$name" --quick --json
    prints_json
    json_holds "$name: inside" "it['experiment'] == '$name'" "it['seed'] == 1" \
        "all(row.get('inside', True) for row in it['rows'])" \
        "any('inside' in row for row in it['rows'])" "it['seen']"
done

promise 'The bounds of a count of independent trials are exact'
# Their tails are above half of a thousandth, and those of the next count are not.
exits 0 "$tamis" lab poisson --quick --json
check "poisson: bounds are exact" "$python" -I -S - "$said/out" <<'PYTHON'
import json, math, sys

def tail(xs, n, p):
    logs = (math.lgamma(n + 1) - math.lgamma(x + 1) - math.lgamma(n - x + 1) + x * math.log(p)
            + (n - x) * math.log1p(-p) for x in xs)
    return math.fsum(map(math.exp, logs))

n, rows = 20000, [r for r in json.load(open(sys.argv[1]))["rows"] if r["part"] == "sum"]
assert len(rows) > 10
for row in rows:
    x, p = int(row["of"].split()[-1]), row["theory"]
    assert math.isclose(p, math.exp(-5) * 5 ** x / math.factorial(x), rel_tol=1e-12), row
    low, high = round(row["low"] * n), round(row["high"] * n)
    assert tail(range(high, n + 1), n, p) >= 0.0005 > tail(range(high + 1, n + 1), n, p), row
    assert tail(range(low + 1), n, p) >= 0.0005 > tail(range(low), n, p), row
PYTHON

promise 'Three slots in ten are taken: there is hardly ever a key in the way'
exits 0 "$tamis" lab cuckoo --quick --json
json_holds "cuckoo: few moves at first" \
    "all(row['mean'] < 0.5 for row in it['rows'] if row.get('load') == 0.3)" \
    "all(row['mean'] > 0.5 for row in it['rows'] if row.get('load') == 0.94)" \
    "all(0.9 < row['least'] <= row['mean'] <= row['most'] for row in it['rows'] if 'limit' in row)"

section 'Seeds'

for name in fpr spectral cuckoo; do
    exits 0 "$tamis" lab "$name" --quick --seed 7 --csv a.csv --svg a.svg
    cp "$said/out" a
    exits 0 "$tamis" lab "$name" --quick --seed 0x7 --csv b.csv --svg b.svg
    same "$said/out" a
    same a.csv b.csv
    same a.svg b.svg
    exits 0 "$tamis" lab "$name" --quick --seed 8
    differ "$said/out" a
done
exits 0 "$tamis" lab compare --quick --time
prints "build"
exits 0 "$tamis" lab compare --quick
check_not "no times unless asked for" has_line "$said/out" "build.*miss$"

section 'The examples of the lectures'

# cell COLUMN OTHER VALUE: what the row has whose other column has that value, in four digits.
cell()
{
    json "'%.4g' % [row for row in it['rows'] if row['$2'] == $3][0]['$1']"
}

promise 'V3: a billion keys in eight billion bits'
exits 0 "$tamis" lab fpr --keys 1e9 --bits 8e9 --over hashes --quick --json
check "V3: k = 1" test "$(cell textbook hashes 1)" = 0.1175
check "V3: k = 2" test "$(cell textbook hashes 2)" = 0.04893
check "V3: k = 2, predicted" test "$(cell predicted hashes 2)" = 0.04893
exits 0 "$tamis" lab fpr --keys 1e9 --bits 8e9 --over hashes --quick
tr '\n' ' ' <"$said/out" >line
check "V3: the best k" has_line line "\(m/n\) ln 2 = 5.545, the nearest integer 6"

promise 'V4: bits per key and the best rate'
exits 0 "$tamis" lab fpr --over bits --quick --json
for pair in 1:0.6185 2:0.3825 5:0.09051 10:0.008193; do
    check "V4: ${pair%:*} bits per key" test "$(cell best bits "${pair%:*} * 1000000")" = "${pair#*:}"
done
exits 0 "$tamis" lab fpr --over bits --quick
prints "Each 4.79 bits more"

promise 'V5: thirty rows of two and a half million bits'
exits 0 "$tamis" lab fpr -k partitioned --keys 5e6 --bits 75e6 --hashes 30 --quick --json
check "V5: the textbook" test "$(cell textbook hashes 30)" = 0.01275
json_holds "V5: measured" "it['rows'][0]['inside']" "it['rows'][0]['bits'] == 75000000"

promise 'V11: a stream of three letters'
exits 0 "$tamis" lab spectral --stream A,A,B,C,C --json
json_holds "V11" "len(it['rows']) == 9" \
    "all(row['counted'] == {'A': 2, 'B': 1, 'C': 2}[row['key']] for row in it['rows'])"

section 'The report'

if [ -z "${TAMIS_SANITIZED:-}" ]; then
    exits 0 "$tamis" lab --all -o report --quick
    for name in $experiments; do
        prints "$name"
        check "$name is in the report" test -s "report/$name.csv" -a -s "report/$name.svg"
        check "$name has a picture" has_line report/index.html "<img src=\"$name.svg\""
        check "$name has a section" has_line report/index.html "<section id=\"$name\">"
    done
    check "the page parses" "$python" -I -c '
import html.parser, sys
class parser(html.parser.HTMLParser):
    stack = []
    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "img"):
            self.stack.append(tag)
    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, tag
p = parser()
p.feed(open("report/index.html").read())
assert not p.stack' report/index.html
fi
exits 3 "$tamis" lab --all -o /dev/null/report
says "cannot make the folder"
: >file
exits 3 "$tamis" lab --all -o file
says "cannot write to the folder file: Not a directory"
exits 3 "$tamis" lab fpr --quick --hashes 1 --csv /dev/full
exits 3 "$tamis" lab fpr --quick --hashes 1 --svg no/such/folder.svg
says "no/such/folder.svg"

section 'Refused'

exits 2 "$tamis" lab fprr
says "Did you mean 'fpr'?"
exits 2 "$tamis" lab fpr --nonsense
says "'tamis help lab fpr'"
exits 2 "$tamis" lab fpr surplus
exits 2 "$tamis" lab fpr --keys 0
exits 2 "$tamis" lab fpr --keys many
exits 2 "$tamis" lab fpr --hashes 65
exits 2 "$tamis" lab fpr --over rainbow
says "hashes, bits or keys"
exits 2 "$tamis" lab fpr -k cuckoo
exits 2 "$tamis" lab fpr --seed x
exits 2 "$tamis" lab fpr --svg -
says "--svg write to files"
exits 2 "$tamis" lab fpr --csv
exits 2 "$tamis" lab quotient --quotient-bits 99
exits 2 "$tamis" lab spectral --power -1
exits 2 "$tamis" lab spectral --stream ,
exits 2 "$tamis" lab --all
says "go together"
exits 2 "$tamis" lab -o report
exits 2 "$tamis" lab --seed 1 fpr
says "EXPERIMENT first"
exits 2 "$tamis" help lab nonsense
