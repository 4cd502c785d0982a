#!/usr/bin/env bash
# tamis plan as an adviser: costs, what is worth it, and where figures of the machine are kept.
. "$(dirname "$0")/check.sh"

export XDG_CACHE_HOME=$work/cache
use=(--queries 102000 --member-share 0.0196 --store-cost 500ms)

promise 'V9, as a student would type it'
exits 0 "$tamis" plan --keys 2000 --fpr 3% "${use[@]}" --probe-cost 1ms
is_silent
prints "At a rate of 0.03, a query costs 25.5 ms with a filter and 500 ms without."
prints "Take "
prints "No filter is better if a lookup in the store costs less than 1.0"
check "no filter is an option" has_line "$said/out" '^no filter .* 500 ms'
check "one option is marked" test "$(grep -c ' \* ' "$said/out")" = 1
exits 0 "$tamis" plan --keys 2000 --fpr 3% "${use[@]}" --probe-cost 1ms --json
json_is "V9 in JSON" "round(it['cost_per_query_at_rate'] * 1000, 1)" 25.5
json_is "without" "it['cost_per_query_without']" 0.5
json_holds "the first is chosen" "it['options'][0]['chosen']" "it['options'][0]['kind'] == it['take']"
json_holds "parts add up" "all(abs(sum(o['cost_of'].values()) - o['cost']) <= 1e-9 * o['cost'] for o in it['options'])"
check_not "nothing was measured" test -e cache

promise 'Memory that has a price, or a bound, lets the rate be chosen'
exits 0 "$tamis" plan --keys 1M "${use[@]}" --probe-cost 1us --memory-cost 10min --json
json_holds "a dear store asks for a low rate" "it['options'][0]['fpr'] < 1e-5"
exits 0 "$tamis" plan --keys 1M "${use[@]}" --probe-cost 1us --memory-cost 1000d --json
json_holds "dear memory for a high one" "it['options'][0]['fpr'] > 1e-3"
exits 0 "$tamis" plan --keys 1M "${use[@]}" --probe-cost 1us --memory-cost 1000d
prints "If a GiB of memory costs"
exits 0 "$tamis" plan --keys 1M "${use[@]}" --probe-cost 1us --max-bytes 500K --json
json_holds "a bound is kept" "all(o.get('bytes', 0) <= 512000 for o in it['options'])"
exits 0 "$tamis" plan --keys 1M "${use[@]}" --probe-cost 1us
prints "Memory has neither a price nor a bound here"
prints "and let the rate be chosen"
exits 0 "$tamis" plan --keys 1M "${use[@]}" --probe-cost 1us --can remove --json
json_holds "abilities are asked for" "'ribbon' not in [o['kind'] for o in it['options']]"

promise 'No filter is one of the answers'
exits 0 "$tamis" plan --keys 1M --queries 1M --store-cost 1us --probe-cost 2us
prints "Take no filter: a query costs 1 us without one, and 2.0078 us with ribbon, the best."
prints "A filter is better if a lookup in the store costs more than 2 us."
exits 0 "$tamis" plan --keys 1M --queries 1M --store-cost 1us --probe-cost 2us --json
json_is "in JSON too" "it['take']" "no filter"
exits 0 "$tamis" plan --keys 1M --queries 1M --member-share 100% --store-cost 1s --probe-cost 1us
prints "Take no filter"
exits 0 "$tamis" plan --keys 1M --queries 10 --store-cost 1ms --probe-cost 1us --build-cost 1us
prints "Take no filter"
exits 0 "$tamis" plan --keys 1M --queries 1M --store-cost 1ms --probe-cost 1us --build-cost 1us --builds 0
prints "Take ribbon"

promise 'Costs without a unit have none: they may be money'
exits 0 "$tamis" plan --keys 1M --queries 1e9 --store-cost 0.0001 --probe-cost 1e-9 --memory-cost 4 --long
prints " on average, not 0.0001."
check_not "no unit is printed" has_line "$said/out" '[0-9] (s|ms|us|ns|h|d)\b'
prints "of it:"

