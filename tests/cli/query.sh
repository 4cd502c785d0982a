#!/usr/bin/env bash
# tamis query and count: what grep would do.
. "$(dirname "$0")/check.sh"

seq 1 2 99999 >odd
seq 1 100000 >all
seq 2 2 100000 >even

# Rates so low that no line passes by mistake, for the kinds that can have them.
"$tamis" plan --keys 100000 --fpr 1e-9 --max-bytes 1G --hash raw | awk 'NR > 1 { print $1 }' >sharp
for kind in $(kinds_that build | grep -xf sharp); do
    exits 0 "$tamis" build -k "$kind" -p 1e-9 -o "$kind.tamis" odd
    file=$kind.tamis
    for threads in 1 4; do
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

# Answers come as soon as there are some, and -q does not wait for the rest.
mkfifo pipe
for threads in 1 4; do
    "$tamis" query -j "$threads" "$file" <pipe >answers &
    pid=$!
    exec 9>pipe
    echo 7 >&9
    for _ in $(seq 100); do
        [ ! -s answers ] || break
        sleep 0.1
    done
    check "an answer before the input ends" grep -qx 7 answers
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

# Inputs that fail: what came before them is answered.
exits 3 "$tamis" query "$file" odd missing
says "missing: No such file"
same "$said/out" odd
exits 3 "$tamis" query -j 4 "$file" odd missing even
exits 3 "$tamis" query "$file" .
says "Is a directory"
exits 3 "$tamis" query missing.tamis odd
says "missing.tamis"
