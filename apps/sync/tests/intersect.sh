#!/usr/bin/env bash
# tamis intersect: what two sides have in common, whatever the sets, the filter and the line are.
. "$(dirname "$0")/../../../tests/cli/check.sh"

# serve FILE [OPTION]...: the other side, as --via runs it.
serve()
{
    printf '%q ' "$tamis" intersect "${@:2}" --serve "$1"
}

# in_common THERE HERE [OPTION]...: is what comm says, in the order of HERE.
in_common()
{
    local there=$1 here=$2

    shift 2
    "$tamis" intersect "$@" --via "$(serve "$there")" "$here" >"$said/out" 2>"$said/err"
    local code=$?
    LC_ALL=C comm -12 <(LC_ALL=C sort -u "$there") <(LC_ALL=C sort -u "$here") >"$said/comm"
    check "$there, $here $*: exit code $code" test "$code" -eq "$((! $(wc -l <"$said/comm")))"
    check "$there, $here $*: the lines of comm" cmp <(LC_ALL=C sort "$said/out") "$said/comm"
    check "$there, $here $*: in order" cmp "$said/out" \
        <(awk 'NR == FNR { wanted[$0] = 1; next } wanted[$0] && !seen[$0]++' "$said/comm" "$here")
}

section 'Sets'

seq 1 3000 | shuf --random-source=<(yes) >low
seq 2001 6000 | shuf --random-source=<(yes) >high
seq 7000 7100 >apart
seq 2990 3010 >few
: >empty
echo >blank
cat low low >twice
seq 1 120000 >many
seq 60001 180000 >others
for pair in 'high low' 'low high' 'low low' 'apart low' 'few high' 'high few' 'empty low' 'low empty' \
    'empty empty' 'blank blank' 'blank low' 'twice high' 'high twice'; do
    # shellcheck disable=SC2086
    in_common $pair
done
printf 'a\n\nlong %s\nno end' "$(head -c 300000 /dev/zero | tr '\0' x)" >odd
printf 'no end\nb\n\nlong %s\n' "$(head -c 300000 /dev/zero | tr '\0' x)" >odder
in_common odd odder 2>/dev/null
check "long lines, empty lines and a last one without end" has_lines "$said/out" 3

section 'Ways to do it'

in_common high low --uncoded
in_common high low --raw
in_common high low --raw --uncoded
in_common high low --raw -k bitmap
# Four bytes of a plan ask for a bitmap up to the largest number here: of 137 GB.
printf '%s\n' 1 $((1 << 40)) >there
printf '%s\n' 1 $((1 << 62)) >here
(
    failures=0
    [ -n "${TAMIS_SANITIZED:-}" ] || ulimit -v 400000
    exits 4 "$tamis" intersect --raw -k bitmap --via "$(serve there) 2>/dev/null" here
    says 'it asks for a filter of many times the bytes of 2 elements'
    [ "$failures" -eq 0 ]
) || failed "a filter that nobody needs"
exits 6 "$tamis" intersect --memory 1M --via "$(serve high)" low
for kind in bloom fuse gcs cuckoo cqf hashset; do
    in_common high low -k $kind -p 1%
done
for kind in map cascade window bitmap; do
    exits 2 "$tamis" intersect -k $kind --via "$(serve high)" low
done
exits 0 "$tamis" intersect -c --via "$(serve high)" low
prints_exactly "1000\n"
exits 1 "$tamis" intersect -c --via "$(serve apart)" low
prints_exactly "0\n"
exits 0 "$tamis" intersect -c --via "$(serve high)" - <low
prints_exactly "1000\n"
exits 0 "$tamis" intersect -c --via "$(serve high)" <(cat low)
prints_exactly "1000\n"
gzip -k low
exits 0 "$tamis" intersect -c --via "$(serve high)" low.gz
prints_exactly "1000\n"
printf '0x10\n007\n9\n' >written
exits 0 "$tamis" intersect --raw --via "$(serve low)" written
check "integers are known by their value" diff "$said/out" written
sed 's/$/,x/' low >low.csv
exits 0 "$tamis" intersect --csv --field 1 --via "$(serve few)" low.csv
check "a column, and the line of it" diff <(sort "$said/out") <(seq 2990 3000 | sed 's/$/,x/')

"$tamis" intersect --via "$(serve others)" many 2>"$said/err" | head -n 1 >/dev/null
is_silent

section 'Figures'

exits 0 "$tamis" intersect --plan --via "$(serve high)" low
prints 'in common'
prints 'filter     ribbon of the set here'
exits 0 "$tamis" intersect --plan -k fuse --via "$(serve few)" high
prints 'of the set there'
exits 0 "$tamis" intersect --plan --via "$(serve low)" low
prints 'filter     none'
exits 0 "$tamis" intersect --json --via "$(serve high --stats) 2>there" low
prints_json
check "both sides count the same" test "$(json 'it["bytes"]')" -eq \
    "$(awk '/^total/ { print $2 + $3 }' there)"
check "what is sent there is received here" test "$(json 'it["received"]["answer"]')" -eq \
    "$(awk '/^answer/ { print $2 }' there)"
json_holds "far fewer than the sets have" 'it["bytes"] < 8000' 'it["common"] == 1000'

section 'Both sides, and TCP'

exits 0 "$tamis" intersect --both -o here --via "$(serve high -o there)" low
check "the other side has its lines, in its order" diff there <(awk '$1 <= 3000' high)
check "and this one, too" diff here <(awk '$1 > 2000' low)
exits 4 "$tamis" intersect --both --via "$(serve high) 2>/dev/null" low
says 'needs -o FILE'

"$tamis" intersect --listen 127.0.0.1:0 high >there 2>port &
listener=$!
until grep -qs listening port; do sleep 0.01; done
exits 0 "$tamis" intersect --both --connect "$(sed 's/.* on //' port)" low
check "over TCP" diff "$said/out" here
wait $listener
check "the side that listens ends well" test $? -eq 0
check "and has the lines" diff there <(awk '$1 <= 3000' high)

exits 2 "$tamis" intersect low
exits 2 "$tamis" intersect --serve --listen 127.0.0.1:0 low
exits 2 "$tamis" intersect --serve -
exits 2 "$tamis" intersect --connect nowhere low
exits 3 "$tamis" intersect --via "$(serve absent) 2>/dev/null" low
exits 3 "$tamis" intersect --via "$(serve high)" absent
exits 3 "$tamis" intersect --limit-bytes 1000 --via "$(serve high) 2>/dev/null" low
says 'limit-bytes'

section 'Larger than memory'

# Some lines are in two runs, some only in the last.
head -n 60000 many | cat - many >again
in_common others again --memory 16M
in_common many others -k ribbon -p 10%
