#!/usr/bin/env bash
# Kinds of fingerprints: list, count, dot, resize, merge of many, --load and --grow.
. "$(dirname "$0")/check.sh"

# Key i comes i % 4 times.
awk 'BEGIN { for (i = 1; i <= 3000; i++) for (j = 0; j < i % 4; j++) print i }' | shuf --random-source=/dev/zero >stream
awk 'BEGIN { for (i = 1; i <= 3000; i++) print i % 4 "\t" i }' >truth
seq 3000 >keys
seq 100001 101000 >strangers

sum_of()
{
    awk -F '\t' '{ sum += $2 } END { print sum }' "$1"
}

for kind in $(kinds_that resize); do
    section 'Count and list'

    exits 0 "$tamis" build -k "$kind" -p 1e-9 -o f.tamis stream
    is_silent
    exits 0 "$tamis" count f.tamis keys
    same "$said/out" truth
    exits 1 "$tamis" count f.tamis strangers
    check "$kind: strangers count 0" test "$(cut -f 1 "$said/out" | sort -u)" = 0
    exits 0 "$tamis" list f.tamis
    says "these are fingerprints"
    cp "$said/out" listed
    check "$kind: the list is in order" sort -n -c -u -k 1,1 listed
    check "$kind: it has each key once" has_lines listed 2250
    check "$kind: it sums to what was added" test "$(sum_of listed)" = 4500
    exits 0 "$tamis" info f.tamis
    prints "holds     4500 keys"
    prints "% of the slots"
    exits 0 "$tamis" info --json f.tamis
    json_is "$kind: no warning" 'it[0]["warnings"]' '[]'
    exits 0 "$tamis" remove f.tamis stream
    is_silent
    exits 1 "$tamis" list f.tamis
    prints_nothing
    exits 1 "$tamis" remove f.tamis keys
    says "3000 of 3000 keys were not in it"

    section 'Resize'

    exits 0 "$tamis" build -k "$kind" -n 5000 -p 1e-9 -o f.tamis stream
    cp f.tamis before.tamis
    exits 0 "$tamis" list f.tamis
    cp "$said/out" listed
    exits 0 "$tamis" resize --keys 20000 -o other.tamis f.tamis
    same f.tamis before.tamis
    exits 0 "$tamis" resize --keys 20000 f.tamis
    same f.tamis other.tamis
    is_silent
    prints_nothing
    exits 0 "$tamis" verify f.tamis
    exits 0 "$tamis" list f.tamis
    same "$said/out" listed
    check "$kind: it is larger" test "$(stat -c %s f.tamis)" -gt "$(stat -c %s before.tamis)"
    cp f.tamis larger.tamis
    exits 0 "$tamis" resize -n 5000 f.tamis
    same f.tamis before.tamis
    exits 5 "$tamis" resize -n 100 f.tamis
    says "f.tamis: it holds more than 100 keys"
    exits 5 "$tamis" resize -n 1e15 f.tamis
    says "no bits left"
    same f.tamis before.tamis

    section 'Dot'

    exits 0 "$tamis" dot f.tamis f.tamis
    prints_exactly '10500\n'
    exits 0 "$tamis" dot f.tamis larger.tamis
    prints_exactly '10500\n'
    exits 0 "$tamis" build -k "$kind" -n 5000 -p 1e-9 -o g.tamis strangers
    exits 1 "$tamis" dot f.tamis g.tamis
    prints_exactly '0\n'
    exits 0 "$tamis" build -k "$kind" -n 5000 -p 1e-9 --seed 1 -o g.tamis strangers
    exits 2 "$tamis" dot f.tamis g.tamis
    says "f.tamis and g.tamis differ in seed"
    exits 2 "$tamis" merge -o out.tamis larger.tamis f.tamis g.tamis
    says "larger.tamis and g.tamis differ in seed"

    section 'Merge of many, of several sizes'

    rm -f part*.tamis
    split -n l/20 stream part.
    for part in part.??; do
        "$tamis" build -k "$kind" -n 400 -p 1e-6 -o "$part.tamis" "$part"
    done
    exits 0 "$tamis" resize -n 1000 part.ac.tamis
    exits 0 "$tamis" merge -o out.tamis part.??.tamis
    is_silent
    exits 0 "$tamis" verify out.tamis
    exits 0 "$tamis" count out.tamis keys
    same "$said/out" truth
    exits 0 "$tamis" merge -o part.aa.tamis part.aa.tamis out.tamis
    exits 0 "$tamis" info --json part.aa.tamis
    check "$kind: counts add up" test "$(json 'it[0]["keys"]')" = $((4500 + $(wc -l <part.aa)))
    cp part.ad.tamis bad.tamis
    printf x | dd of=bad.tamis bs=1 seek=300 conv=notrunc 2>/dev/null
    exits 4 "$tamis" merge -o none.tamis part.ab.tamis bad.tamis part.ac.tamis
    says bad.tamis
    exits 4 "$tamis" list bad.tamis
    exits 4 "$tamis" dot part.ab.tamis bad.tamis
    says bad.tamis
    check_not "nothing was saved" test -e none.tamis
    rm -f part.*

    section '--load and --grow'

    for load in 0.5 0.75 0.9; do
        exits 0 "$tamis" build -k "$kind" -n 3000 --load "$load" -o f.tamis keys
        exits 0 "$tamis" info --json f.tamis
        check "$kind: load $load" \
            test "$(json "0.9 * $load < it[0]['fill'] <= $load")" = True
    done
    exits 5 "$tamis" build -k "$kind" -n 100 -p 1e-9 -o f.tamis stream
    exits 0 "$tamis" build -k "$kind" -n 100 -p 1e-9 --grow -o f.tamis stream
    is_silent
    exits 0 "$tamis" count f.tamis keys
    same "$said/out" truth
    exits 0 "$tamis" add f.tamis strangers
    exits 0 "$tamis" query -c f.tamis strangers
    prints_exactly '1000\n'
    exits 0 "$tamis" plan -n 1000 --load 0.9
    prints "$kind"
    exits 0 "$tamis" plan -n 1000 --grow
    prints "$kind"
