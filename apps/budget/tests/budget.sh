#!/usr/bin/env bash
# One budget for many filters: plans, what is made of them, and what is refused.
. "$(dirname "$0")/../../../tests/cli/check.sh"

# field FILE NAME COLUMN: of a plan.
field()
{
    "$python" -I -S -c "
import csv, sys
print(next(row[sys.argv[3]] for row in csv.DictReader(open(sys.argv[1])) if row['name'] == sys.argv[2]))
" "$@"
}

section 'Plans'

printf '%s\n' name,keys,share,cost new,1000,0.9,1 old,1000,0.1,1 >two.csv
exits 0 "$tamis" budget --total-bytes 1000 two.csv
says "2 filters in 1000 of 1000 bytes, 0 left out; wrong answers cost 0.0892"
says "the least possible; with the same bytes for each 1."
cp "$said/out" plan
check "more for what is asked more" test "$(field plan new bytes)" -gt 700
check "and less for the other" test "$(field plan old bytes)" -lt 300
exits 0 "$tamis" budget --total-bytes 250 two.csv
cp "$said/out" plan
check "nothing for what is not worth it" test "$(field plan old bytes),$(field plan old kind)" = 0,none
check "which answers yes to all" test "$(field plan old rate),$(field plan old wrong)" = 1,0.1

exits 0 "$tamis" budget --total-bytes 1000 --json two.csv
json_holds "all is said" "it['bytes'] <= it['total_bytes'] == 1000" "it['cost'] == it['least_cost']" \
    "it['ideal_cost'] <= it['cost'] <= min(it['equal_cost'], it['by_keys_cost'])" \
    "abs(sum(f['wrong'] * f['cost'] for f in it['filters']) - it['cost']) < 1e-9" \
    "abs(it['ideal_cost'] - 0.0878) < 1e-3"
exits 0 "$tamis" budget --total-bytes 1000 --table two.csv
check "a table has a head and a row for each" has_lines "$said/out" 3
exits 0 "$tamis" budget --total-bytes 1000 - <two.csv
exits 0 "$tamis" budget --total-bytes 1000 <(sed 1d two.csv)
exits 0 "$tamis" budget --total-bytes 1000 <(sed 's/$/\r/' two.csv)
same "$said/out" <("$tamis" budget --total-bytes 1000 two.csv 2>/dev/null)
exits 0 "$tamis" budget --total-bytes 1000 <(gzip <two.csv)

promise 'Columns in any order, others skipped, costs of any unit; a plan is such a file too'
exits 0 "$tamis" budget --total-bytes 1000 <(printf '%s\n' name,x,cost,share,keys new,?,10ms,0.9,1k old,?,10ms,0.1,1k)
cut -d, -f6 "$said/out" >bytes
exits 0 "$tamis" budget --total-bytes 1000 two.csv
same <(cut -d, -f6 "$said/out") bytes
cp "$said/out" plan
exits 0 "$tamis" budget --total-bytes 1000 plan
same "$said/out" plan
printf '%s\n' 'name,keys,share' '"a,""b""",100,1' '"c
d",100,1' >quoted.csv
exits 2 "$tamis" budget --total-bytes 1000 quoted.csv
says "quoted.csv, line 3: a name has no control characters"
exits 0 "$tamis" budget --total-bytes 1000 <(head -n 2 quoted.csv)
prints '"a,""b""",100,1,1,partitioned,'

promise 'Limits of single filters, and what each takes besides'
exits 0 "$tamis" budget --total-bytes 1000 <(printf '%s\n' name,keys,share,min_bytes,max_bytes new,1000,0.9,,500 old,1000,0.1,400,)
cp "$said/out" plan
check "no more" test "$(field plan new bytes)" -le 500
check "no less" test "$(field plan old bytes)" -ge 400
exits 0 "$tamis" budget --total-bytes 1000 --overhead 300 two.csv
cp "$said/out" plan
check "overhead counts" test "$(($(field plan new bytes) + $(field plan old bytes)))" -le 700
for kind in bloom fuse cqf ribbon; do
    exits 0 "$tamis" budget --total-bytes 1000 -k "$kind" two.csv
