#!/usr/bin/env bash
# tamis join: what SQLite and join(1) would print, and one line for whatever is wrong.
. "$(dirname "$0")/../../../tests/cli/check.sh"
export LC_ALL=C

section 'By hand'

printf 'id,name\n1,ann\n2,bob\n2,"bo\nb"\n4,\n,nobody\n' >a.csv
printf 'user,score,name\n2,7,x\n2,"8,5",y\n1,"say ""hi""",\n,0,empty\n9,9,z\n' >b.csv
joined='id,name,score,name_2\n1,ann,"say ""hi""",\n2,bob,7,x\n2,bob,"8,5",y\n'
joined+='2,"bo\nb",7,x\n2,"bo\nb","8,5",y\n'
exits 0 "$tamis" join --on id=user a.csv b.csv
prints_exactly "$joined,nobody,0,empty\n"
is_silent
exits 0 "$tamis" join --on 1 a.csv b.csv
prints_exactly "$joined,nobody,0,empty\n"
exits 0 "$tamis" join --left --on id=1 a.csv b.csv
prints_exactly "${joined}4,,,\n,nobody,0,empty\n"
exits 0 "$tamis" join --semi --on id=user a.csv b.csv
prints_exactly 'id,name\n1,ann\n2,bob\n2,"bo\nb"\n,nobody\n'
exits 0 "$tamis" join --anti --on id=user a.csv b.csv
prints_exactly 'id,name\n4,\n'
exits 1 "$tamis" join --on name=score a.csv b.csv
prints_exactly 'id,name,user,name_2\n'
promise 'Quotes do not change a key, and several columns are no concatenation'
printf '"id",x\n"1",p\n' >q.csv
exits 0 "$tamis" join --on id q.csv a.csv
prints_exactly '"id",x,name\n"1",p,ann\n'
printf 'p,q\na,bc\nab,c\n' >two.csv
printf 'q\tp\tv\nc\tab\t1,2\nc\tb\t3\n' >two.tsv
exits 0 "$tamis" join --on p,q two.csv two.tsv
prints_exactly 'p,q,v\nab,c,"1,2"\n'
exits 0 "$tamis" join --on q --on p two.tsv two.csv
prints_exactly 'q\tp\tv\nc\tab\t1,2\n'
printf 'q\tv\nc\t"open\n' >open.tsv
exits 0 "$tamis" join --no-quotes --on q two.tsv open.tsv
prints_exactly 'q\tp\tv\tv_2\nc\tab\t1,2\t"open\nc\tb\t3\t"open\n'
promise 'Numbers, no header, standard input, compressed files, byte order marks, CR, empty lines'
exits 0 "$tamis" join --no-header --on 2=2 - two.csv <<<'x,bc'
prints_exactly 'x,bc,a\n'
exits 1 "$tamis" join --no-header --on 1 two.csv a.csv
prints_nothing
printf '\xEF\xBB\xBFid,x\r\n\r\n4,d\r\n1,"e"' >dos.csv
gzip -c a.csv >a.csv.gz
exits 0 "$tamis" join --on id dos.csv a.csv.gz
prints_exactly 'id,x,name\r\n4,d,\r\n1,"e",ann\r\n'
exits 0 "$tamis" join --on id - a.csv <dos.csv
prints_exactly 'id,x,name\r\n4,d,\r\n1,"e",ann\r\n'
# shellcheck disable=SC2002
cat dos.csv | exits 0 "$tamis" join --on id a.csv -
prints_exactly 'id,name,x\n1,ann,"e"\n4,,d\n'
promise 'Fields that a row lacks are empty'
printf 'id,x,y\n1\n2,b\n' >short.csv
exits 0 "$tamis" join --on id short.csv dos.csv
prints_exactly 'id,x,y,x_2\n1,,,"e"\n'
exits 0 "$tamis" join --on id dos.csv short.csv
prints_exactly 'id,x,x_2,y\r\n1,"e",,\r\n'

section 'What was done'

