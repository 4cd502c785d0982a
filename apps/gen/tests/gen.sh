#!/usr/bin/env bash
# tamis gen: keys that are distinct, plausible and the same everywhere.
. "$(dirname "$0")/../../../tests/cli/check.sh"

n=50000

# The first keys of each form are frozen: big runs are to be repeated elsewhere.
exits 0 "$tamis" gen --emails 3
is_silent
prints_exactly 'henry.morgan249536@www.example.net
andrea.gomez130889@delta.example.org
mateo.gomez101913@news.example\n'
exits 0 "$tamis" gen --urls 2
prints_exactly 'https://village.example.org/gallery/winter-air-7799
https://books.example.com/p/clay-copper-4091\n'
exits 0 "$tamis" gen --u64 2
prints_exactly '5197578548964807871\n16899028431761561291\n'
exits 0 "$tamis" gen --u64 1 --seed 0xff
prints_exactly "$("$tamis" gen --u64 1 --seed 255)\n"

section 'Distinct'

distinct()
{
    LC_ALL=C sort -u "$@" | wc -l
}

for form in emails urls u64; do
    exits 0 "$tamis" gen --$form $n
    is_silent
    cp "$said/out" "$form"
    check "$form: $n lines" test "$(wc -l <$form)" = $n
    check "$form: all distinct" test "$(distinct $form)" = $n

    exits 0 "$tamis" gen --$form $n --first $n
    cp "$said/out" strangers
    check "$form: ranges are disjoint" test "$(distinct $form strangers)" = $((2 * n))
    exits 0 "$tamis" gen --$form 1000 --first 1234
    tail -n +1235 $form | head -1000 >slice
    same "$said/out" slice

    exits 0 "$tamis" gen --$form $n --seed 7
    differ "$said/out" $form
    check "$form: all distinct with a seed" test "$(distinct "$said/out")" = $n
    check "$form: a seed gives other keys" test "$(distinct $form "$said/out")" -gt $((2 * n - 100))

    exits 0 "$tamis" gen --$form 1000 -z
    tr '\0' '\n' <"$said/out" >lines
    head -1000 $form >slice
    same lines slice
    exits 0 "$tamis" gen --$form 0
    prints_nothing
done

section 'Plausible'

check_not "addresses have the form of addresses" \
    grep -qvE '^[a-z]{2,12}\.[a-z]{2,12}[0-9]{0,6}@[a-z]{2,12}\.example(\.com|\.net|\.org)?$' emails
check_not "links have the form of links" \
    grep -qvE '^https://[a-z]{2,12}\.example(\.com|\.net|\.org)?/[a-z]+/[a-z]+-[a-z]+-[1-9][0-9]*$' urls
check_not "integers have no leading zeros" grep -qvE '^(0|[1-9][0-9]{0,19})$' u64

# pieces FILE SED: how many distinct ones there are. All words must come up, none twice in a table.
pieces()
{
    sed -E "$2" "$1" | LC_ALL=C sort -u | wc -l
}
check "given names" test "$(pieces emails 's/\..*//')" = 128
check "family names" test "$(pieces emails 's/^[a-z]*\.([a-z]*).*/\1/')" = 128
check "domains" test "$(pieces emails 's/.*@//')" = 256
check "sections" test "$(pieces urls 's,https://[^/]*/([a-z]*)/.*,\1,')" = 32
check "first words" test "$(pieces urls 's,.*/([a-z]*)-.*,\1,')" = 128
check "second words" test "$(pieces urls 's,.*-([a-z]*)-.*,\1,')" = 128

section 'Used'

exits 0 "$tamis" build -k bloom -p 0.01 -o f.tamis emails
exits 0 "$tamis" query -c f.tamis emails
prints_exactly "$n\n"
"$tamis" gen --emails $n --first $n | "$tamis" query -c f.tamis >"$said/out"
# Seven standard deviations to each side.
check "strangers pass at the planned rate" awk -v n=$n '{ exit !($1 > n * 0.00688 && $1 < n * 0.01312) }' "$said/out"
exits 0 "$tamis" build -k bloom --hash raw -o f.tamis u64
exits 0 "$tamis" query -c f.tamis u64
prints_exactly "$n\n"

section 'Refused'

exits 2 "$tamis" gen
says "--emails N"
exits 2 "$tamis" gen --emails 1 --urls 1
exits 2 "$tamis" gen --emails many
says "'many'"
exits 2 "$tamis" gen --emails 1 surplus
exits 2 "$tamis" gen --emails 1 --seed x
exits 2 "$tamis" gen --emails -1
exits 2 "$tamis" gen --emails 1099511627777
exits 5 "$tamis" gen --emails 2 --first 1099511627775
exits 0 "$tamis" gen --emails 1 --first 1099511627775
exits 5 "$tamis" gen --u64 2 --first 18446744073709551614
exits 0 "$tamis" gen --u64 1 --first 18446744073709551614

section 'Packets'

exits 2 "$tamis" gen --packets 10 --first 3
exits 2 "$tamis" gen --packets 10 -z
exits 2 "$tamis" gen --packets 10 --urls 10
exits 2 "$tamis" gen --urls 10 --flows 3
exits 2 "$tamis" gen --packets 10 --flows 0
check "the same on every machine" test "$("$tamis" gen --packets 10000 --seed 1 | cksum)" = "153623459 1101566"
exits 0 "$tamis" gen --packets 300 --seed 3
differ "$said/out" <("$tamis" gen --packets 300 --seed 4)

section 'Streams'

exits 0 bash -c '"$1" gen --urls 1e12 2>err | head -2' - "$tamis"
check "two lines" has_lines "$said/out" 2
check_not "a reader that leaves early is no news" test -s err
exits 3 bash -c '"$1" gen --u64 10 >/dev/full' - "$tamis"
says "standard output"
exits 3 bash -c '"$1" gen --u64 10 >&-' - "$tamis"
