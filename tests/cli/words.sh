#!/usr/bin/env bash
# A spelling checker from a real word list, with every kind that takes text.
. "$(dirname "$0")/check.sh"

words=${WORDS:-/usr/share/dict/american-english}
if [ ! -r "$words" ]; then
    echo "SKIPPED: $words is missing; install Debian's wamerican"
    exit 77
fi
cp "$words" list
n=$(wc -l <list)

printf '%s\n' the quick brown fox jumps over the lazy dog while teh slowe turtel waits at home >text
printf '%s\n' teh slowe turtel >mistakes
grep -vxF -f list text >wanted
same wanted mistakes

promise 'A list of words finds its words, and no others'
for kind in $(kinds_that build); do
    ! can "$kind" indexed || continue
    exits 0 "$tamis" build -k "$kind" -p 1e-6 -o words.tamis list
    exits 0 "$tamis" query -c words.tamis list
    prints_exactly "$n\n"
    exits 1 "$tamis" query -v words.tamis list
    exits 0 "$tamis" query -v words.tamis text
    same "$said/out" mistakes
    exits 0 "$tamis" query words.tamis text
    check "$kind: thirteen of the sixteen words" has_lines "$said/out" 13

    promise 'Words turned round are no words, but for one in a hundred and the palindromes'
    exits 0 "$tamis" build -k "$kind" -p 0.01 -o coarse.tamis list
    rev list | sort -u | comm -23 - <(sort list) >strangers
    total=$(wc -l <strangers)
    "$tamis" query -c coarse.tamis strangers >"$said/out"
    check "$kind: at most 1 % of $total strangers pass, give or take chance" python3 - \
        "$(cat "$said/out")" "$total" <<'PYTHON'
import sys
from math import exp, lgamma, log

# Alpha is 1e-9: the chance that more than `passed` of `total` pass, each with probability 0.01.
passed, total, p = int(sys.argv[1]), int(sys.argv[2]), 0.01
def term(k):
    return exp(lgamma(total + 1) - lgamma(k + 1) - lgamma(total - k + 1)
               + k * log(p) + (total - k) * log(1 - p))
sys.exit(sum(term(k) for k in range(passed, total + 1)) < 1e-9)
PYTHON
done