(echo n,x; seq 70000 | sed 's/$/,x/') >large.csv
(echo n; seq 5 700 70000) >small.csv
exits 0 "$tamis" join --stats --on n large.csv small.csv
says "small.csv: 100 rows, read first"
says "large.csv: 70000 rows, "
join -t , <(sort large.csv) <(sort small.csv) | sort -n >wanted
sort -n "$said/out" | cmp - wanted || failed "not what join prints"
exits 0 "$tamis" join --stats=json --on n small.csv large.csv
sort -n "$said/out" | cmp - wanted || failed "not what join prints"
python3 - "$said/err" <<'PYTHON' || failed "the counts do not add up"
import json, sys

told = json.load(open(sys.argv[1]))
assert (told["a_rows"], told["b_rows"], told["first"], told["rows"]) == (100, 70000, "a", 100), told
assert told["dropped"] + told["in_vain"] + 100 == told["asked"] == 70000 and not told["gave_up"], told
assert told["spilled_bytes"] == 0 and told["filter_bytes"] < 400, told
PYTHON
promise 'A pipe that turns out to be the larger one: A is read in between'
# shellcheck disable=SC2002
cat large.csv | exits 0 "$tamis" join --stats=json --memory 512K --on n small.csv -
sort -n "$said/out" | cmp - wanted || failed "not what join prints"
says '"first": "a"'
says '"spilled_bytes": 0'
promise 'Where every row has a partner, the filter is given up'
exits 0 "$tamis" join --stats=json --semi --on n large.csv large.csv
same "$said/out" large.csv
says '"gave_up": true'
exits 0 "$tamis" join --stats=json --semi --on n --memory 64K --no-filter large.csv large.csv
same "$said/out" large.csv
says '"filter_bytes": 0, "spilled_bytes": '
check_not "it spilled" has_line "$said/err" '"spilled_bytes": 0'

promise 'Rows of A that the filter drops while B is on disk go out alone, in their place'
(echo n,y; seq 7 23 70000 | sed 's/$/,y/') >third.csv
for way in --left --anti; do
    exits 0 "$tamis" join "$way" --on n large.csv third.csv
    cp "$said/out" wanted
    exits 0 "$tamis" join "$way" --stats=json --memory 64K --on n large.csv third.csv
    same "$said/out" wanted
    check "it spilled, and dropped" has_line "$said/err" '"dropped": [1-9].*"spilled_bytes": [1-9]'
done
check "all others are there" test "$(wc -l <wanted)" = $((70001 - $(wc -l <third.csv) + 1))

promise 'One key has more rows than fit in memory: these are taken in blocks'
(echo k,v; seq 20 | sed 's/^/hot,a/'; echo cold,a) >hot.csv
(echo k,w; seq 4000 | sed 's/^/hot,b/'; seq 100) >b_hot.csv
for way in --left --semi --anti; do
    exits 0 "$tamis" join "$way" --on k hot.csv b_hot.csv
    cp "$said/out" wanted
    # shellcheck disable=SC2002
    cat b_hot.csv | exits 0 "$tamis" join "$way" --stats=json --memory 64K --on k hot.csv -
    same "$said/out" wanted
done
exits 0 "$tamis" join --on k --memory 64K hot.csv b_hot.csv
check "all pairs are there" test "$(wc -l <"$said/out")" = 80001

section 'Against SQLite, on tables made at random'

mkdir oracle && cd oracle || exit 2
cat >oracle.py <<'PYTHON'
import csv, io, random, sqlite3, subprocess, sys

TAMIS, TURNS = sys.argv[1], int(sys.argv[2])
SQL = {
    "inner": "SELECT a.*, {others} FROM a JOIN b ON {on} ORDER BY a.rowid, b.rowid",
    "left": "SELECT a.*, {others} FROM a LEFT JOIN b ON {on} ORDER BY a.rowid, b.rowid",
    "semi": "SELECT a.* FROM a WHERE EXISTS (SELECT 1 FROM b WHERE {on}) ORDER BY a.rowid",
    "anti": "SELECT a.* FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE {on}) ORDER BY a.rowid",
}
PARTS = ["a", "b", '"', ",", "\t", "\n", "\r\n", " ", "é", "x" * 30]


