#!/usr/bin/env bash
# tamis query and count: what grep would do.
. "$(dirname "$0")/check.sh"

seq 1 2 99999 >odd
seq 1 100000 >all
seq 2 2 100000 >even

all_threads='1 4'
[ -z "${TAMIS_SANITIZED:-}" ] || all_threads=4

# Rates so low that no line passes by mistake, for the kinds that can have them.
"$tamis" plan --keys 100000 --fpr 1e-9 --max-bytes 1G --hash raw | awk 'NR > 1 { print $1 }' >sharp
promise 'Lines in a filter are printed, or the others, or their number'
for kind in $(kinds_that build | grep -xf sharp); do
    exits 0 "$tamis" build -k "$kind" -p 1e-9 -o "$kind.tamis" odd
    file=$kind.tamis
    for threads in $all_threads; do
        for map in '' --map; do
            # shellcheck disable=SC2086
            set -- -j "$threads" $map "$file"
            exits 0 "$tamis" query "$@" all
            same "$said/out" odd
            is_silent
            exits 0 "$tamis" query -v "$@" all
            same "$said/out" even
            exits 0 "$tamis" query -c "$@" all
            prints_exactly '50000\n'
            exits 0 "$tamis" query -cv "$@" all odd
            prints_exactly '50000\n'
            exits 0 "$tamis" query -q "$@" all
            prints_nothing
            exits 1 "$tamis" query "$@" even
            prints_nothing
            exits 1 "$tamis" query -c "$@" even
            prints_exactly '0\n'
            exits 1 "$tamis" query -q "$@" even
            exits 1 "$tamis" query -v "$@" odd
            exits 1 "$tamis" query -vq "$@" odd
            exits 1 "$tamis" query "$@" /dev/null
            exits 1 "$tamis" query -v "$@" /dev/null
        done
        exits 0 "$tamis" count -j "$threads" "$file" all
        awk '{ print $1 % 2 "\t" $1 }' all >wanted
        same "$said/out" wanted
        exits 1 "$tamis" count -j "$threads" "$file" even
        awk '{ print "0\t" $1 }' even >wanted
        same "$said/out" wanted
    done
done

promise 'Inputs come in any order and way, options too'
file=bloom.tamis
exits 0 "$tamis" query "$file" <all
same "$said/out" odd
exits 0 "$tamis" query "$file" - <all
same "$said/out" odd
exits 0 "$tamis" query "$file" even - odd <odd
cat odd odd >wanted
same "$said/out" wanted
exits 0 "$tamis" query "$file" all -v
same "$said/out" even
exits 0 "$tamis" query --invert-match --count "$file" all
prints_exactly '50000\n'
exits 0 "$tamis" query --quiet --count "$file" all
prints_nothing
exits 0 "$tamis" query -- "$file" all
same "$said/out" odd

promise 'Answers come as soon as there are some, and -q does not wait for the rest'
mkfifo pipe
for threads in 1 4; do
    rm -f answers # those of the round before
    "$tamis" query -j "$threads" "$file" <pipe >answers &
    pid=$!
    exec 9>pipe
    echo 7 >&9
    wait_for_text answers
    check "an answer before the input ends" has_line answers '^7$'
    exec 9>&-
    check "it ends with its input" wait "$pid"

    (timeout 60 "$tamis" query -q -j "$threads" "$file" <pipe; echo $? >status) &
    pid=$!
    exec 9>pipe
    echo 7 >&9
    wait "$pid"
    check "-q ends at the first match" test "$(cat status)" = 0
    exec 9>&-
done

promise 'Inputs that fail: what came before them is answered'
exits 3 "$tamis" query "$file" odd missing
says "missing: No such file"
same "$said/out" odd
exits 3 "$tamis" query -j 4 "$file" odd missing even
exits 3 "$tamis" query "$file" .
says "Is a directory"
exits 3 "$tamis" query missing.tamis odd
says "missing.tamis"

section 'As in grep'