done

# Three workloads of 300 filters in a fifth of what a rate of 0.0001 takes: sharing by bits per key, and
# by weight, give 1.5 times the wrong answers of the optimum, or more. If all filters are alike there is
# nothing to gain.
workload()
{
    "$python" -I -S - "$1" <<'END'
import random, sys
random.seed(1)
print("name,keys,share")
for i in range(300):
    share = {"zipf": (i + 1) ** -1.2, "bimodal": 81 if i % 10 == 0 else 1}.get(sys.argv[1], 1)
    keys = 1000 if sys.argv[1] == "alike" else int(100 * 100 ** random.random())
    print(f"{i},{keys},{share}")
END
}

for name in uniform zipf bimodal alike; do
    workload $name >work.csv
    exits 0 "$tamis" budget --total-bytes "$(awk -F, '{ n += $2 } END { print int(n * 19.17 / 8 / 5) }' work.csv)" --json work.csv
    [ $name = alike ] || json_holds "$name: a gain" "it['by_keys_cost'] >= 1.5 * it['cost']" \
        "it['by_weight_cost'] >= 1.5 * it['cost']"
    [ $name != alike ] || json_holds "nothing to gain" "it['by_keys_cost'] <= 1.1 * it['cost']"
done

section 'Filters from plans'

mkdir keys full small
{
    echo name,keys,share
    for i in 1 2 3 4; do
        seq -f "$i-%.0f" $((i * 1000)) >keys/f$i
        echo "f$i,$((i * 1000)),$((16 / i))"
    done
    echo "never,1000,0"
} >four.csv
for kind in partitioned fuse; do
    exits 0 "$tamis" budget --total-bytes 5000 -k $kind four.csv
    cp "$said/out" plan
    check "what nobody asks is left out" test "$(field plan never kind)" = none
    exits 0 "$tamis" budget apply --keys keys -o $kind.tms plan
    says "4 filters built, 0 shrunk, 0 as they were"
    exits 0 "$tamis" collection list --json $kind.tms
    json_holds "as planned" "sum(x['bytes'] for x in it) <= 5000" "len(it) == 4"
    for i in 1 2 3 4; do
        exits 0 "$tamis" query $kind.tms:f$i keys/f$i
        same "$said/out" keys/f$i
        exits 0 "$tamis" info --json $kind.tms:f$i
        json_holds "as small and as good" "it[0]['plan']['bytes'] <= $(field plan f$i bytes)" \
            "it[0]['plan']['fpr'] <= $(field plan f$i rate) * 1.00001" "it[0]['kind'] == '$kind'"
    done
done
exits 2 "$tamis" budget apply --keys keys -o fuse.tms plan
says "fuse.tms is there already"

promise 'Images, and a log: a query for a key that is there is no reason for a better filter'
for i in 1 2 3 4; do
    exits 0 "$tamis" build -k partitioned -p 0.0001 -n $((i * 1000)) -o full/f$i.tamis keys/f$i
