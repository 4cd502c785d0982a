#!/usr/bin/env bash
# tamis reconcile: what comm -3 tells of two sorted files, from two ends of a line.
. "$(dirname "$0")/../../../tests/cli/check.sh"
export LC_ALL=C

# expect A B: what should be printed, in `expected`.
expect()
{
    { comm -23 <(sort -u "$1") <(sort -u "$2") | sed 's/^/< /'
      comm -13 <(sort -u "$1") <(sort -u "$2") | sed 's/^/> /'; } | sort -k 1.3 >expected
}

# compare A B [OPTION]...: the other side serves B.
compare()
{
    local a=$1 b=$2

    shift 2
    expect "$a" "$b"
    exits "$([ -s expected ] && echo 1 || echo 0)" \
        "$tamis" reconcile "$@" --via "'$tamis' reconcile --serve $b" "$a"
    same "$said/out" expected
}

seq 1 1000 >a
seq 3 1002 >b
: >empty
: >nothing
compare a b
is_silent
compare a a
compare a empty
compare empty a
compare empty nothing
seq 2000 3000 >other
compare a other
echo one >one
compare one empty
compare empty one
compare one a

promise 'Random sets of many sizes, with repeats, in any order'
awk 'BEGIN { srand(5); for (i = 0; i < 12; i++) for (side = 0; side < 2; side++) {
    n = int(exp(rand() * 8)); share = rand();
    for (j = 0; j < n; j++)
        print int(rand() * n) (rand() < share ? "" : " of " side) >("r" i "." side) } }'
sets=12
[ -z "${TAMIS_SANITIZED:-}" ] || sets=3
for ((i = 0; i < sets; i++)); do
    touch r$i.0 r$i.1
    compare r$i.0 r$i.1
done

promise 'Many differences, and more than one frame of them; all differ'
seq 1 60000 >many
seq 20000 90000 | sed 's/.*/& &/;n;s/ .*//' >others
compare many others
json_of()
{
    local a=$1 b=$2

    shift 2
    exits 1 "$tamis" reconcile --json -c "$@" --via "'$tamis' reconcile --serve $b" "$a"
}
json_of many others
json_holds 'a third of all lines differ' 'it["sent_all"]' 'it["only_here"] > 20000'
awk 'BEGIN { for (i = 1; i <= 50000; i++) print i, i * 7919 % 99991, i * 104729 % 1299709 }' >long.a
sed 's/^\([0-9]*77\) /\1./' long.a >long.b
json_of long.a long.b
json_holds 'few of many differ' 'not it["sent_all"]' 'it["only_here"] == it["only_there"] == 500' \
    'it["received"]["symbols"] < 1000 * 1.76 * 16' 'it["bytes"] < 1000 * 1.76 * 16 + 20000'

promise 'Bytes stay as they are: long lines, zeros, carriage returns, no line end, empty lines'
{ head -c 700000 /dev/zero | tr '\0' x; echo; printf 'a\r\nb\n\n\0c\n\377\376\nend'; } >odd.a
printf 'a\nb\r\n\0d\n\0c\nend\n' >odd.b
compare odd.a odd.b
printf 'a\nb\0c\0' >nul.a
printf 'a\nb\0d\0' >nul.b
exits 1 "$tamis" reconcile -z --via "'$tamis' reconcile -z --serve nul.b" nul.a
prints_exactly '< c\0> d\0'
exits 4 "$tamis" reconcile -z --via "'$tamis' reconcile --serve nul.b 2>/dev/null" nul.a
says '--null on both'

promise 'Counts, and what crossed the line'
exits 1 "$tamis" reconcile -c --stats --via "'$tamis' reconcile --serve b" a
prints_exactly '2 only here, 2 only there, 998 on both sides\n'
says 'symbols'
says 'total'
exits 1 "$tamis" reconcile --json --via "'$tamis' reconcile --serve b" a
prints_json
json_holds 'lines as JSON' 'it["lines_here"] == ["1", "2"]' 'it["lines_there"] == ["1001", "1002"]' \
    'it["both"] == 998' \
    'it["bytes"] == sum(it["sent"].values()) + sum(it["received"].values())'

