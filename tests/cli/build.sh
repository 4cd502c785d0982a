#!/usr/bin/env bash
# tamis build: every kind, every option, the same bytes whatever the number of threads.
. "$(dirname "$0")/check.sh"

seq 20000 >keys
seq 20001 30000 >others

promise 'Built of all keys, a filter has all of them'
for kind in $(kinds_that build); do
    exits 0 "$tamis" build -k "$kind" -o "$kind.tamis" keys
    is_silent
    prints_nothing
    exits 0 "$tamis" query "$kind.tamis" keys
    same "$said/out" keys
    exits 0 "$tamis" verify "$kind.tamis"

    promise 'Threads, and where keys come from, do not show in the file'
    for threads in 1 2 4 32; do
        exits 0 "$tamis" build -j "$threads" -k "$kind" -o threads.tamis keys
        same threads.tamis "$kind.tamis"
    done
    exits 0 "$tamis" build -k "$kind" -o stdin.tamis <keys
    same stdin.tamis "$kind.tamis"
    exits 0 "$tamis" build -k "$kind" -o dash.tamis - <keys
    same dash.tamis "$kind.tamis"
    head -9999 keys >first && tail -n +10000 keys >rest
    exits 0 "$tamis" build -k "$kind" -o files.tamis first rest
    same files.tamis "$kind.tamis"
    exits 0 "$tamis" build -k "$kind" -o mixed.tamis first - <rest
    same mixed.tamis "$kind.tamis"
    cat keys | exits 0 "$tamis" build -k "$kind" -o pipe.tamis
    same pipe.tamis "$kind.tamis"

    promise 'Announced keys are streamed'
    ! can "$kind" indexed && n=20000 || n=20001
    for threads in 1 4; do
        exits 0 "$tamis" build -j "$threads" -k "$kind" -n "$n" -o "streamed$threads.tamis" keys
        is_silent
        exits 0 "$tamis" query -c "streamed$threads.tamis" keys
        prints_exactly '20000\n'
    done
    same streamed1.tamis streamed4.tamis

    promise 'No key at all'
    exits 0 "$tamis" build -k "$kind" --allow-empty -o empty.tamis /dev/null
    exits 1 "$tamis" query empty.tamis others
    prints_nothing

    promise 'Twice the same key'
    exits 0 "$tamis" build -k "$kind" -o twice.tamis keys keys
    exits 0 "$tamis" query -c twice.tamis keys
    prints_exactly '20000\n'

    promise 'Without -n, room is made for different keys'
    # Kinds that keep copies have room for these.
    if [[ $kind != quotient && $kind != aleph ]]; then
        exits 0 "$tamis" build -k "$kind" -o twice.tamis keys keys keys keys
        is_silent
        exits 0 "$tamis" query -c twice.tamis keys
        prints_exactly '20000\n'
        most=$(stat -c %s "$kind.tamis")
        [ "$kind" != cqf ] || most=$((most * 16 / 5)) # counts take slots
        check "$kind: repeated keys take no room" test "$(stat -c %s twice.tamis)" -le "$((most + most / 50))"
    fi

    promise 'The seed and the hash change the bytes, not the answers'
    if ! can "$kind" indexed; then
        for options in '--seed 7' '--hash raw' '--hash keyed' '--hash raw --seed 0x7' '--hash keyed --seed 7'; do
            # shellcheck disable=SC2086
            exits 0 "$tamis" build $options -k "$kind" -o other.tamis keys
            differ other.tamis "$kind.tamis"
            exits 0 "$tamis" query -c other.tamis keys
            prints_exactly '20000\n'
        done
    fi
done

