#!/bin/bash
# The benchmark runs, names every kind and every workload, and its page can be made. Times are not
# judged.
set -eu

tamis=$1
bench=$(dirname "$tamis")/tamis-bench
root=$(cd "$(dirname "$0")/../.." && pwd)

fail()
{
    echo "$0: $*" >&2
    exit 1
}

# A small set is as telling: times are not judged. In a long run it is all subjects.
subjects=(blocked cqf sorted-array)
if [ -n "${TAMIS_LONG:-}" ]; then
    mapfile -t subjects < <("$bench" --list | awk '$1 == "subject" { print $2 }')
fi
"$bench" --quick --keys 20000 --csv speed.csv "${subjects[@]/#/--subject=}"

names()
{
    "$bench" --list | awk -v what="$1" '$1 == what { print $2 }'
}

"$tamis" kinds | awk '$NF ~ /build/ { print $1 }' | while read -r kind; do
    names subject | grep -qx "$kind" || fail "$kind is not a subject"
done
for subject in "${subjects[@]}"; do
    names workload | while read -r workload; do
        grep -q "^$subject,.*,$workload," speed.csv || fail "no row for $subject, $workload"
    done
done
! grep -q ',tamis,build,.*,cannot,' speed.csv || fail "a kind cannot be built"

# Who is stopped leaves nothing behind, and the last CSV as it was.
cp speed.csv before.csv
for signal in INT TERM HUP PIPE; do
    "$bench" --keys 300000 --csv speed.csv >/dev/null &
    sleep 0.3
    kill -s "$signal" $! 2>/dev/null || true
    wait $! || true
done
cmp speed.csv before.csv || fail "a run that was stopped has changed the CSV"
for left in tamis-bench.* speed.csv.new; do
    [ ! -e "$left" ] || fail "$left was left behind"
done

# A run that was stopped goes on where it was: rows that are there stay, byte by byte, and those that
# are missing or noisy are measured. Rows of another commit are not mixed with these.
resume()
{
    "$bench" --quick --keys 20000 --commit "$1" --subject blocked --without avx2 --resume part.csv
}
resume here >out
[ "$(grep -c '^blocked,.*,"avx2",' part.csv)" -ge 3 ] || fail "no rows without AVX2"
sed -i -e '/,has-50,/d' -e '/,has-one,/s/,ok,/,noisy,/' part.csv
grep -v ',noisy,' part.csv | sort >kept
resume here >out
sort part.csv | comm -23 kept - | grep -q . && fail "a row that was there has changed"
grep -q ',has-50,' part.csv || fail "a missing row was not measured"
[ "$(grep -c ',has-one,' part.csv)" -eq 2 ] || fail "a noisy row was not replaced"
cp part.csv before.csv
resume elsewhere >out 2>err && fail "rows of another commit were accepted"
grep -q 'another machine' err || fail "does not say why: $(cat err)"
cmp part.csv before.csv || fail "a refused resume has changed the rows"

# What cannot be measured or written is said, in one line.
for bad in "--keys 5" "--keys x" "--fpr 2" "--load 2" "--runs 1" "--without sse" "--subject nosuch" \
           "--subject blocked --subject nosuch" "--csv no/such/folder" "--resume no/such/folder"; do
    # $bad is an option and its argument.
    # shellcheck disable=SC2086
    if "$bench" --quick $bad >out 2>err; then
        fail "$bad was accepted"
    fi
    [ "$(wc -l <err)" -eq 1 ] || fail "$bad: $(cat err)"
done

"$root/bench/report" speed.csv -o page
[ -s page/performance.md ] || fail "no page"
"$root/bench/compare" speed.csv speed.csv >out || fail "a run differs from itself"
