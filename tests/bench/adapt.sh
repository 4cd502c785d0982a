#!/bin/bash
# What bench/adapt/run measures, in small: an adversary gets more and more out of filters that do not
# adapt, and less and less out of an aqf. The picture can be drawn.
set -eu

bench=$(dirname "$1")/tamis-bench-adapt
root=$(cd "$(dirname "$0")/../.." && pwd)

fail()
{
    echo "$0: $*" >&2
    exit 1
}

# rows KIND STREAM COLUMN: the first figure and the last.
rows()
{
    awk -F , -v kind="$1" -v stream="$2" -v column="$3" '
        $1 == stream && $3 == kind { last = $column; first = first ? first : last }
        END { print first, last }' rows.csv
}

# holds CONDITION NUMBER...: which it knows as $1, $2 and so on.
holds()
{
    echo "${@:2}" | awk "{ exit !($1) }"
}

sed -n 's/^echo \(stream,.*\)/\1/p' "$root/bench/adapt/run" >rows.csv
"$bench" adversary 10000 316228 >>rows.csv
"$bench" zipf 10000 316228 1000 >>rows.csv

share=8 found=7
for kind in bloom cuckoo cqf; do
    # Figures are numbers.
    # shellcheck disable=SC2046
    holds '$2 > 5 * $1' $(rows $kind adversary $share) || fail "$kind withstands an adversary"
    # shellcheck disable=SC2046
    holds '$2 * 10 < $4' $(rows aqf zipf $found) $(rows $kind zipf $found) ||
        fail "aqf makes a tenth of the mistakes of $kind, or more"
done
# shellcheck disable=SC2046
holds '$2 * 5 < $1' $(rows aqf adversary $share) || fail "aqf does not withstand an adversary"
# shellcheck disable=SC2046
holds '$2 < $4' $(rows acf zipf $found) $(rows cqf zipf $found) || fail "acf does not adapt"

! "$bench" zipf 1000 1e5 2>/dev/null || fail "it ran without strangers"
! "$bench" adversary 1000 1e5 nosuch 2>err || fail "there is no such kind"
grep -q nosuch err || fail "an unknown kind is not named"
if command -v gnuplot >/dev/null; then
    "$root/bench/adapt/plot" rows.csv -o adapt.svg
    grep -q '</svg>' adapt.svg || fail "no picture"
    ! "$root/bench/adapt/plot" "$root/README.md" -o no.svg 2>err || fail "a page was drawn"
    [ "$(wc -l <err)" -eq 1 ] || fail "$(cat err)"
fi