promise 'More keys than announced: Bloom filters take them all and say so, others may be full'
for kind in $(kinds_that build); do
    ! can "$kind" indexed && ! can "$kind" rotate || continue
    rm -f over.tamis
    if can "$kind" exact; then
        exits 5 "$tamis" build -k "$kind" -n 1000 -o over.tamis keys
        says "full"
        check_not "no file is left" test -e over.tamis
    elif can "$kind" read-while-add; then
        exits 0 "$tamis" build -k "$kind" -n 1000 -o over.tamis keys
        says "over.tamis holds 20000 keys and was planned for 1000"
        exits 0 "$tamis" query -c over.tamis keys
        prints_exactly '20000\n'
    elif "$tamis" build -k "$kind" -n 1000 -o over.tamis keys 2>"$said/err"; then
        exits 0 "$tamis" query -c over.tamis keys
        prints_exactly '20000\n'
    else
        says "full"
        check_not "no file is left" test -e over.tamis
    fi
done

promise 'The rate asked for is kept, and a better one makes a larger filter'
exits 0 "$tamis" build -k bloom -p 0.1 -o coarse.tamis keys
exits 0 "$tamis" build -k bloom -p 0.001 -o fine.tamis keys
check "a lower rate takes more bytes" test "$(stat -c %s fine.tamis)" -gt "$(stat -c %s coarse.tamis)"
exits 0 "$tamis" query -c coarse.tamis others
check "about a tenth of 10000 strangers pass" test "$(cat "$said/out")" -gt 700 -a "$(cat "$said/out")" -lt 1300

promise 'A filter planned to grow keeps its rate up to there'
for kind in cqf aleph; do
    seq 64000 | exits 0 "$tamis" build -k "$kind" -n 1000 -p 0.01 --grow-to 64000 -o grown.tamis
    exits 0 "$tamis" info --json grown.tamis
    json_holds "$kind grown" 'it[0]["keys"] == 64000' '0 < it[0]["fpr"] <= 0.01'
done
exits 2 "$tamis" build -k cqf -n 1000 --grow-to 999 -o none.tamis keys
says '--grow-to is less than --keys'

promise 'Limits on size'
exits 0 "$tamis" build -k bloom --max-bytes 8K -o small.tamis keys
check "it kept to its 8 KiB" test "$(stat -c %s small.tamis)" -le 9000
exits 5 "$tamis" build -k bloom -p 0.001 --max-bytes 1K -o small.tamis keys
says "bloom filters cannot hold 20000 keys"

promise 'A kind is chosen when none is asked for, and said'
exits 0 "$tamis" build -o chosen.tamis keys
says "chosen"
is_one_message || failed "more than one line"
exits 0 "$tamis" query -c chosen.tamis keys
prints_exactly '20000\n'
exits 0 "$tamis" build --can remove -o chosen.tamis keys
exits 0 "$tamis" remove chosen.tamis <<<7
exits 0 "$tamis" build -p 1e-12 -o chosen.tamis keys
exits 1 "$tamis" query chosen.tamis others
exits 0 "$tamis" build --hash raw -o chosen.tamis keys
exits 0 "$tamis" query -c chosen.tamis keys
prints_exactly '20000\n'
exits 5 "$tamis" build --can remove --max-bytes 100 -o nothing.tamis keys
check_not "nothing was saved" test -e nothing.tamis
for kind in $(kinds_that build); do
    can "$kind" remove || { exits 2 "$tamis" build -k "$kind" --can remove -o nothing.tamis keys; break; }
done

promise 'Integers'
for kind in $(kinds_that indexed); do
    exits 0 "$tamis" build -k "$kind" -o indexed.tamis <<<$'3\n0x10\n0'
    exits 0 "$tamis" info --json indexed.tamis
    json_is "the largest key plus one is the capacity" 'it[0]["plan"]["keys"]' 17
    exits 0 "$tamis" query indexed.tamis <<<$'0\n1\n3\n16\n17\n18446744073709551615'
    prints_exactly '0\n3\n16\n'
    exits 5 "$tamis" build -k "$kind" -n 16 -o over.tamis <<<$'3\n16\n0'
    says "standard input, line 2"
    says "16"
    exits 5 "$tamis" build -k "$kind" -o over.tamis <<<18446744073709551615
    exits 5 "$tamis" build -k "$kind" -o over.tamis <<<18446744073709551614
    exits 2 "$tamis" build -k "$kind" --hash fast -o over.tamis <<<1
    says "--hash raw"
    exits 2 "$tamis" build -k "$kind" -o over.tamis <<<word
