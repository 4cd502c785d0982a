#!/usr/bin/env bash
# tamis convert, counters of several widths, and what info tells of them.
. "$(dirname "$0")/check.sh"

seq 1000 >all
seq 501 1000 >gone
seq 500 >left

for bits in 2 3 4 7 8 16; do
    exits 0 "$tamis" build -k counting --counter-bits "$bits" -n 1000 -o counts.tamis all
    exits 0 "$tamis" remove counts.tamis gone
    exits 0 "$tamis" convert --to bloom counts.tamis -o plain.tamis
    is_silent
    exits 0 "$tamis" build -k bloom -n 1000 -o built.tamis left
    promise 'Counters of two bits stop early, and what has stopped stays'
    [ "$bits" = 2 ] || check "$bits bits: as built from the keys" cmp plain.tamis built.tamis
    exits 0 "$tamis" query plain.tamis left
    same "$said/out" left
    exits 0 "$tamis" verify plain.tamis
    exits 0 "$tamis" info counts.tamis
    prints "counters, at $(((1 << bits) - 1))"
    exits 0 "$tamis" info --json counts.tamis
    json_is "$bits bits: told" "it[0]['plan']['shape']['bits_per_counter']" "$bits"
done

promise 'A key that came too often stays'
yes again | head -n 20 >often
exits 0 "$tamis" build -k counting -n 10 -o few.tamis often
exits 0 "$tamis" remove few.tamis often
exits 0 "$tamis" count few.tamis often
exits 0 "$tamis" info --json few.tamis
json_holds "counters have stopped" "it[0]['saturated'] > 0"
exits 0 "$tamis" build -k bloom -n 10 -o plain.tamis often
exits 0 "$tamis" info plain.tamis
check_not "nothing stops in a plain filter" has_line "$said/out" saturated

promise 'To be sent: shorter as it is built, and when it is nearly empty'
# The same again when received.
exits 0 "$tamis" build -k compressed -o sent.tamis all
exits 0 "$tamis" convert --to bloom sent.tamis -o received.tamis
is_silent
exits 0 "$tamis" query received.tamis all
same "$said/out" all
exits 0 "$tamis" convert --to compressed received.tamis -o again.tamis
exits 0 "$tamis" verify again.tamis
exits 0 "$tamis" convert --to bloom again.tamis -o twice.tamis
check "the same bits" cmp received.tamis twice.tamis
exits 0 "$tamis" build -k bloom -n 100000 -o empty.tamis left
exits 0 "$tamis" convert --to compressed empty.tamis -o sent.tamis
check "shorter" test "$(stat -c %s sent.tamis)" -lt "$(($(stat -c %s empty.tamis) / 10))"
exits 2 "$tamis" convert --to compressed counts.tamis -o none.tamis
says "do not become compressed"
exits 0 "$tamis" plan --wire -n 1M
prints "bytes sent"
prints compressed

for kind in $(kinds_that build); do
    if ! can "$kind" convert; then
        exits 0 "$tamis" build -k "$kind" -o f.tamis left
        exits 2 "$tamis" convert --to bloom -o none.tamis f.tamis
        says "cannot convert"
        check_not "nothing was saved" test -e none.tamis
    fi
done
exits 2 "$tamis" convert --to blocked -o none.tamis counts.tamis
says "do not become blocked"
exits 2 "$tamis" convert --to nonsense -o none.tamis counts.tamis
says "'nonsense'"
exits 2 "$tamis" convert --to bloom counts.tamis
exits 2 "$tamis" convert -o none.tamis counts.tamis
exits 2 "$tamis" convert --to bloom -o none.tamis
exits 2 "$tamis" convert --to bloom -o none.tamis counts.tamis counts.tamis
exits 3 "$tamis" convert --to bloom -o none.tamis missing.tamis
exits 4 "$tamis" convert --to bloom -o none.tamis all
check_not "nothing was saved" test -e none.tamis

exits 2 "$tamis" build -k counting --counter-bits 0 -o none.tamis left
exits 2 "$tamis" build -k counting --counter-bits 17 -o none.tamis left
says "from 1 to 16"
exits 2 "$tamis" build -k bloom --counter-bits 4 -o none.tamis left
exits 0 "$tamis" plan -n 1000 --counter-bits 8
prints counting
check_not "kinds without counters are not shown" has_line "$said/out" bloom
