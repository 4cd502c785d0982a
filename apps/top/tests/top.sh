#!/usr/bin/env bash
# The most frequent lines: bounds that hold, on streams of every shape.
. "$(dirname "$0")/../../../tests/cli/check.sh"

# What top should print of few different lines.
truth()
{
    LC_ALL=C sort "$1" | uniq -c | LC_ALL=C sort -k 1,1nr -k 2 | head -n "$2" |
        sed 's/^ *\([0-9]*\) \(.*\)/\1\t\1\t\2/'
}

section 'Few different lines: exact'

awk 'BEGIN { for (i = 1; i <= 40; i++) for (j = 0; j < 3 * i; j++) print "line " i }' >few
for k in 1 5 20 39 40; do
    exits 0 "$tamis" top -n $k few
    is_silent
    truth few $k | cmp -s - "$said/out" || failed "top -n $k is not what sort and uniq say"
done
exits 0 "$tamis" top few
check "there are 20 unless asked" has_lines "$said/out" 20
exits 0 "$tamis" top -n 1000000 few
check "more than there are" has_lines "$said/out" 40
cp "$said/out" whole
exits 0 "$tamis" top -n 1000 - <few
same "$said/out" whole
exits 0 "$tamis" top -n 1000 --hash keyed few
same "$said/out" whole
cat few | exits 0 "$tamis" top -n 1000
same "$said/out" whole
awk 'NR % 2' few >odd
awk '!(NR % 2)' few >even
exits 0 "$tamis" top -n 1000 odd even
same "$said/out" whole

section 'Ties stand as bytes do'

seq 100 | shuf --random-source=/dev/zero >same
exits 0 "$tamis" top -n 5 same
printf '1\t1\t%s\n' 1 10 100 11 12 >expected
same "$said/out" expected

section 'Nothing, next to nothing, and odd lines'

: >empty
exits 1 "$tamis" top empty
prints_nothing
is_silent
exits 1 "$tamis" top --json empty
json_is "no line in JSON" '[it["lines"], it["others_at_most"], it["top"]]' '[0, 0, []]'
printf 'one' >unended
exits 0 "$tamis" top unended
printf '1\t1\tone\n' >expected
same "$said/out" expected
printf '\n\n\n' | exits 0 "$tamis" top
printf '3\t3\t\n' >expected
same "$said/out" expected
printf 'a\0b\na\0c\na\0b\n' >nuls
exits 0 "$tamis" top nuls
printf '2\t2\ta\0b\n1\t1\ta\0c\n' >expected
same "$said/out" expected
exits 0 "$tamis" top --json nuls
json_holds "NULs in JSON" 'it["top"][0]["line"] == "a\x00b"'
exits 0 "$tamis" top -z nuls
printf '1\t1\ta\0001\t1\tb\n\0001\t1\tb\na\0001\t1\tc\na\000' >expected
same "$said/out" expected
printf 'caf\351\r\n' | exits 0 "$tamis" top --json
json_is "bytes that are no text" 'it["top"][0]["line"]' "$(printf 'caf\357\277\275\r')"
printf 'x\ta\ny\ta\nz\tb\nnone\n' >columns
exits 0 "$tamis" top --field 2 columns
printf '2\t2\ta\n1\t1\tb\n' >expected
same "$said/out" expected
says "1 of 4 lines have no field 2"
printf '%s\n' 7 0x7 8 | exits 0 "$tamis" top --hash raw -n 1
printf '2\t2\t7\n' >expected
same "$said/out" expected
printf '%s\n' 7 seven | exits 2 "$tamis" top --hash raw

section 'Lines of any length: what is kept of them has an end'

head -c 3000000 /dev/zero | tr '\0' x >long
{ cat long; echo; cat long; echo; cat long; echo y; echo short; } >longer
exits 0 "$tamis" top longer
says "2 lines are longer than 4096 bytes"
check "they are told apart, and cut" test "$(awk -F '\t' '{ print $1, length($3) }' "$said/out" | xargs)" = "2 4096 1 5 1 4096"

section 'Many different lines: bounds hold'

awk 'BEGIN {
    srand(7)
    for (i = 0; i < 200000; i++) print int(exp(rand() * log(50000)))
}' >many
LC_ALL=C sort many | uniq -c | awk '{ print $2 "\t" $1 }' >counts
bounds_hold()
{
    awk -F '\t' 'NR == FNR { count[$1] = $2; next }
        $1 < count[$3] || $2 > count[$3] || $2 < 1 || $1 > last { exit 1 }
        { last = $1 }
        BEGIN { last = 1e18 }' counts "$said/out"
}
for options in "" "--error 0.1" "--error 0.001 -j 1" "-n 3000 --error 0.5" "--memory 64M"; do
    # shellcheck disable=SC2086
    exits 0 "$tamis" top $options many
    check "bounds hold with: $options" bounds_hold