done

promise 'Secrets are drawn, private and not shown'
exits 0 "$tamis" build -k bloom --hash keyed -o one.tamis keys
exits 0 "$tamis" build -k bloom --hash keyed -o two.tamis keys
differ one.tamis two.tamis
check "a keyed filter is private" test "$(stat -c %a one.tamis)" = 600
exits 2 "$tamis" merge -o both.tamis one.tamis two.tamis
says "secret"

promise 'Where it goes'
exits 2 "$tamis" build -k bloom keys
says "-o FILE"
exits 3 "$tamis" build -k bloom -o nowhere/out.tamis keys
says "nowhere/out.tamis"
exits 3 "$tamis" build -k bloom -o out.tamis keys missing
says "missing: No such file"
check_not "no filter of half the keys" test -e out.tamis
mkdir folder
exits 3 "$tamis" build -k bloom -o folder keys
mkfifo pipe
exits 3 "$tamis" build -k bloom -o pipe keys
says "not a regular file"
check "what is no file is not replaced" test -p pipe
cp keys spared
exits 2 "$tamis" build -k bloom -o spared keys spared
says "spared is both"
same spared keys
exits 0 "$tamis" build keys -o last.tamis -k bloom
is_silent
echo old >replaced.tamis
exits 0 "$tamis" build -k bloom -o replaced.tamis keys
same replaced.tamis bloom.tamis
check "nothing else is left behind" test -z "$(find . -name '*.tmp*' -o -name '.*.tamis*')"

section 'What no filter can be'

exits 5 "$tamis" build -n 1e18 -o huge.tamis /dev/null
says "no kind of filter can hold 1000000000000000000 keys"
exits 5 "$tamis" build -k bloom -n 1e18 -o huge.tamis /dev/null
says "bloom filters cannot hold 1000000000000000000 keys"

promise 'No rate is so low that a kind is chosen that is far larger than another'
# 1e-12 once took 63,388 bits per key.
for rate in 1e-6 1e-9 1e-12 1e-15; do
    exits 0 "$tamis" build -p "$rate" -o chosen.tamis <<<"$(seq 100)"
    exits 0 "$tamis" info --json chosen.tamis
    json_holds "$rate: a small kind is chosen" 'it[0]["plan"]["bits_per_key"] < 100'
done

section 'No key'

cp bloom.tamis good.tamis
for nothing in '/dev/null' '-n 1000 /dev/null' '--field 9 keys' '--csv --field 2 keys'; do
    # shellcheck disable=SC2086
    exits 1 "$tamis" build -k bloom -o good.tamis $nothing
    says "good.tamis was not written"
    says "--allow-empty"
    same good.tamis bloom.tamis
    # shellcheck disable=SC2086
    exits 1 "$tamis" build --quiet -k bloom -o new.tamis $nothing
    is_silent
    check_not "nothing was saved" test -e new.tamis
done
exits 0 "$tamis" build --allow-empty -k bloom -o good.tamis /dev/null
exits 1 "$tamis" query good.tamis keys

section 'Quiet'

exits 0 "$tamis" build --quiet -o chosen.tamis keys
is_silent
exits 2 "$tamis" build --quiet --hash raw -o chosen.tamis <<<word
exits 3 "$tamis" build --quiet -o chosen.tamis missing
exits 4 "$tamis" add --quiet keys others

promise 'JSON tells what was made, and which kind was chosen'
exits 0 "$tamis" build --json -o chosen.tamis keys
is_silent
prints_json
json_holds "file, kind and keys" 'it["file"] == "chosen.tamis" and it["kind"] == "blocked"' \
    'it["keys_read"] == it["keys"] > 0' 'it["bytes"] > 0'
exits 2 "$tamis" build --json -o - keys