promise '--union: lines stay, those of the other side follow in order, the mode is kept'
printf 'z\nb\nb\na' >u.a
printf 'y\nb\nx' >u.b
chmod 640 u.a
chmod 604 u.b
exits 0 "$tamis" reconcile --union --via "'$tamis' reconcile --serve u.b" u.a
prints_nothing
printf 'z\nb\nb\na\nx\ny\n' >expected
same u.a expected
printf 'y\nb\nx\na\nz\n' >expected
same u.b expected
check 'modes are kept' test "$(stat -c %a u.a u.b | tr '\n' ' ')" = '640 604 '
before=$(stat -c '%i %Y' u.a u.b)
exits 0 "$tamis" reconcile --union --via "'$tamis' reconcile --serve u.b" u.a
check 'files that lack nothing are left alone' test "$(stat -c '%i %Y' u.a u.b)" = "$before"
cp many m.a
cp others m.b
ln -s m.b m.link
exits 0 "$tamis" reconcile --union --via "'$tamis' reconcile --serve m.link" m.a
same <(sort -u m.a) <(sort -u many others)
same <(sort -u m.b) <(sort -u many others)
check 'a link stays one' test -L m.link
exits 2 "$tamis" reconcile --union --via "'$tamis' reconcile --serve b" - <a
says 'not a pipe'
gzip -k a
exits 0 "$tamis" reconcile --via "'$tamis' reconcile --serve a" a.gz
exits 2 "$tamis" reconcile --union --via "'$tamis' reconcile --serve a" a.gz
says 'decompress it first'
exits 4 "$tamis" reconcile --union --via "'$tamis' reconcile --serve a.gz 2>/dev/null" b
says 'decompress it first'
exits 1 "$tamis" reconcile --via "'$tamis' reconcile --serve b" - <a
expect a b
same "$said/out" expected

# Over TCP, where the side that listens has to agree to a union. It prints, too.
listen()
{
    rm -f listener.err
    "$tamis" reconcile --listen 127.0.0.1:0 --timeout 20 "$@" >listener.out 2>listener.err &
    listener=$!
    until port=$(grep -os '[0-9]*$' listener.err); do
        sleep 0.01
    done
}
listen b
exits 1 "$tamis" reconcile --connect "127.0.0.1:$port" a
expect a b
same "$said/out" expected
code=0
wait "$listener" || code=$?
check 'the other side says that they differ' test "$code" -eq 1
same <(sort listener.out) <(tr '<>' '><' <expected | sort)
listen b
exits 4 "$tamis" reconcile --union --connect "127.0.0.1:$port" a
says '--union on both'
wait "$listener"
seq 3 1002 >expected
same b expected

promise 'Filters: which counts differ'
{ seq 1 500; seq 1 3; } >ka
{ seq 2 500; seq 501 502; seq 1 2; } >kb
for side in a b; do
    "$tamis" build -k cqf -n 2000 -o "c$side.tamis" "k$side"
done
join -a 1 -a 2 -e 0 -o 0,1.2,2.2 -t "$(printf '\t')" <("$tamis" list ca.tamis 2>/dev/null | sort) \
    <("$tamis" list cb.tamis 2>/dev/null | sort) | awk '$2 != $3' | sort -n >expected
check 'some counts differ' test "$(wc -l <expected)" -ge 4
exits 1 "$tamis" reconcile --via "'$tamis' reconcile --serve cb.tamis" ca.tamis
same "$said/out" expected
says 'these are fingerprints'
exits 1 "$tamis" reconcile --json --via "'$tamis' reconcile --serve cb.tamis" ca.tamis
json_holds 'counts as JSON' 'all(e["here"] != e["there"] for e in it["counts"])'
exits 0 "$tamis" reconcile --via "'$tamis' reconcile --serve ca.tamis" ca.tamis
"$tamis" build -k cqf -n 2000 -p 1e-6 -o narrow.tamis ka
exits 4 "$tamis" reconcile --via "'$tamis' reconcile --serve narrow.tamis 2>/dev/null" ca.tamis
says 'fingerprints of different lengths'
"$tamis" build -k cqf -n 2000 --seed 7 -o seeded.tamis ka
exits 4 "$tamis" reconcile --via "'$tamis' reconcile --serve seeded.tamis 2>/dev/null" ca.tamis
says 'hash keys differently'
exits 4 "$tamis" reconcile --via "'$tamis' reconcile --serve a 2>/dev/null" ca.tamis
says 'the other a filter'
exits 2 "$tamis" reconcile --union --via "'$tamis' reconcile --serve ca.tamis" ca.tamis
says 'tamis merge'

