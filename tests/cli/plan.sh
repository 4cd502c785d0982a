#!/usr/bin/env bash
# tamis plan and tamis build with a geometry that is asked for.
. "$(dirname "$0")/check.sh"

rate_of()
{
    awk -v kind="$1" '$1 == kind { print $2 == "*" ? $6 : $5 }' "$said/out"
}

refused()
{
    local code=$1
    shift
    exits "$code" "$tamis" "$@"
    check "one line" has_lines "$said/err" 1
}

promise 'V3: 8e9 bits for 1e9 keys'
exits 0 "$tamis" plan --keys 1e9 --bits 8e9 --hashes 1
check "V3: one hash" test "$(rate_of bloom)" = 0.1175
exits 0 "$tamis" plan --keys 1e9 --bits 8e9 --hashes 2
check "V3: two hashes" test "$(rate_of bloom)" = 0.04893
check_not "blocked has eight" has_line "$said/out" ^blocked
exits 0 "$tamis" plan --keys 1e9 --bits 8e9
prints "8000000000 bits, 6 probes"
prints "(m/n) ln 2 = 5.55 hashes"

promise "V4: bits per key, the textbook's rate, and what the best whole number of hashes gives"
while read -r bits textbook best; do
    exits 0 "$tamis" plan --keys 1M --bits "${bits}M"
    prints "0.6185^(m/n) = $textbook"
    check "V4: $bits bits per key" test "$(rate_of bloom)" = "$best"
done <<'END'
1 0.619 0.6321
2 0.383 0.3935
5 0.0905 0.09185
10 0.00819 0.008194
END

promise 'V5: 30 rows of 2.5 million bits'
exits 0 "$tamis" plan --keys 5M --bits 75M --hashes 30
check "V5: the rate" test "$(rate_of partitioned)" = 0.01275
prints "9375000"
prints "2500000 bits per row, 30 rows"

promise 'Kinds to study are printed, and chosen, if that is asked for'
exits 0 "$tamis" plan --keys 1M
check_not "xor is to study" has_line "$said/out" '^xor '
check "compressed is to use" has_line "$said/out" '^compressed '
exits 0 "$tamis" plan --keys 1M --all
check "all are printed" has_line "$said/out" '^xor '
check "blocked is chosen" has_line "$said/out" '^blocked  *\* '
exits 0 "$tamis" plan --keys 1M --can to-study,count --json
json_holds "they can be asked for" "all('to-study' in p['abilities'] for p in it)" \
    "[p['kind'] for p in it if p['chosen']] == ['quotient']"
refused 5 plan --keys 1M --can to-study,exact

promise 'What is planned is built'
seq 1000 >keys
built()
{
    exits 0 "$tamis" build "$@" -o it.tamis keys
    exits 0 "$tamis" query -c it.tamis keys
    check "every key is there" test "$(cat "$said/out")" = 1000
    exits 0 "$tamis" verify it.tamis
    exits 0 "$tamis" info it.tamis
}
built -k bloom --bits 7919 --hashes 3
prints "7919 bits, 3 probes"
built -k partitioned --bits 10000 --hashes 4
prints "2500 bits per row, 4 rows"
built -k counting --bits 9999 --counter-bits 7
prints "9999 counters, 7 bits per counter, 7 probes"
built -k quotient --quotient-bits 11 --remainder-bits 13
prints "2048 slots, 13 bits per remainder"
built -k cqf --quotient-bits 11 --tag-bits 9
prints "2048 slots, 9 bits per remainder"
built -k fuse --tag-bits 11
prints "11 bits per slot"
built -k cuckoo-buckets --tag-bits 12
prints "12 bits per tag"
built --bits 16000 --hashes 5
prints "16000 bits, 5 probes"

exits 0 "$tamis" plan --bits 1M --json
json_is "JSON has the shape" "[p for p in it if p['kind'] == 'bloom'][0]['shape']" \
    "{'bits': 1000000, 'probes': 7}"
exits 0 "$tamis" plan --quotient-bits 10 --remainder-bits 8
prints "1024 slots, 8 bits per remainder"
check_not "other kinds have no quotients" has_line "$said/out" ^cuckoo

promise 'What a kind does not have is refused, in one line'
refused 2 build -k fuse --bits 1000 -o none.tamis keys
refused 2 build -k bloom --tag-bits 8 -o none.tamis keys
refused 2 build -k cuckoo --quotient-bits 8 -o none.tamis keys
refused 5 build -k blocked --hashes 3 -o none.tamis keys
refused 5 build -k quotient --quotient-bits 9 -o none.tamis keys
refused 5 plan --keys 1000 --quotient-bits 9
refused 5 plan --keys 1000 --bits 10000 --fpr 0.0001
for wrong in "--bits 0" "--bits -1" "--bits nan" "--hashes 0" "--hashes 65" "--quotient-bits 0" \
    "--quotient-bits 49" "--remainder-bits 0" "--tag-bits 65" "--counter-bits 0" \
    "--counter-bits 17"; do
    # shellcheck disable=SC2086
    refused 2 plan --keys 1000 $wrong
done
refused 2 plan
says "--quotient-bits Q"
check_not "nothing was saved" test -e none.tamis

promise 'A plan of one kind'
exits 0 "$tamis" plan --keys 1M -k cqf
check "only this kind is printed" test "$(wc -l <"$said/out")" -eq 2
prints "cqf  "
exits 0 "$tamis" plan --keys 1M -k xor
prints "xor  "
exits 0 "$tamis" plan --keys 1M -k cqf --queries 1M --store-cost 500ms --probe-cost 1us --json
json_is "no filter is compared with it" '[o["kind"] for o in it["options"]]' "['cqf', 'no filter']"
refused 5 plan --keys 1M -k cqf --can get
refused 2 plan --keys 1M -k cqx
