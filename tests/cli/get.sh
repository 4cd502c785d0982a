#!/usr/bin/env bash
# tamis build --values-field and --universe, tamis get: filters from more than keys.
. "$(dirname "$0")/check.sh"

section 'Values'

seq 1 50000 | awk '{ print "key" $1 "\t" $1 * 7 % 1000 }' >pairs
cut -f1 pairs >keys
seq 1 50000 | sed 's/^/other/' >strangers

for kind in $(kinds_that get); do
    exits 0 "$tamis" build -k "$kind" --values-field 2 -p 1e-6 -o "$kind.tamis" pairs
    is_silent
    for threads in 1 4; do
        for map in '' --map; do
            # shellcheck disable=SC2086
            exits 0 "$tamis" get -j "$threads" $map "$kind.tamis" keys
            same "$said/out" pairs
            is_silent
            # shellcheck disable=SC2086
            exits 1 "$tamis" get -j "$threads" $map "$kind.tamis" /dev/null
            prints_nothing
        done
    done
    exits 0 "$tamis" query -c "$kind.tamis" keys
    prints_exactly '50000\n'
    "$tamis" get "$kind.tamis" strangers >few
    check "strangers are turned away" test "$(wc -l <few)" -le 3
    exits 0 "$tamis" get --field 1 "$kind.tamis" pairs
    check "lines come out whole, with the value" diff <(awk '{ print $0 "\t" $2 }' pairs) "$said/out"
    tr '\n' '\0' <keys | "$tamis" get -z "$kind.tamis" | tr '\0' '\n' >zeros
    same zeros pairs

    promise 'The same pairs in another order, and twice'
    sort -R pairs pairs >twice
    exits 0 "$tamis" build -k "$kind" --values-field 2 -p 1e-6 -n 50000 -o again.tamis pairs
    same "$kind.tamis" again.tamis
    exits 0 "$tamis" build -k "$kind" --values-field 2 -p 0.1 -o again.tamis twice
    exits 0 "$tamis" get again.tamis keys
    same "$said/out" pairs

    printf 'a:b:7\nc:d:4294967295\n' |
        "$tamis" build -k "$kind" --field 2 --values-field 3 --delim : -o colon.tamis
    exits 0 "$tamis" get colon.tamis <<<$'b\nd'
    prints_exactly 'b\t7\nd\t4294967295\n'
    printf 'a 0x10\nb 17\n' | "$tamis" build -k "$kind" --values-field 2 --delim ' ' -o hex.tamis
    exits 0 "$tamis" get hex.tamis <<<$'a\nb'
    prints_exactly 'a\t16\nb\t17\n'

    promise 'What is wrong is said'
    printf 'a\t1\nb\ttwo\n' >words
    exits 2 "$tamis" build -k "$kind" --values-field 2 -o bad.tamis words
    says 'words, line 2: field 2'
    exits 2 "$tamis" build -k "$kind" -o bad.tamis keys
    says '--values-field'
    check_not "nothing is left of those" test -e bad.tamis
    printf 'a\t1\nb\nc\t3\n' | "$tamis" build -k "$kind" --values-field 2 -o holes.tamis 2>"$said/err"
    says '1 of 3 lines have no field 2'
    exits 0 "$tamis" build -k "$kind" --values-field 2 --allow-empty -o none.tamis /dev/null
    exits 1 "$tamis" get none.tamis keys
    exits 2 "$tamis" add "$kind.tamis" keys

    # The rest is for kinds whose values do not change: put.sh looks at others.
    kinds_that put | grep -qx "$kind" && continue

    promise 'Ten bits are needed for 999, and as many are taken'
    exits 0 "$tamis" build -k "$kind" --values-field 2 --value-bits 10 -p 1e-6 -o ten.tamis pairs
    same "$kind.tamis" ten.tamis
    rm -f nine.tamis
    exits 5 "$tamis" build -k "$kind" --values-field 2 --value-bits 9 -o nine.tamis pairs
    says '--value-bits'
    check_not "nothing is left of it" test -e nine.tamis

    printf 'a\t1\nb\t2\na\t3\n' >conflict
    exits 2 "$tamis" build -k "$kind" --values-field 2 -o bad.tamis conflict
    says 'a key has two values'
    printf 'a\t4294967296\n' >large
    exits 5 "$tamis" build -k "$kind" --values-field 2 -o bad.tamis large
    says '32 bits'
    check_not "nothing is left of those" test -e bad.tamis
done

exits 0 "$tamis" build --values-field 2 -o chosen.tamis pairs
exits 0 "$tamis" get chosen.tamis keys
exits 2 "$tamis" build -k bloom --values-field 2 -o bad.tamis pairs
says 'no use for --values-field'
exits 2 "$tamis" build -k bloom --value-bits 2 -o bad.tamis keys
exits 0 "$tamis" build -k bloom -o bloom.tamis keys
exits 2 "$tamis" get bloom.tamis keys
exits 2 "$tamis" get
exits 0 "$tamis" plan -n 1000 --value-bits 8
check "only kinds that can get are planned" awk 'NR > 1 && $NF !~ /get/ { exit 1 }' "$said/out"

section 'A universe'

seq 1 200000 >universe
awk '$1 % 40 == 0' universe >members
awk '$1 % 40' universe >others

for kind in $(kinds_that exclude); do
    for all in universe others; do
        exits 0 "$tamis" build -k "$kind" --universe "$all" -o "$kind.$all" members
        is_silent
        exits 0 "$tamis" query "$kind.$all" universe
        same "$said/out" members
        exits 0 "$tamis" query -v --map "$kind.$all" universe
        same "$said/out" others
    done
    same "$kind.universe" "$kind.others"

    promise 'The other way round'
    exits 0 "$tamis" build -k "$kind" --universe members -o most.tamis others
    exits 0 "$tamis" query most.tamis universe
    same "$said/out" others
    exits 0 "$tamis" build -k "$kind" --universe universe -o all.tamis universe
    exits 0 "$tamis" query -c all.tamis universe
    prints_exactly '200000\n'
    exits 0 "$tamis" build -k "$kind" --universe universe --allow-empty -o nobody.tamis /dev/null
    exits 1 "$tamis" query nobody.tamis universe
    exits 0 "$tamis" build -k "$kind" --universe /dev/null --allow-empty -o void.tamis /dev/null
    exits 1 "$tamis" query void.tamis universe
    exits 2 "$tamis" build -k "$kind" -o bad.tamis members
    says '--universe'
    exits 3 "$tamis" build -k "$kind" --universe missing -o bad.tamis members
    exits 0 "$tamis" info "$kind.universe"
done
exits 2 "$tamis" build -k bloom --universe universe -o bad.tamis members
says 'no use for --universe'
exits 0 "$tamis" plan -n 1000 --universe 1e6
check "only kinds that can exclude or adapt are planned" \
    awk 'NR > 1 && $NF !~ /exclude|adapt/ { exit 1 }' "$said/out"