done
{
    seq -f 'f1,absent %.0f' 500
    seq -f 'f2,2-%.0f' 500
    seq -f 'f3,absent %.0f' 20
    echo nobody,x
} >log
exits 0 "$tamis" budget --total-bytes 5000 --log log full
says "1 lines of log name no filter of full"
cp "$said/out" plan
check "asked for what is not there" test "$(field plan f1 share),$(field plan f2 share)" = 501,1
check "and once more" test "$(field plan f4 share)" = 1
check "it can only shrink" test "$(field plan f1 action)" = shrink
exits 0 "$tamis" budget apply --images full -o small plan
says "0 filters built, "
for file in small/*; do
    name=$(basename "$file" .tamis)
    exits 0 "$tamis" query "$file" keys/"$name"
    same "$said/out" keys/"$name"
    exits 0 "$tamis" info --json "$file"
    json_holds "as planned" "it[0]['plan']['bytes'] == $(field plan "$name" bytes)" \
        "abs(it[0]['plan']['fpr'] / $(field plan "$name" rate) - 1) < 1e-5"
done
exits 0 "$tamis" collection add full.tms full
exits 0 "$tamis" budget --total-bytes 5000 --log <(cut -d, -f1 log) full.tms
check "without keys, each line counts" test "$(field "$said/out" f2 share)" = 501
exits 0 "$tamis" budget --total-bytes 5000 --log log full.tms
same <(sort "$said/out") <(sort plan)
exits 0 "$tamis" budget apply --images full.tms -o small.tms plan
exits 0 "$tamis" query -c small.tms:f1 keys/f1
prints_exactly '1000\n'
exits 2 "$tamis" budget apply --images fuse.tms -o other.tms plan
says "cannot be made that small without its keys; give --keys"
check_not "nothing was made" test -e other.tms
exits 0 "$tamis" budget apply --images fuse.tms --keys keys -o other.tms plan

section 'Another use'

exits 0 "$tamis" budget --total-bytes 5000 four.csv
cp "$said/out" was
sed 's/^f1,1000,16/f1,1000,1/; s/^f4,4000,4/f4,4000,60/' four.csv >now.csv
exits 0 "$tamis" budget --total-bytes 5000 --was was now.csv
cp "$said/out" free
exits 0 "$tamis" budget --total-bytes 5000 --was was --rebuild-cost 1 --queries 1 now.csv
cp "$said/out" dear
check "what is worth it is built" test "$(field free f4 action)" = build
check_not "but not at any price" has_line dear ',build$'
check "then it shrinks or stays" has_line dear ',(keep|shrink)$'
exits 0 "$tamis" budget --total-bytes 5000 --was was --rebuild-cost 1 --queries 1000000 now.csv
check "over many queries it is worth it" test "$(field "$said/out" f4 action)" = build
exits 0 "$tamis" budget --total-bytes 5000 --was was four.csv
check "what is right stays" test "$(cut -d, -f9 "$said/out" | sort | uniq -c | tr -d ' ' | tr '\n' ' ')" = "1action 4keep 1none "

section 'Mistakes: one line, with the place'

refuses()
{
    printf '%s\n' name,keys,share,cost "$1" >bad.csv
    exits 2 "$tamis" budget --total-bytes 1000 bad.csv
    prints_nothing
    says "budget: bad.csv, line $3: $2"
    check "one line" has_lines "$said/err" 1
}

refuses a,0,1,1 "keys '0' is not a whole number from 1 up" 2
refuses a,x,1,1 "keys 'x'" 2
refuses a,-5,1,1 "keys '-5'" 2
refuses a,1.5,1,1 "keys '1.5'" 2
refuses a,10,-0.1,1 "share '-0.1' is not a number from 0 up" 2
refuses a,10,nan,1 "share 'nan'" 2
refuses a,10,inf,1 "share 'inf'" 2
refuses a,10,1e999,1 "share '1e999'" 2
refuses a,10,,1 "share ''" 2
refuses a,10,1,-1 "cost '-1' is not a number" 2
refuses a,10,1,nan "cost 'nan'" 2
refuses a "there is no keys" 2
refuses ,10,1,1 "a name has 1 to 255 bytes" 2
refuses "$(printf 'a,10,1,1\nb,10,1,1\na,10,1,1')" "'a' came before" 4
refuses "$(printf 'a,10,1,1\n"b')" "a quoted field is not closed" 3
refuses "$(printf '%300s,10,1,1' x)" "a name has 1 to 255 bytes" 2
exits 2 "$tamis" budget --total-bytes 1000 <(printf '%s\n' name,share a,1)
says "line 1: there is no column 'keys'"
exits 2 "$tamis" budget --total-bytes 1000 <(printf '%s\n' name,keys,share,min_bytes,max_bytes a,10,1,9,8)
says "line 2: max_bytes is less than min_bytes"
exits 2 "$tamis" budget --total-bytes 100 <(printf '%s\n' name,keys,share,min_bytes a,1000,1,200)
says "no size of 'a' is between its min_bytes and max_bytes"
exits 2 "$tamis" budget --total-bytes 300 <(printf '%s\n' name,keys,share,min_bytes a,1000,1,200 b,1000,1,200)
says "is more than --total-bytes"
exits 2 "$tamis" budget --total-bytes 1000 <(printf 'a,1\0,1')
says "a NUL byte"
exits 2 "$tamis" budget --total-bytes 1000 /dev/null
says "has no filters"
exits 2 "$tamis" budget --total-bytes 0 two.csv
exits 2 "$tamis" budget --total-bytes -1 two.csv
exits 2 "$tamis" budget two.csv
says "give --total-bytes"
exits 2 "$tamis" budget
exits 2 "$tamis" budget --total-bytes 1K two.csv two.csv
exits 2 "$tamis" budget --total-bytes 1K -k map two.csv
exits 2 "$tamis" budget --total-bytes 1K full
says "give --log"
exits 2 "$tamis" budget --total-bytes 1K --log log two.csv
exits 2 "$tamis" budget --total-bytes 1K --was was --log log full
exits 2 "$tamis" budget --total-bytes 1K --rebuild-cost 1 two.csv
exits 2 "$tamis" budget --total-bytes 1K -o x two.csv
exits 3 "$tamis" budget --total-bytes 1K nowhere.csv
exits 2 "$tamis" budget apply plan
exits 2 "$tamis" budget apply -o x.tms plan
exits 2 "$tamis" budget apply -o x.tms --keys keys
exits 2 "$tamis" budget apply -o x.tms --keys keys --total-bytes 5 plan
printf '%s\n' name,keys,kind,bytes ../keys/f1,1000,bloom,1000 >outside
exits 2 "$tamis" budget apply -o small --keys keys outside
says "outside, line 2: '../keys/f1' cannot be the name of a file"
printf '%s\n' name,keys,kind,bytes f1,1000,trefoil,1000 >unknown
exits 2 "$tamis" budget apply -o x.tms --keys keys unknown
says "unknown, line 2: no kind is called 'trefoil'"
printf '%s\n' name,keys,kind,bytes f2,1000,fuse,2000 >short
exits 2 "$tamis" budget apply -o x.tms --keys keys short
says "short, line 2: keys/f2 has more keys than the plan says"
printf '%s\n' name,keys,kind,bytes f1,1000,bloom,1000 f1,1000,bloom,1000 >repeated
exits 2 "$tamis" budget apply -o x.tms --keys keys repeated
says "repeated, line 3: 'f1' came before"
printf '%s\n' name,keys,kind,bytes f9,1000,bloom,1000 >missing
exits 3 "$tamis" budget apply -o x.tms --keys keys missing
check_not "nothing was made" test -e x.tms

# 951,000 filters in 1 GiB; of too many, too.
if [ -n "${TAMIS_LONG:-}" ] && [ -z "${TAMIS_SANITIZED:-}" ]; then
    awk 'BEGIN { for (i = 1; i <= 951000; i++) printf "f%d,%d,%g\n", i, 100 * 10 ^ (3 * rand()), rand() / i }' >million.csv
    exits 0 bash -c 'ulimit -v 1048576; exec "$@"' - "$tamis" budget --total-bytes 4G million.csv
    check "each has its row" test "$(wc -l <"$said/out")" = 951001
    says "of that above the least possible"
    seq 5000001 | sed 's/$/,10,1/' >many.csv
    exits 2 bash -c 'ulimit -v 1048576; exec "$@"' - "$tamis" budget --total-bytes 4G many.csv
    says "many.csv, line 5000001: more than 5000000 records"
fi

# Ten gigabytes without a line end.
truncate -s 10G huge.csv
exits 2 "$tamis" budget --total-bytes 1000 huge.csv
says "huge.csv, line 1: it is too long"
rm huge.csv