def texts(n):
    return ["".join(random.choices(PARTS, k=random.randrange(4))) for _ in range(n)]


def table(name, rows, keys, columns):
    """Half of the rows of a hot table have one key."""
    hot = random.random() < 0.5
    key = lambda: keys[0] if hot and random.random() < 0.5 else random.choice(keys)
    values = texts(20)
    return [[f"{name}{i}" for i in range(columns)]] + [
        [key(), key()] + random.choices(values, k=columns - 2) for _ in range(rows)
    ]


def write(path, rows, delim, end):
    with open(path, "w", newline="") as f:
        quoting = random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        csv.writer(f, delimiter=delim, lineterminator=end, quoting=quoting).writerows(rows)


def database(tables):
    db = sqlite3.connect(":memory:")
    for name, rows in tables.items():
        db.execute(f"CREATE TABLE {name} ({', '.join(c + ' TEXT' for c in rows[0])})")
        marks = ", ".join("?" * len(rows[0]))
        db.executemany(f"INSERT INTO {name} VALUES ({marks})", rows[1:])
    db.execute("CREATE INDEX i ON b (b0, b1)")
    return db


def turn(number):
    random.seed(number)
    n_a, n_b = random.choice([(0, 9), (9, 0), (300, 900), (1500, 60), (40, 4000), (60, 3000)])
    keys = texts(random.choice([2, 40, 900])) if n_a * n_b < 20000 else texts(3000)
    a, b = table("a", n_a, keys, 3), table("b", n_b, keys, random.choice([2, 4]))
    delims = random.choice(",\t"), random.choice(",\t")
    paths = ["a.csv" if delims[0] == "," else "a.tsv", "b.csv" if delims[1] == "," else "b.tsv"]
    write(paths[0], a, delims[0], random.choice(["\n", "\r\n"]))
    write(paths[1], b, delims[1], random.choice(["\n", "\r\n"]))
    pairs = random.choice([[(0, 0)], [(0, 1)], [(1, 0), (0, 1)]])
    on = " AND ".join(f"a{x} = b{y}" for x, y in pairs)
    others = ", ".join(c for i, c in enumerate(b[0]) if i not in [y for _, y in pairs]) or "'none'"
    key = ",".join(f"a{x}={y + 1}" for x, y in pairs)
    db = database({"a": a, "b": b})
    for kind, sql in SQL.items():
        rows = [["" if v is None else v for v in r] for r in db.execute(sql.format(on=on, others=others))]
        if others == "'none'" and kind in ("inner", "left"):
            rows = [r[:-1] for r in rows]
        for memory in "64K", "1G":
            command = [TAMIS, "join", "--on", key, "--memory", memory, "-j", random.choice("13"), *paths]
            done = subprocess.run(command + [f"--{kind}"] * (kind != "inner"), capture_output=True)
            got = list(csv.reader(io.StringIO(done.stdout.decode(), newline=""), delimiter=delims[0]))
            assert not done.stderr and done.returncode == (0 if rows else 1), (number, done, command)
            assert got[1:] == rows, f"turn {number}, {kind}: {len(got) - 1} rows, not {len(rows)}: {command}"


csv.field_size_limit(10**8)
for number in range(TURNS):
    turn(number)
PYTHON
turns=5
[ -z "${TAMIS_SANITIZED:-}" ] || turns=1
[ -z "${TAMIS_LONG:-}" ] || turns=300
check "SQLite prints the same" python3 oracle.py "$tamis" "$turns"
cd .. || exit 2

section 'Bad input'

orders=("a.csv bad.csv" "bad.csv a.csv")
[ -z "${TAMIS_SANITIZED:-}" ] || orders=("bad.csv a.csv")

# refused CODE TEXT OPTION...: as A and as B, one line with TEXT, and no file of -o.
refused()
{
    local code=$1 text=$2 pair

    shift 2
    for pair in "${orders[@]}"; do
        # shellcheck disable=SC2086
        exits "$code" "$tamis" join "$@" -o out.csv $pair
        says "$text"
        check_not "nothing is written" test -e out.csv
    done
}