done
exits 0 "$tamis" top -n 10 many
is_silent
sort -t "$(printf '\t')" -k 2,2nr counts | head -10 | cut -f 2 >expected
cut -f 1 "$said/out" | same /dev/stdin expected
exits 0 "$tamis" top --json -n 10 many
json_is "all lines are counted" 'it["lines"]' 200000
json_holds "and most are others" '0 < it["others_at_most"] <= it["top"][9]["at_least"]'

promise 'All lines as frequent as each other: nothing is certain, and it says so'
seq 100000 >flat
exits 0 "$tamis" top --error 0.01 flat
says "may be missing"
check "bounds of a flat stream" awk -F '\t' '$2 > 1 || $1 < 1 { exit 1 }' "$said/out"

promise 'A candidate that goes and comes back is not counted from the start'
# With -n 1 there are 1004.
awk 'BEGIN {
    for (j = 0; j < 5; j++) print "back"
    for (i = 0; i < 1003; i++) for (j = 0; j < 10; j++) print i
    for (j = 0; j < 1000; j++) print "new"
    for (j = 0; j < 1001; j++) print "back"
}' >back
exits 0 "$tamis" top -n 1 back
check "its first copies count" awk -F '\t' '$3 != "back" || $1 < 1006 || $2 > 1006 { exit 1 }' "$said/out"

promise 'Threads do not matter'
for threads in 1 2 7; do
    exits 0 "$tamis" top -n 100 --error 0.01 -j $threads many many many flat
    [ $threads = 1 ] && cp "$said/out" alone
    same "$said/out" alone
done

section 'Memory has an end'

memory_of()
{
    command time -f %M -o "$said/kib" "$@" >/dev/null 2>&1
    cat "$said/kib"
}
if command -v time >/dev/null && [ -z "${TAMIS_SANITIZED:-}" ]; then # which take memory themselves
    check "4 million different lines take no memory" test "$(seq 4000000 | memory_of "$tamis" top --memory 64M -j 2)" -lt 65536
fi

section 'What is refused'

exits 2 "$tamis" top -n 0 few
exits 2 "$tamis" top -n x few
exits 2 "$tamis" top --error 2 few
says "a share from 1e-12 to 0.5"
exits 2 "$tamis" top --error nan few
exits 6 "$tamis" top --memory 1M few
says "give "
exits 5 "$tamis" top --error 1e-12 --memory 64M few
exits 3 "$tamis" top absent
exits 3 "$tamis" top .
exits 3 bash -c "'$tamis' top few >/dev/full"

promise 'A reader that leaves ends it'
exits 141 bash -c "trap - PIPE; '$tamis' top -n 3000 many | true; exit \${PIPESTATUS[0]}" || true

section 'Fields'

printf '1\t2\t3\n1\t9\t3\n2\t2\t3\n' >table
exits 0 "$tamis" top --field 3,1 -n 1 table
prints_exactly '2\t2\t3\t1\n'
printf 'id\temail\n1\ta@x\n2\tb@x\n3\ta@x\n' >people
exits 0 "$tamis" top -f email -n 1 people
prints_exactly '2\t2\ta@x\n'
exits 2 "$tamis" top -f emial people
says "people: no column of its first line is called 'emial'"
exits 2 "$tamis" top -f email people table
says "table: its first line has other columns"
exits 1 "$tamis" top -f email /dev/null
printf '1,"two\nlines"\n2,plain\n3,"two\nlines"\n' >input
exits 0 "$tamis" top --csv --field 2 -n 1 input
prints_exactly '2\t2\ttwo\nlines\n'
printf 'red\r\ngreen\r\n' >dos
exits 0 "$tamis" top --crlf -n 1 dos
prints_exactly '1\t1\tgreen\n'

section 'Sketches in files'

exits 0 "$tamis" build -k countmin --error 0.001 -o a.tamis many
is_silent
exits 0 "$tamis" info a.tamis
prints "error     0.0009994 of all adds: counts are up to 199 too high"
cut -f 1 counts >lines
exits 0 "$tamis" count a.tamis lines
check "no count is too low" awk -F '\t' 'NR == FNR { count[$1] = $2; next } $1 < count[$2] { exit 1 }' counts "$said/out"
exits 2 "$tamis" dot a.tamis a.tamis
says "build it with --can dot"
exits 0 "$tamis" build -k countmin --error 0.001 --can dot -o b.tamis many
exits 0 "$tamis" dot b.tamis b.tamis
check "the product is not too low" awk -F '\t' -v "got=$(cat "$said/out")" '{ sum += $2 * $2 } END { exit got < sum || got > 1.5 * sum }' counts
exits 2 "$tamis" merge -o c.tamis a.tamis b.tamis
exits 0 "$tamis" merge -o c.tamis b.tamis b.tamis
exits 0 "$tamis" verify c.tamis
exits 2 "$tamis" build -k bloom --error 0.001 -o d.tamis many
exits 0 "$tamis" plan --error 0.001
prints countmin
exits 0 "$tamis" kinds
prints countmin
