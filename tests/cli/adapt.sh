#!/usr/bin/env bash
# tamis adapt, and what info and build say and do of filters that take back false positives.
. "$(dirname "$0")/check.sh"

adaptive=()
for kind in "${all_kinds[@]}"; do
    ! can "$kind" adapt || adaptive+=("$kind")
done
check "some kind adapts" test ${#adaptive[@]} -gt 0

seq 5000 >keys
seq 100001 140000 >strangers

# all_found FILE: no key was lost.
all_found()
{
    exits 0 "$tamis" query "$1" keys
    same "$said/out" keys
}

# found FILE INPUT: how many lines are found.
found()
{
    "$tamis" query -c "$1" "$2"
}

section 'False positives'

for kind in "${adaptive[@]}"; do
    exits 0 "$tamis" build -k "$kind" -n 6000 -p 0.02 -o built.tamis keys
    cp built.tamis f.tamis
    before=$(found f.tamis strangers)
    check "$kind: some strangers are found" test "$before" -gt 200

    exits 0 "$tamis" adapt f.tamis strangers
    is_silent
    taken=$(sed -n 's/^40000 lines: \([0-9]*\) taken back, .*, 0 in the filter, 0 without room$/\1/p' "$said/out")
    check "$kind: about as many are taken back" test "${taken:-0}" -ge $((before * 9 / 10))
    exits 0 "$tamis" verify f.tamis
    all_found f.tamis
    after=$(found f.tamis strangers)
    check "$kind: fewer are found now" test "$after" -lt $((before / 2))
    [ "$kind" != aqf ] || check "$kind: none" test "$after" -eq 0
    exits 0 "$tamis" info f.tamis
    check "$kind: info tells" has_line "$said/out" '^adapted   [1-9][0-9]* places, [0-9.]+ bits per key$'
    exits 0 "$tamis" info --json f.tamis
    prints_json
    json_holds "$kind: numbers" '0 < it[0]["adaptations"] <= '"$taken" \
        '0 <= it[0]["adapted_bits_per_key"] < 64'

    promise 'What stays away is not told again'
    if [ "$after" -eq 0 ]; then
        cp f.tamis once.tamis
        exits 0 "$tamis" adapt f.tamis strangers
        prints_exactly '40000 lines: 0 taken back, 40000 not found anyway, 0 in the filter, 0 without room\n'
        same f.tamis once.tamis
    fi

    exits 0 "$tamis" adapt --forget f.tamis
    check "$kind: forgotten" has_line "$said/out" '^[1-9][0-9]* adaptations forgotten$'
    check "$kind: as before" test "$(found f.tamis strangers)" -eq "$before"
    all_found f.tamis
    exits 0 "$tamis" adapt --forget --json f.tamis
    json_holds "$kind: nothing left to forget" 'it == {"file": "f.tamis", "forgotten": 0}'
    exits 0 "$tamis" info --json f.tamis
    json_holds "$kind: no adaptation" 'it[0]["adaptations"] == 0' 'it[0]["adapted_bits_per_key"] == 0'
    exits 2 "$tamis" adapt --forget f.tamis strangers

    promise 'The same whatever the number of threads, and with --quiet without a word'
    exits 0 "$tamis" adapt -j 1 f.tamis strangers
    cp f.tamis one.tamis
    cp built.tamis f.tamis
    exits 0 "$tamis" adapt -j 4 --quiet f.tamis strangers
    prints_nothing
    same f.tamis one.tamis
done

section 'Keys that are in it'

for kind in "${adaptive[@]}"; do
    exits 0 "$tamis" build -k "$kind" -n 6000 -p 1e-4 -o f.tamis keys
    cp f.tamis before.tamis
    printf '%s\n' black 17 white 18 >mixed
    exits 1 "$tamis" adapt f.tamis mixed - <<<19
    says "f.tamis holds these keys, which are no false positives: mixed line 2, mixed line 4, standard input line 1"
    prints "5 lines: "
    prints " 3 in the filter, 0 without room"
    exits 1 "$tamis" adapt --json f.tamis mixed
    json_holds "$kind: which" 'it["lines"] == 4' 'it["no_room"] == 0' \
        'it["taken_back"] + it["not_found"] == 2' \
        'it["held"] == [{"input": "mixed", "line": 2}, {"input": "mixed", "line": 4}]'
    exits 1 "$tamis" adapt --quiet f.tamis mixed
    is_silent
    prints_nothing
    exits 1 "$tamis" adapt f.tamis keys
    says "f.tamis holds these keys, which are no false positives: keys line 1, keys line 2,"
    says "keys line 10 and 4990 more"
    same f.tamis before.tamis
    all_found f.tamis
done

promise 'Lines are those of the input, in any chunk, and whatever lines have no key'
kind=${adaptive[0]}
exits 0 "$tamis" build -k "$kind" -n 10 -p 1e-9 -o one.tamis <<<needle
{ yes 'hay,stack' | head -n 200000; echo 'none'; echo 'a,needle'; } >csv
exits 1 "$tamis" adapt --csv --field 2 -j 4 one.tamis csv
says "one.tamis holds these keys, which are no false positives: csv line 200002"
prints "200002 lines: 0 taken back, 200000 not found anyway, 1 in the filter, 0 without room"
gzip -k csv
exits 1 "$tamis" adapt --delim , --field 2 one.tamis csv.gz
says "csv.gz line 200002"
printf 'hay\0needle\0' | exits 1 "$tamis" adapt -z one.tamis
says "standard input line 2"
exits 0 "$tamis" build -k "$kind" --hash raw -n 100 -o raw.tamis <<<0x10
exits 1 "$tamis" adapt raw.tamis <<<16
exits 2 "$tamis" adapt raw.tamis <<<sixteen
says "line 1"

section 'Room'

for kind in "${adaptive[@]}"; do
    exits 0 "$tamis" build -k "$kind" -n 5000 -p 0.05 -o f.tamis keys
    code=0
    "$tamis" adapt f.tamis strangers >out 2>err || code=$?
    if [ "$code" -ne 0 ]; then
        check "$kind: full is a limit" test "$code" -eq 5
        check "$kind: one line" has_lines err 1
        check "$kind: and a remedy" has_line err 'no room to take back [0-9]* of [0-9]* false positives; .*--forget'
        check "$kind: what had room is saved" test "$(found f.tamis strangers)" -lt 2000
    fi
    all_found f.tamis
    exits 0 "$tamis" verify f.tamis
    if can "$kind" grow; then
        exits 0 "$tamis" build -k "$kind" -n 5000 -p 0.05 --grow -o f.tamis keys
        exits 0 "$tamis" adapt f.tamis strangers
        prints " 0 without room"
        all_found f.tamis
    fi
done

section 'Whole files, one writer at a time'

kind=${adaptive[0]}
exits 0 "$tamis" build -k "$kind" -p 0.02 -n 6000 -o f.tamis keys
cp f.tamis before.tamis
exits 3 "$tamis" adapt f.tamis strangers missing
same f.tamis before.tamis
exits 3 "$tamis" adapt missing.tamis strangers
exits 2 "$tamis" adapt
exits 0 "$tamis" info --set-note 'names' f.tamis
for part in 0 1 2 3; do
    awk -v part=$part 'NR % 4 == part' strangers | "$tamis" adapt --quiet f.tamis &
done
wait
exits 0 "$tamis" verify f.tamis
all_found f.tamis
check "no report is lost" test "$(found f.tamis strangers)" -lt $(("$(found before.tamis strangers)" / 2))
exits 0 "$tamis" info f.tamis
prints "note      names"

section 'Kinds that do not adapt'

for kind in bloom cqf fuse; do
    exits 0 "$tamis" build -k "$kind" -o other.tamis keys
    cp other.tamis before.tamis
    exits 2 "$tamis" adapt other.tamis strangers
    says "$kind filters cannot adapt; these kinds can: "
    says "${adaptive[0]}"
    exits 2 "$tamis" adapt --forget other.tamis
    same other.tamis before.tamis
    exits 0 "$tamis" info other.tamis
    check_not "$kind: no adaptations" has_line "$said/out" '^(adapted|queried)'
done

section 'Strangers that are known beforehand'

words=/usr/share/dict/american-english
grep '^[a-m]' $words >yes
grep '^[n-z]' $words >no
[ -z "${TAMIS_SANITIZED:-}" ] || { head -n 5000 yes >few && mv few yes; head -n 5000 no >few && mv few no; }
head -n 3 yes >both
for kind in "${adaptive[@]}"; do
    for options in '-p 0.01' '-p 0.1' "-n $(wc -l <yes)" '--memory 32M'; do
        # shellcheck disable=SC2086
        exits 0 "$tamis" build -k "$kind" $options --universe no -o list.tamis yes
        is_silent
        exits 1 "$tamis" query list.tamis no
        exits 0 "$tamis" query list.tamis yes
        same "$said/out" yes
        exits 0 "$tamis" verify list.tamis
    done
    exits 0 "$tamis" build -k "$kind" --universe <(cat no both no) -o twice.tamis yes
    exits 1 "$tamis" query twice.tamis no
    exits 0 "$tamis" query twice.tamis yes
    same "$said/out" yes
    exits 0 "$tamis" build -k "$kind" --json --universe no -o list.tamis yes
    json_holds "$kind: both lists are read" \
        'it["keys_read"] == '$(cat yes no | wc -l) 'it["keys"] == '"$(wc -l <yes)"
    exits 0 "$tamis" build -k "$kind" --universe /dev/null -o none.tamis yes
    exits 0 "$tamis" build -k "$kind" -o plain.tamis yes
    same none.tamis plain.tamis
    exits 0 "$tamis" build -k "$kind" --universe no --allow-empty -o empty.tamis /dev/null
    exits 1 "$tamis" query empty.tamis no
    exits 3 "$tamis" build -k "$kind" --universe missing -o bad.tamis yes
    exits 0 "$tamis" plan -n 1000 --universe 1e6
    check "$kind: plans for a universe" has_line "$said/out" "^$kind "
done
exits 0 "$tamis" build --can adapt --universe no -o chosen.tamis yes
exits 1 "$tamis" query chosen.tamis no
exits 0 "$tamis" build --universe no -o cascade.tamis yes
exits 0 "$tamis" info cascade.tamis
prints "cascade"

section 'Keys elsewhere'

exits 2 "$tamis" build --can ask-keys -o bad.tamis keys
says "without --can ask-keys"
check_not "nothing is made" test -e bad.tamis
exits 0 "$tamis" plan -n 1000 --can ask-keys