done

promise 'Exact sets list their keys'
for kind in $(kinds_that exact); do
    can "$kind" list || continue
    exits 0 "$tamis" build -k "$kind" --hash raw -o f.tamis keys
    exits 0 "$tamis" list f.tamis
    sort -n "$said/out" >listed
    same listed keys
done

exits 0 "$tamis" build -k bloom -n 3000 -o bloom.tamis keys
exits 2 "$tamis" list bloom.tamis
says "bloom filters cannot list; these kinds can:"
exits 2 "$tamis" resize -n 100 bloom.tamis
says "cannot resize"
exits 2 "$tamis" dot bloom.tamis bloom.tamis
says "cannot dot"
exits 2 "$tamis" build -k bloom --load 0.9 -o out.tamis keys
says "--load"
exits 2 "$tamis" build -k bloom --grow -o out.tamis keys
exits 2 "$tamis" build --load 1.5 -o out.tamis keys
says "--load '1.5' is not a share"
exits 2 "$tamis" build --load nan -o out.tamis keys
exits 2 "$tamis" resize bloom.tamis
says "give --keys N"
exits 2 "$tamis" list
exits 2 "$tamis" list bloom.tamis bloom.tamis
exits 2 "$tamis" dot bloom.tamis
exits 3 "$tamis" list missing.tamis
exits 3 "$tamis" dot bloom.tamis missing.tamis
exits 3 "$tamis" resize -n 10 missing.tamis
exits 4 "$tamis" list keys
exits 4 "$tamis" resize -n 10 keys

section 'Counts at their ceiling, and how often there are which'