promise 'Bad numbers: one line, exit code 2'
for wrong in "--fpr 0" "--fpr 1" "--fpr nan" "--fpr -1" "--member-share -0.1" "--member-share 1.1" \
    "--member-share nan" "--member-share 101%" "--store-cost -1ms" "--store-cost nan" \
    "--store-cost inf" "--store-cost 1e13" "--store-cost 5parsecs" "--store-cost ms" \
    "--probe-cost -1" "--probe-cost 1e300" "--memory-cost -5" "--memory-cost 1e999" \
    "--build-cost nan" "--builds -1" "--builds 1.5" "--queries 0" "--queries -5" \
    "--queries 1e30" "--queries nan" "--keys 0"; do
    # shellcheck disable=SC2086
    exits 2 "$tamis" plan --keys 2000 "${use[@]}" --probe-cost 1ms $wrong
    check "$wrong: nothing is printed" test ! -s "$said/out"
done
exits 2 "$tamis" plan --keys 2000 --queries 5
says "--store-cost"
exits 2 "$tamis" plan --keys 2000 --store-cost 5ms
says "--queries"
exits 2 "$tamis" plan "${use[@]}"
says "--keys"
exits 2 "$tamis" plan --keys 2000 "${use[@]}" --build-cost 1us
says "--probe-cost"
exits 2 "$tamis" plan --keys 2000 "${use[@]}" --wire
exits 5 "$tamis" plan --keys 2000 "${use[@]}" --probe-cost 1ms --max-bytes 1

promise 'Figures of a machine that are there are taken: of this one, every lookup takes 100 ns'
name=$(uname -n | tr -c 'A-Za-z0-9.\n-' _)
file=cache/tamis/speeds-$name
speeds()
{
    echo "tamis-speeds 1 $("$tamis" --version | cut -d' ' -f2) $("$tamis" kinds --json | "$python" -c 'import json, sys; print(len(json.load(sys.stdin)))') kinds of $name"
    echo "hash 0"
    echo "reads 1e-9 1e-9 1e-9 1e-9 1e-9 1e-9 1e-9"
    for kind in bloom blocked fuse; do
        echo "$kind 4 100000 1e-8 1e-7 1e-7 1e-7 1e-7"
        echo "$kind 12 300000 1e-8 1e-7 1e-7 1e-7 1e-7"
    done
    echo end
}
mkdir -p cache/tamis
speeds >"$file"
cp "$file" kept
exits 0 "$tamis" plan --keys 1M --queries 1e9 --store-cost 1ms --memory-cost 1h --builds 0 --long
is_silent
check "three kinds were measured" test "$(grep -cE '^(bloom|blocked|fuse|no filter) ' "$said/out")" = 4
check "lookups take what was measured" has_line "$said/out" '^fuse .* 100 ns '
exits 0 "$tamis" plan --keys 1M --queries 1e9 --store-cost 1ms --memory-cost 1h --json
json_holds "it says so" "it['is_measured']" "it['unit'] == 's'"
same "$file" kept

promise 'Figures that are damaged or of another machine are measured again, once'
# It takes seconds, and a minute under sanitizers.
[ -z "${TAMIS_SANITIZED:-}" ] || exit 0
sed -i "s/ kinds of .*/ kinds of $(tr a-zA-Z0-9 b-zaB-ZA1-90 <<<"$name")/" "$file"
exits 0 "$tamis" plan --keys 1M --queries 1e9 --store-cost 1ms
says "measuring how fast this machine is"
says "kept in $XDG_CACHE_HOME/tamis/speeds-$name"
check "the file is whole" test "$(tail -n 1 "$file")" = end
check "it has the name of the machine" has_line "$file" " kinds of $name\$"
check "and most kinds" test "$(wc -l <"$file")" -gt 40
exits 0 "$tamis" plan --keys 1M --queries 1e9 --store-cost 1ms
is_silent

promise 'A folder that cannot be written to is no reason to fail'
[ -n "${TAMIS_LONG:-}" ] || exit 0
rm -r cache && touch cache
exits 0 "$tamis" plan --calibrate
says "cannot keep the figures in $XDG_CACHE_HOME/tamis/speeds-$name"
