#!/usr/bin/env bash
# tamis dedup: what awk '!seen[$0]++' would do.
. "$(dirname "$0")/check.sh"

awk 'BEGIN { srand(7); for (i = 0; i < 200000; i++) print int(rand() * 100000) }' >all
awk '!seen[$0]++' all >once
dropped=$((200000 - $(wc -l <once)))

all_threads='1 4'
[ -z "${TAMIS_SANITIZED:-}" ] || all_threads=4

promise 'At 1e-9 none of these is taken for another'
for threads in $all_threads; do
    for room in 1 1000 1e6; do
        exits 0 "$tamis" dedup -j "$threads" -p 1e-9 -n "$room" all
        same "$said/out" once
        is_silent
    done
    exits 0 "$tamis" dedup -j "$threads" -p 1e-9 -n 2e5 --fixed all
    same "$said/out" once
    exits 0 "$tamis" dedup -j "$threads" -p 1e-9 --stats <all
    same "$said/out" once
    says "200000 lines, $dropped dropped; expect at most 8.6e-05 new ones among these"
done
exits 0 "$tamis" dedup -n 100 --fixed all
says "100 were planned"

promise 'Bytes stay as they are: no line end, empty lines, zeros, long lines, two files'
printf 'a\n\na\n\nb\0c\nb\0c\nb' >odd
exits 0 "$tamis" dedup odd
prints_exactly 'a\n\nb\0c\nb\n'
exits 0 "$tamis" dedup -z <<<''
exits 0 "$tamis" dedup </dev/null
prints_nothing
head -c 3000000 /dev/zero | tr '\0' x >long
(cat long; echo; cat long; echo; echo end) >longs
exits 0 "$tamis" dedup longs
(cat long; echo; echo end) >expected
same "$said/out" expected
printf '1 a\n2 a\n3\n3 b\n' >fields
exits 0 "$tamis" dedup --field 2 --delim ' ' fields
prints_exactly '1 a\n3\n3 b\n'

promise 'A window: repeats within it are dropped, at whatever place they stand'
# Later ones are not.
seq 1000 >first
seq 1001 1990 >second
exits 0 "$tamis" dedup --window 2000 -p 1e-9 first second first
cat first second >expected
same "$said/out" expected
seq 1001 9000 >others
exits 0 "$tamis" dedup --window 2000 -p 1e-9 first others first
cat first others first >expected
same "$said/out" expected
exits 0 "$tamis" dedup --window 1h -n 10 -p 1e-9 all
same "$said/out" once
exits 0 timeout 60 bash -c "(echo a; echo b; sleep 1; echo a; sleep 4; echo a) |
    '$tamis' dedup --window 3s"
prints_exactly 'a\nb\na\n'

exits 2 "$tamis" dedup --window 0 all
exits 2 "$tamis" dedup --window 0s all
exits 2 "$tamis" dedup --window m all
exits 2 "$tamis" dedup --window 99999999999999999d all
exits 2 "$tamis" dedup --window 10 --fixed all
exits 2 "$tamis" dedup --fixed --window 10 all
exits 3 "$tamis" dedup no-such-file

promise 'The default rate loses less than one of a billion lines, on average'
exits 0 "$tamis" dedup --stats=json all
same "$said/out" once
cp "$said/err" "$said/out"
json_holds "as JSON" 'it["lines"] == 200000' "it['dropped'] == $dropped" '0 < it["by_mistake"] < 1e-4'
exits 0 "$tamis" dedup -n 100 --fixed -p 0.01 --stats=json all
cp "$said/err" "$said/out"
check "mistakes of a crowded filter are told" has_line "$said/err" '"by_mistake": [1-9]'

section 'Exact'

export TMPDIR=$work/tmp
mkdir "$TMPDIR"
for exact in --exact --exact=lines; do
    for threads in $all_threads; do
        promise 'The least memory holds 57000 lines, or fewer'
        # The rest goes through files, in order.
        for memory in '' '--memory 9M' '--memory 15M' '--memory 1G'; do
            [ "$threads$memory" != '4--memory 9M' ] || continue
            # shellcheck disable=SC2086
            exits 0 "$tamis" dedup "$exact" -j "$threads" $memory --stats all
            same "$said/out" once
            says "200000 lines, $dropped dropped; expect at most 0 new ones among these"
        done
    done
    exits 0 "$tamis" dedup "$exact" odd
    prints_exactly 'a\n\nb\0c\nb\n'
    exits 0 "$tamis" dedup "$exact" --field 2 --delim ' ' fields
    prints_exactly '1 a\n3\n3 b\n'
    exits 0 "$tamis" dedup "$exact" </dev/null
    prints_nothing
    promise 'Lines without the field keep their place, also among those that wait'
    awk '{ print $1 % 7 ? $1 " " $1 : $1 }' all >holes
    awk 'NF == 1 || !seen[$2]++' holes >expected
    "$tamis" dedup "$exact" -j 1 --memory 9M --field 2 --delim ' ' holes >"$said/out" 2>"$said/err"
    same "$said/out" expected
