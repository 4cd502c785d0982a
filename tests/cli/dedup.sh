#!/usr/bin/env bash
# tamis dedup: what awk '!seen[$0]++' would do.
. "$(dirname "$0")/check.sh"

awk 'BEGIN { srand(7); for (i = 0; i < 200000; i++) print int(rand() * 100000) }' >all
awk '!seen[$0]++' all >once
dropped=$((200000 - $(wc -l <once)))

# At 1e-9 none of these is taken for another.
for threads in 1 4; do
    for room in 1 1000 1e6; do
        exits 0 "$tamis" dedup -j "$threads" -p 1e-9 -n "$room" all
        same "$said/out" once
        is_silent
    done
    exits 0 "$tamis" dedup -j "$threads" -p 1e-9 -n 2e5 --fixed all
    same "$said/out" once
    exits 0 "$tamis" dedup -j "$threads" -p 1e-9 -c <all
    same "$said/out" once
    says "200000 lines, $dropped dropped"
done
exits 0 "$tamis" dedup -n 100 --fixed all
says "100 were planned"

# Bytes stay as they are: no line end, empty lines, zeros, long lines, two files.
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

# A window: repeats within it are dropped, at whatever place they stand; later ones are not.
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