printf '%s\n' red Green blue RED grey red >colours
printf '%s\n' red green blue | "$tamis" build -p 1e-9 -o few.tamis 2>/dev/null
exits 0 "$tamis" query -n few.tamis colours
prints_exactly '1:red\n3:blue\n6:red\n'
exits 0 "$tamis" query -nv few.tamis colours colours
prints_exactly '2:Green\n4:RED\n5:grey\n2:Green\n4:RED\n5:grey\n'
exits 0 "$tamis" query -i few.tamis colours
prints_exactly 'red\nGreen\nblue\nRED\nred\n'
exits 0 "$tamis" query -vi few.tamis colours
prints_exactly 'grey\n'
printf '%s\n' RED GREEN | "$tamis" build -p 1e-9 -o upper.tamis 2>/dev/null
exits 0 "$tamis" query -i upper.tamis colours
prints_exactly 'red\nGreen\nRED\nred\n'
awk '{ print "X\t" $1 }' colours >columns
exits 0 "$tamis" query -ci --field 2 few.tamis columns
prints_exactly '5\n'
exits 0 "$tamis" query -m 2 few.tamis colours colours
prints_exactly 'red\nblue\nred\nblue\n'
exits 0 "$tamis" query -c -m 2 few.tamis colours colours
prints_exactly '4\n'
exits 0 "$tamis" query -n -m 1 few.tamis <colours
prints_exactly '1:red\n'
exits 0 timeout 20 bash -c "yes red | '$tamis' query -m 3 few.tamis"
prints_exactly 'red\nred\nred\n'
exits 2 "$tamis" query -m 0 few.tamis colours
echo none >none
exits 0 "$tamis" query -l few.tamis none colours none - <colours
prints_exactly 'colours\nstandard input\n'
exits 1 "$tamis" query -l few.tamis none
prints_nothing

exits 0 "$tamis" query -e red -e grey -e blue few.tamis </dev/full
prints_exactly 'red\nblue\n'
exits 1 "$tamis" query -e grey few.tamis
prints_nothing
exits 0 "$tamis" query -ne grey -e red few.tamis colours
prints_exactly '2:red\n1:red\n3:blue\n6:red\n'
exits 0 "$tamis" query -qe red few.tamis
exits 0 "$tamis" query -ie RED few.tamis
prints_exactly 'RED\n'
exits 0 "$tamis" query -e red --field 7 few.tamis
exits 1 "$tamis" query -e '' few.tamis
exits 2 "$tamis" query -e "$(printf 'a\nb')" few.tamis
says "--null"
exits 0 "$tamis" query -z -e red few.tamis
prints_exactly 'red\0'
exits 0 "$tamis" build -k hashset --hash raw -o raw.tamis odd
exits 0 "$tamis" query -e 7 -e 8 raw.tamis
prints_exactly '7\n'
exits 2 "$tamis" query -e seven raw.tamis
says "not an integer"

exits 0 "$tamis" query --json few.tamis colours
prints_json
json_holds "lines and selected ones" 'it["lines"] == 6 and it["selected"] == 3'
exits 0 "$tamis" count --json few.tamis colours
prints_json
json_holds "a line each" '[(x["line"], x["count"]) for x in it][:2] == [("red", 1), ("Green", 0)]' \
    'len(it) == 6'

section 'Mistakes'

# 600 of a million lines are in a list of 20,000.
"$tamis" gen --emails 20000 >block
"$tamis" gen --emails 1000000 --first 19400 >log
tail -n 600 block >right
"$tamis" build -k bloom -o block.tamis block

promise 'If many of the lines found are wrong, a message says how many, and what helps'
exits 0 "$tamis" query block.tamis log
cp "$said/out" passed
says "lines found to be wrong, at a rate of"
says "; --check-in KEYS leaves them out; or build it with -p 1e-05, in "
is_one_message
exits 0 "$tamis" query -c block.tamis log
prints_exactly "$(wc -l <passed)\\n"
says "; --check-in KEYS leaves them out"
exits 0 "$tamis" query -m 1000 block.tamis log
says "of the 1000 lines found"
exits 0 "$tamis" query --map block.tamis log
says "at a rate of 0.00997;"
exits 0 "$tamis" query -v block.tamis log
is_silent
exits 0 "$tamis" query -q block.tamis log
is_silent
head -n 500 log | exits 0 "$tamis" query block.tamis
is_silent
cat block log | exits 0 "$tamis" query -c block.tamis
says "lines found to be wrong"
cat block block block block block log | exits 0 "$tamis" query block.tamis
is_silent
cat block block block block block log | exits 0 "$tamis" query -c block.tamis
says "lines found to be wrong, at a rate of"
check_not "advice" grep -q check-in "$said/err"