yes often | head -n 20 >often
echo once >>often
exits 0 "$tamis" build -k counting -o counting.tamis often
exits 0 "$tamis" count counting.tamis <<<often
prints_exactly '15+\toften\n'
exits 0 "$tamis" count counting.tamis <<<once
prints_exactly '1\tonce\n'
exits 0 "$tamis" count --json counting.tamis <<<often
json_holds "JSON tells, too" 'it == [{"line": "often", "count": 15, "at_ceiling": True}]'
exits 0 "$tamis" build -k cqf -o cqf.tamis often
exits 0 "$tamis" count cqf.tamis <<<often
prints_exactly '20\toften\n'

exits 0 "$tamis" hist cqf.tamis
prints_exactly '1\t1\n20\t1\n'
exits 0 "$tamis" hist --json cqf.tamis
prints_json
json_holds "the same" 'it == [{"count": 1, "keys": 1}, {"count": 20, "keys": 1}]'
seq 70000 | sed 's/.*/often/' >many
cat many many often | "$tamis" build -k cqf -o cqf.tamis
exits 0 "$tamis" hist - <cqf.tamis
prints_exactly '1\t1\n140020\t1\n'
exits 2 "$tamis" hist counting.tamis
says "cannot list"
"$tamis" build --allow-empty -k cqf -n 10 -o empty.tamis </dev/null
exits 1 "$tamis" hist empty.tamis
prints_nothing

"$tamis" build --allow-empty -k cqf -n 10 -o full.tamis </dev/null
exits 5 "$tamis" add full.tamis <<<"$(seq 10000)"
says "keys and counts of repeated ones share 10 slots; make room with 'tamis resize -n 20'"

promise 'Counts that take slots are told of as such, and there is a way out'
{ seq 2000; seq 2000; seq 500; } >repeated
for kind in quotient cqf aqf; do
    exits 5 "$tamis" build -k "$kind" -n 2000 -o slots.tamis repeated
    says "the filter is full: keys and counts of repeated ones share 2000 slots; build it without -n,"
    is_one_message
    exits 0 "$tamis" build -k "$kind" -o slots.tamis repeated
    exits 0 "$tamis" info slots.tamis
    prints " slots for keys and counts, false positive rate "
    prints "holds     4500 keys in "
    exits 0 "$tamis" info --json slots.tamis
    json_holds "slots" 'abs(it[0]["distinct"] - 2000) < 100' \
        '2000 < it[0]["slots_used"] <= it[0]["plan"]["shape"]["slots"]'
done
exits 0 "$tamis" build -k counting -o slots.tamis repeated
exits 0 "$tamis" info slots.tamis
prints "planned   2000 distinct keys, "
check "their number alone" has_line "$said/out" '^holds     4500 keys$'
prints ", estimated, "

promise 'A filter that was asked to grow, and is full, is not said to grow'
seq 100000 | exits 5 "$tamis" build -k morton -n 1000 --grow -o grown.tamis
says "how far morton filters grow depends on the -n they begin with; build it with a larger one"
seq 100000 | exits 5 "$tamis" build -k hashset -n 1000 -o fixed.tamis
says "the filter is full: 1000 keys were planned; build it with a larger -n"
check_not "it cannot grow" grep -q grow "$said/err"

section 'What list prints'

promise 'Integers come back as they were given; what does not is named'
for kind in bitmap hashset; do
    printf '%s\n' 7 3 4000 3 | "$tamis" build -k "$kind" --hash raw -n 5000 -o exact.tamis
    exits 0 "$tamis" list exact.tamis
    is_silent
    check "$kind: the keys come back" diff <(sort -n "$said/out") <(printf '%s\n' 3 7 4000)
done
exits 0 "$tamis" build -k hashset -o exact.tamis keys
exits 0 "$tamis" list exact.tamis
says "these are hashes of lines"
exits 0 "$tamis" build -k cqf -o f.tamis keys
exits 0 "$tamis" list f.tamis
says "these are fingerprints: cqf filters do not keep keys"