printf 'id,x\n1,"a\nb"\n2,"c\n' >bad.csv
refused 4 "bad.csv, line 4: a quoted field is not closed" --on id
printf 'id,x\n1,"a\nb"\n\n2,"c"d\n' >bad.csv
refused 4 "bad.csv, line 5: text follows a closing quote" --on id
printf 'x,id\n1,2\n3\n' >bad.csv
refused 4 "bad.csv, line 3: there is no column 2" --on id
printf 'id,x\n1,2,3\n' >bad.csv
refused 4 "bad.csv, line 2: more fields than the 2 of the first line" --on id
: >bad.csv
refused 4 "bad.csv is empty" --on id
exits 1 "$tamis" join --no-header --on 1 a.csv bad.csv
exits 0 "$tamis" join --no-header --anti --on 1 a.csv bad.csv
same "$said/out" a.csv
printf 'ids,x\n' >bad.csv
refused 2 "bad.csv has no column 'id' among its 2" --on id
exits 2 "$tamis" join --on id=usr a.csv b.csv
says "Did you mean 'user'?"
refused 2 "columns, and none is column 3" --on 3
refused 2 "without headers, --on takes numbers" --no-header --on id
printf 'id,id\n1,2\n' >bad.csv
refused 2 "columns 1 and 2 of bad.csv are both called 'id'" --on id
printf 'id,x\n1,2' | gzip | head -c 20 >bad.csv
refused 3 "bad.csv: the compressed data ends too early" --on id
rm bad.csv
refused 3 "cannot read bad.csv" --on id
mkdir bad.csv
refused 3 "cannot read bad.csv: Is a directory" --on id
exits 2 "$tamis" join --on id - - <a.csv
says "standard input can be one of the two files"
for wrong in "a.csv b.csv" "--on id a.csv" "--on id a.csv b.csv c.csv" "--on id, a.csv b.csv" \
    "--on a=b=c a.csv b.csv" "--on = a.csv b.csv" "--on id --left --semi a.csv b.csv" \
    "--on id --memory 1K a.csv b.csv" "--on id --delim '' a.csv b.csv" \
    '--on id --delim " a.csv b.csv' "--on id --no-quotes two.csv two.tsv" \
    "--on 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17 a.csv b.csv"; do
    # shellcheck disable=SC2086
    exits 2 "$tamis" join $wrong
done
exits 3 "$tamis" join --on id=user -o /dev/full a.csv b.csv
exits 3 bash -c "'$tamis' join --on id=user a.csv b.csv >/dev/full"
exits 3 env TMPDIR=/nowhere "$tamis" join --on n --memory 64K --no-filter large.csv large.csv
says "/nowhere"
# A reader that leaves is no error to speak of.
exits 0 bash -c "set +o pipefail; '$tamis' join --on n large.csv large.csv | head -n 1"
prints_exactly 'n,x,x_2\n'
is_silent

# ---- Packages of this system -----------------------------------------------------------------

if command -v dpkg-query >/dev/null; then
    (printf 'package\tsection\tsize\n'
    dpkg-query -W -f '${binary:Package}\t${Section}\t${Installed-Size}\n') >packages.tsv
    (printf 'name\tdepends\n'
    dpkg-query -W -f '${binary:Package}\t${Depends}\n' | tr -d '"' | grep libc6) >depends.tsv
    tail -n +2 packages.tsv | sort >p
    tail -n +2 depends.tsv | sort >d
    for way in '' '--semi' '--anti'; do
        # shellcheck disable=SC2086
        exits 0 "$tamis" join $way --on package=name packages.tsv depends.tsv
        tail -n +2 "$said/out" | sort >got
        case $way in
        '') join -t $'\t' p d ;;
        --semi) join -t $'\t' p <(cut -f 1 d) ;;
        --anti) join -t $'\t' -v 1 p d ;;
        esac >wanted
        same got wanted
    done
else
    skip "dpkg-query is not installed: its packages were not joined"
fi