promise 'Usage'
exits 2 "$tamis" reconcile a
says 'say how to reach the other side'
exits 2 "$tamis" reconcile --via "'$tamis' reconcile --serve b"
exits 3 "$tamis" reconcile --via "'$tamis' reconcile --serve b" missing
exits 3 "$tamis" reconcile --limit-bytes 300 --via "'$tamis' reconcile --serve b 2>/dev/null" a
says 'limit-bytes'
exits 4 "$tamis" reconcile --memory 10K --via "'$tamis' reconcile --serve others 2>/dev/null" many
says 'larger than --memory allows'

promise 'Over a bad line, each file is as it was or as a good run leaves it'
# Each side says what happened.
head -n 3000 long.a >here
tail -n +50 here >there
tail -n 100 long.a >>there
one=(--keep here --keep there --ask "$tamis reconcile --union --timeout 1 --connect {} here"
    --serve "$tamis reconcile --timeout 1 --serve there")
promise 'The greeting, the question, and what answers it'
faults 29 cut:up:0-67 cut:down:0-60
faults 1000 cut:up:67-:1000 cut:down:60-:1000
faults 3000 flip:up:5-:97 flip:down:3-:397
faults 1 stall:down:300
promise 'The same where all lines are sent'
seq 1 3000 >here
seq 3 3200 >there
faults 200 cut:up:67-:100 cut:down:60-:100
[ -z "${TAMIS_LONG:-}" ] || faults 1 cut:up:0- cut:down:0- flip:up:0- flip:down:0-

promise 'Peers that lie'
liar=$(dirname "$tamis")/tests/reconcile_liar
[ -n "${TAMIS_SANITIZED:-}" ] || ulimit -v 400000 # what is announced is not allocated
seq 3 3000 >mine
lies()
{
    exits 4 "$tamis" reconcile --timeout 5 --memory 16M --via "$liar $1 2>/dev/null" "${3:-mine}"
    says "$2"
}
lies huge 'takes more than 8388608 bytes'
lies random 'with two secrets'
lies again 'with two secrets'
lies verdict 'with two secrets'
lies other 'a line that was not asked for'
lies fewer '0 lines instead of 2'
lies sum 'not those that it has'
lies order 'out of order' other
lies bomb 'takes more than 8388608 bytes' other
promise 'Those who ask, and lie. The file is left as it is'
mkfifo back
asks()
{
    cp mine victim
    "$liar" "$1" <back 2>/dev/null |
        exits "$2" bash -c "'$tamis' reconcile --timeout 5 --serve victim >back"
    says "$3"
    same victim mine
}
asks ask-early 4 'came before the question'
asks ask-sum 3 'closed the line'
asks ask-places 4 'places of lines make no sense'
asks ask-many 4 'shorter or longer than it should be'
asks ask-more 4 'it asks for more symbols than all lines are worth'
asks ask-give 4 'it asked for all lines twice'
asks ask-often 4 'it asked more than 2 times'

section 'Terminals'

promise 'Lines of another machine go to a file as they are'
# A terminal gets nothing that it would obey.
printf 'a\xc2\x9b31m\tb\x9b\n' >controls
compare controls nothing
compare nothing controls
exits 1 on_terminal "$tamis" reconcile --via "'$tamis' reconcile --serve controls" nothing
check "controls become question marks" grep -q $'^> a?31m\tb?\r*$' "$said/out"
exits 1 "$tamis" reconcile --json --via "'$tamis' reconcile --serve controls" nothing
prints '"a\u009b31m\u0009b\ufffd"'