promise 'The number is near the truth'
for options in '' -i; do
    # shellcheck disable=SC2086
    exits 0 "$tamis" query --json $options block.tamis log
    prints_json
    # Six times the standard deviation of so many, and two per cent for a rate that is estimated.
    json_holds "wrong lines" \
        '(lambda w: abs(it["expected_wrong"] - w) < 6 * w ** .5 + .02 * w)(it["selected"] - 600)'
done
exits 0 "$tamis" query --json -v block.tamis log
json_holds "missing lines" \
    '(lambda w: abs(it["expected_missing"] - w) < 6 * w ** .5 + .02 * w)(999400 - it["selected"])'
exits 0 "$tamis" query --json block.tamis block
json_holds "no key is wrong" 'it["selected"] == 20000' 'it["expected_wrong"] == 0'
"$tamis" build -k hashset -o exact.tamis block
exits 0 "$tamis" query --json exact.tamis log
json_holds "no line is wrong" 'it == {"lines": 1000000, "selected": 600, "expected_wrong": 0}'

promise 'With --check-in no line is wrong, in whatever way lines are selected'
for threads in 1 4; do
    exits 0 "$tamis" query -j "$threads" --check-in block block.tamis log
    same "$said/out" right
    is_silent
done
exits 0 "$tamis" query --check-in - block.tamis log <block
same "$said/out" right
exits 0 "$tamis" query --check-in <(gzip -c block) block.tamis <log
same "$said/out" right
exits 0 "$tamis" query --json --check-in block block.tamis log
json_holds "no line is wrong" 'it == {"lines": 1000000, "selected": 600, "expected_wrong": 0}'
exits 0 "$tamis" query -v --check-in block block.tamis passed
grep -vFxf block passed >wanted
same "$said/out" wanted
tr a-z A-Z <passed | exits 0 "$tamis" query -ci --check-in block block.tamis
prints_exactly '600\n'
is_silent
awk '{ print NR ",\"" $0 "\"" }' passed | exits 0 "$tamis" query --csv -f 2 -c --check-in block block.tamis
prints_exactly '600\n'
exits 0 "$tamis" query --check-in <(sed 's/$/\r/' block) --crlf -c block.tamis passed
prints_exactly '600\n'
exits 0 "$tamis" query --check-in <(tr '\n' '\0' <block) -zc block.tamis <(tr '\n' '\0' <passed)
prints_exactly '600\n'
wrong=$(grep -vFxf block passed | head -n 1)
exits 1 "$tamis" query --check-in block -e "$wrong" block.tamis
exits 0 "$tamis" query --check-in block -e "$(head -n 1 right)" block.tamis
seq 1000 | "$tamis" build -k bloom --hash raw -o numbers.tamis
exits 0 "$tamis" query --check-in <(seq 1000 | shuf --random-source=log) -c numbers.tamis <(printf '0x%x\n' {1..20000})
prints_exactly '1000\n'
exits 1 "$tamis" query --check-in /dev/null -c block.tamis log
prints_exactly '0\n'

promise 'A list that is not that of the filter is told of'
exits 0 "$tamis" query --check-in log -c block.tamis right
says "log: "
says " of 1000000 keys are not in the filter, which was made from another list; build it again"
exits 2 "$tamis" query --check-in - block.tamis
says "standard input cannot be both KEYS and an INPUT"
exits 3 "$tamis" query --check-in nowhere block.tamis log
says "cannot read nowhere"

section 'Through pipes'

exits 0 "$tamis" query <(cat few.tamis) colours
prints_exactly 'red\nblue\nred\n'
exits 0 "$tamis" query --map <(cat few.tamis) colours
exits 0 bash -c "cat few.tamis | '$tamis' query - colours"
prints_exactly 'red\nblue\nred\n'
exits 0 "$tamis" info - <few.tamis
prints "standard input"
exits 4 "$tamis" info - </dev/null
says "standard input: not a tamis filter"
exits 4 timeout 20 "$tamis" info <(yes)
exits 4 "$tamis" info <(head -c 300 few.tamis)
says "300 bytes, should be"
exits 4 "$tamis" info <(cat few.tamis odd)
says "it was added to"
exits 3 "$tamis" info "$work"
says "is a directory"
exits 3 "$tamis" verify "$work"
says "is a directory"
for kind in bloom fuse cqf; do
    "$tamis" build -k "$kind" -o "$kind.file" odd
    "$tamis" build -k "$kind" -o - odd >"$kind.pipe"
    same "$kind.file" "$kind.pipe"
done