done
printf '1,a,x\n1,b,x\n1,a,y\n"1",a,"z\nz"\n2,a\n' >several
for exact in --exact --exact=lines; do
    exits 0 "$tamis" dedup "$exact" --field 1,2 --csv several
    prints_exactly '1,a,x\n1,b,x\n2,a\n'
done
cat long odd long odd >longs # 3 MB, more than the rest of 9 MB holds
exits 6 "$tamis" dedup --exact=lines -j 1 --memory 9M longs
says "a line of"
exits 0 "$tamis" dedup --exact -j 1 --memory 9M longs
check "nothing is left in TMPDIR" test -z "$(ls -A "$TMPDIR")"
mkfifo feed
"$tamis" dedup --exact -j 1 --memory 9M <feed >partly &
pid=$!
exec 9>feed
seq 100000 >&9
until [ "$(wc -l <partly)" -gt 50000 ]; do sleep 0.01; done
check "nor is there a name while it runs" test -z "$(ls -A "$TMPDIR")"
kill -9 "$pid"
wait "$pid" 2>"$said/err"
exec 9>&-
rm feed
check "or after it was killed" test -z "$(ls -A "$TMPDIR")"
exits 6 "$tamis" dedup --exact -j 1 --memory 1M all
says "give 9M or more"
exits 3 env TMPDIR="$work/missing" "$tamis" dedup --exact -j 1 --memory 9M all
unset TMPDIR
exits 2 "$tamis" dedup --exact=hashes all
exits 2 "$tamis" dedup --memory 1G all
exits 2 "$tamis" dedup --exact -p 0.1 all
exits 2 "$tamis" dedup --exact --window 10 all

section 'State'

head -n 120000 all >before
tail -n 80000 all >after
awk '!seen[$0]++' before >before.once
awk 'NR == FNR { seen[$0] = 1; next } !seen[$0]++' before after >after.once
for threads in 1 4; do
    rm -f state
    exits 0 "$tamis" dedup -j "$threads" --state state before
    same "$said/out" before.once
    exits 0 "$tamis" dedup -j "$threads" --state state after
    same "$said/out" after.once
    exits 0 "$tamis" dedup -j "$threads" --state state --stats all
    prints_nothing
    says "200000 lines, 200000 dropped"
    exits 0 "$tamis" verify state
done

promise 'Killed, it is as it was; stopped, it knows what was printed and nothing else'
for signal in KILL TERM INT; do
    rm -f state
    : >printed # what the last round printed is not waited for
    exits 0 "$tamis" dedup --state state <<<one
    mkfifo feed
    env --default-signal=INT "$tamis" dedup --state state <feed >printed &
    pid=$!
    exec 9>feed
    seq 1000 >&9
    until [ "$(wc -l <printed)" -eq 1000 ]; do sleep 0.01; done
    kill -"$signal" "$pid"
    wait "$pid" 2>"$said/err"
    code=$?
    check "SIG$signal ends it" test "$code" -gt 128
    exec 9>&-
    rm feed
    exits 0 "$tamis" verify state
    (echo one; seq 1010) | "$tamis" dedup --state state >again
    case $signal in
    KILL) seq 1010 >expected ;;
    *) seq 1001 1010 >expected ;;
    esac
    same again expected
done

promise 'Lines that could not be printed are not remembered'
rm -f state
"$tamis" dedup --state state <first >/dev/full 2>"$said/err"
exits 0 "$tamis" dedup --state state first
same "$said/out" first
(sleep 0.3; seq 10) | "$tamis" dedup --state two >one.out &
(sleep 0.3; seq 10) | "$tamis" dedup --state two >two.out
wait
check "two at once print each line once" diff <(seq 10) <(cat one.out two.out)

exits 0 "$tamis" build -k hashset --hash raw -n 3000 -o known.tamis first
exits 0 "$tamis" dedup --state known.tamis first second
same "$said/out" second
exits 0 "$tamis" dedup --state fixed --fixed -n 100 first
says "was planned for 100"
exits 2 "$tamis" dedup --state fixed --window 100 first
says "fixed is a bloom filter"
exits 0 "$tamis" dedup --state window --window 2000 first
exits 0 "$tamis" dedup --state window others
exits 0 "$tamis" dedup --state window first
same "$said/out" first
exits 2 "$tamis" dedup --state state --window 1h first
exits 2 "$tamis" dedup --state state --exact first
exits 4 "$tamis" dedup --state first second
"$tamis" build -k fuse -o static.tamis first
exits 2 "$tamis" dedup --state static.tamis first
says "cannot add"
exits 2 "$tamis" build -k bitmap -n 10000 -o small.tamis --hash fast first
"$tamis" build -k bitmap -n 10000 -o small.tamis first
exits 2 "$tamis" dedup --state small.tamis first
says "small integers"

exits 2 "$tamis" dedup --window 5x </dev/null
says "90s, 10m, 2h or 7d"
