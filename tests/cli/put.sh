#!/usr/bin/env bash
# tamis build, add, get, remove, list and merge: maps that change.
. "$(dirname "$0")/check.sh"

pairs()
{
    printf '%s\t%s\n' "$@"
}

for kind in $(kinds_that put); do
    # ---- A few pairs -----------------------------------------------------

    pairs ann 1 bob 2 ann 18446744073709551615 |
        exits 0 "$tamis" build -k "$kind" --values-field 2 -o few.tamis
    is_silent
    exits 0 "$tamis" get few.tamis <<<$'bob\nann\ncleo'
    prints_exactly 'bob\t2\nann\t18446744073709551615\n'

    promise 'An update, and a new key for which there is no room yet'
    pairs cleo 3 bob 22 | exits 0 "$tamis" add --values-field 2 few.tamis
    is_silent
    exits 0 "$tamis" get few.tamis <<<$'ann\nbob\ncleo'
    prints_exactly 'ann\t18446744073709551615\nbob\t22\ncleo\t3\n'
    pairs cleo 333 dan 4 | exits 0 "$tamis" add --absent --values-field 2 few.tamis
    exits 0 "$tamis" get few.tamis <<<$'cleo\ndan'
    prints_exactly 'cleo\t3\ndan\t4\n'
    exits 0 "$tamis" remove few.tamis <<<ann
    exits 1 "$tamis" remove few.tamis <<<ann
    exits 1 "$tamis" get few.tamis <<<ann
    exits 0 "$tamis" info few.tamis
    prints 'holds     3 keys'
    exits 0 "$tamis" verify few.tamis

    # ---- Integers, which come back ---------------------------------------

    pairs 0 7 18446744073709551615 0 5 55 |
        "$tamis" build -k "$kind" --hash raw --values-field 2 -o numbers.tamis
    exits 0 "$tamis" list numbers.tamis
    is_silent
    check "each key is listed with its value" diff <(sort "$said/out") \
        <(pairs 0 7 18446744073709551615 0 5 55 | sort)
    pairs 5 18446744073709551616 | exits 2 "$tamis" add --values-field 2 numbers.tamis
    says "line 1: field 2 is not an integer from 0 to 18446744073709551615"
    exits 0 "$tamis" remove numbers.tamis <<<$'0\n5\n18446744073709551615'
    exits 1 "$tamis" list numbers.tamis
    prints_nothing

    # ---- Two maps --------------------------------------------------------

    pairs 1 10 2 20 | "$tamis" build -k "$kind" --hash raw --values-field 2 -o one.tamis
    seq 2 1000 | sed 's/.*/&\t&00/' |
        "$tamis" build -k "$kind" --hash raw --values-field 2 -o two.tamis
    exits 0 "$tamis" merge -o both.tamis one.tamis two.tamis
    exits 0 "$tamis" get both.tamis <<<$'1\n2\n3'
    prints_exactly '1\t10\n2\t200\n3\t300\n'
    exits 0 "$tamis" merge -o both.tamis two.tamis one.tamis
    exits 0 "$tamis" get both.tamis <<<$'1\n2\n3'
    prints_exactly '1\t10\n2\t20\n3\t300\n'
    exits 0 "$tamis" merge --intersect -o both.tamis one.tamis two.tamis
    exits 0 "$tamis" list both.tamis
    prints_exactly '2\t20\n'
    exits 0 "$tamis" merge --subtract -o both.tamis one.tamis two.tamis
    exits 0 "$tamis" list both.tamis
    prints_exactly '1\t10\n'

    # ---- Many pairs ------------------------------------------------------

    promise 'Every key twice with another value: at once, in pieces, and by threads'
    seq 1 20000 | awk '{ print $1 "\t" $1 * 3 }' >old
    seq 1 20000 | awk '{ print $1 "\t" $1 * 5 }' >new
    exits 0 "$tamis" build -k "$kind" --hash raw --values-field 2 -o at-once.tamis old new
    is_silent
    for threads in 1 4; do
        exits 0 "$tamis" build -k "$kind" -j "$threads" -n 20000 --hash raw --values-field 2 \
            -o again.tamis old new
        same at-once.tamis again.tamis
    done
    exits 0 "$tamis" get at-once.tamis <<<$'1\n77\n20000\n20001'
    prints_exactly '1\t5\n77\t385\n20000\t100000\n'
    head -n 100 old | "$tamis" build -k "$kind" --hash raw --values-field 2 -o grown.tamis
    exits 0 "$tamis" add --values-field 2 grown.tamis old
    exits 0 "$tamis" add --values-field 2 -j 4 grown.tamis new
    is_silent
    exits 0 "$tamis" list grown.tamis
    check "the grown map has all pairs" diff <(sort "$said/out") <(sort new)
    exits 0 "$tamis" verify grown.tamis

    # ---- What is wrong is said -------------------------------------------

    exits 2 "$tamis" add few.tamis <<<eve
    says '--values-field'
    printf 'eve\tfive\n' | exits 2 "$tamis" add --values-field 2 few.tamis
    says 'line 1: field 2'
    pairs eve 18446744073709551616 | exits 2 "$tamis" add --values-field 2 few.tamis
    exits 1 "$tamis" get few.tamis <<<eve
done

"$tamis" build -k bloom -o bloom.tamis <<<x
pairs x 1 | exits 2 "$tamis" build -k hashmap --value-bits 8 --values-field 2 -o never.tamis <<<$'ann\t1'
says "values of a hashmap have 64 bits"
exits 2 "$tamis" add --values-field 2 bloom.tamis
says 'cannot put'
