#!/usr/bin/env bash
# tamis verify, and what the other commands make of damaged files.
. "$(dirname "$0")/check.sh"

seq 1000 >keys

# refused CODE FILE TEXT: by every command that reads a filter; the file stays as it is.
refused()
{
    local code=$1 file=$2 text=$3

    cp "$file" before
    for command in query count add remove info; do
        if [ "$command" = info ]; then
            exits "$code" "$tamis" info "$file"
        else
            exits "$code" "$tamis" "$command" "$file" keys
        fi
        says "$file: $text"
        prints_nothing
    done
    exits "$code" "$tamis" merge -o out.tamis "$file" "$file"
    exits "$code" "$tamis" fold -o out.tamis --by 2 "$file"
    check_not "nothing was made of it" test -e out.tamis
    same "$file" before
}

promise 'A whole file is ok'
offsets='0 9 24 40 56 64 100 104 128 200 255 256 300 -1' cuts='0 1 8 100 255 256 257 -8 -1'
for kind in $(kinds_that build); do
    exits 0 "$tamis" build -k "$kind" -o "$kind.tamis" keys
    exits 0 "$tamis" verify "$kind.tamis"
    prints_exactly "$kind.tamis: ok\n"
    is_silent
    size=$(stat -c %s "$kind.tamis")

    promise 'A flipped bit anywhere'
    for offset in $offsets; do
        cp "$kind.tamis" bad.tamis
        flip bad.tamis $((offset < 0 ? size + offset : offset))
        code=0
        "$tamis" verify bad.tamis >"$said/out" 2>"$said/err" || code=$?
        check "$kind: verify sees a flipped bit in byte $offset (exit $code)" test "$code" = 4
        code=0
        "$tamis" query bad.tamis keys >"$said/out" 2>"$said/err" || code=$?
        check "$kind: query refuses a flipped bit in byte $offset (exit $code)" test "$code" = 4
        check "$kind: and prints nothing" test ! -s "$said/out"
        code=0
        "$tamis" query --map bad.tamis keys >"$said/out" 2>"$said/err" || code=$?
        check "$kind: a map gives an answer or an error (exit $code)" test "$code" -le 4
    done

    promise 'Cut short, or longer'
    for cut in $cuts; do
        head -c "$cut" "$kind.tamis" >bad.tamis
        exits 4 "$tamis" verify bad.tamis
        exits 4 "$tamis" query bad.tamis keys
        exits 4 "$tamis" query --map bad.tamis keys
    done
    { cat "$kind.tamis" && printf '\0'; } >bad.tamis
    exits 4 "$tamis" verify bad.tamis
    exits 4 "$tamis" query bad.tamis keys
    # What the commands tell is what the library says, which golden.flips and model.images ask of every
    # bit and every prefix of every kind.
    [ -n "${TAMIS_LONG:-}" ] || offsets='64 -1' cuts='256 -1'
done

promise 'The MiB is named'
exits 0 "$tamis" build -k bloom -n 5M -p 0.01 -o large.tamis keys
cp large.tamis bad.tamis
flip bad.tamis $((3 * 1048576 + 5000))
flip bad.tamis $((5 * 1048576 + 5000))
exits 4 "$tamis" verify bad.tamis
says "bad.tamis is damaged"
check "two faults, a line each" test "$(grep -c '^bad.tamis: ' "$said/out")" = 2
prints " in MiB 3, bytes "
prints " in MiB 5, bytes "
refused 4 bad.tamis "the filter is damaged"
exits 0 "$tamis" query --map bad.tamis keys

promise 'Several files: each has its line, and one bad file is enough'
cp bloom.tamis good.tamis
code=0
"$tamis" verify good.tamis bad.tamis missing.tamis bloom.tamis >"$said/out" 2>"$said/err" || code=$?
check "exit code $code tells of a bad file" test "$code" -ge 3
prints "good.tamis: ok"
prints "bloom.tamis: ok"
says "missing.tamis"

promise 'Not a filter'
: >empty
printf 'text\n' >text
head -c 4096 /dev/zero >zeros
for file in empty text zeros; do
    refused 4 "$file" ""
    exits 4 "$tamis" verify "$file"
done
refused 4 text "not a tamis filter"

promise 'A claim of 2^32 keys in one block makes nothing grow'
# One more would make it grow to gigabytes.
cp "$tests/../golden/bad/scalable-held-more.tamis" hostile.tamis
refused 4 hostile.tamis "the filter is damaged"
(
    [ -n "${TAMIS_SANITIZED:-}" ] || ulimit -v 500000
    "$tamis" add hostile.tamis keys 2>"$said/err"
)
check "no memory is spent on it" test $? = 4

promise 'From a newer version, or of a kind not known here'
cp bloom.tamis newer.tamis
reseal newer.tamis 8 0200
refused 4 newer.tamis "written by a newer version"
cp bloom.tamis unknown.tamis
reseal unknown.tamis 24 ffff0000
refused 4 unknown.tamis ""

section 'Files whose writer stopped'

stoppable=$(kinds_that read-while-add)
[ -z "${TAMIS_SANITIZED:-}" ] || stoppable=bloom
for kind in $stoppable; do
    cp "$kind.tamis" dirty.tamis
    reseal dirty.tamis 96 01000000
    refused 4 dirty.tamis "its writer stopped"
    says "'tamis verify --recover'"
    exits 4 "$tamis" verify dirty.tamis
    says "'tamis verify --recover'"
    exits 4 "$tamis" query --map dirty.tamis keys
    exits 0 "$tamis" verify --recover dirty.tamis
    prints "dirty.tamis: recovered"
    prints "dirty.tamis: ok"
    exits 0 "$tamis" query -c dirty.tamis keys
    prints_exactly '1000\n'
    same dirty.tamis "$kind.tamis"
    exits 0 "$tamis" verify --recover dirty.tamis
    prints_exactly 'dirty.tamis: ok\n'

    promise 'Recovery is for interrupted writers: damage to a whole file is not sealed over'
    cp "$kind.tamis" bad.tamis
    flip bad.tamis 300
    code=0
    "$tamis" verify --recover bad.tamis >"$said/out" 2>"$said/err" || code=$?
    check "$kind: damage stays damage (exit $code)" test "$code" = 4
    code=0
    "$tamis" verify bad.tamis >"$said/out" 2>"$said/err" || code=$?
    check "$kind: and is still seen (exit $code)" test "$code" = 4
done

section 'A file shortened under a map'

mkfifo pipe
cp large.tamis short.tamis
"$tamis" query --map short.tamis <pipe >answers 2>"$said/err" &
pid=$!
exec 9>pipe
echo 1 >&9
wait_for_text answers
check "the map answers" has_line answers '^1$'
truncate -s 4096 short.tamis
seq 100000 >&9
exec 9>&-
code=0
wait "$pid" || code=$?
check "a shortened file is exit code 4, not $code" test "$code" = 4
says "shortened"

promise 'A file of another size: how many bytes there are, and how many there should be'
size=$(stat -c %s bloom.tamis)
head -c 1000 bloom.tamis >bad.tamis
for command in verify info; do
    exits 4 "$tamis" "$command" bad.tamis
    says "bad.tamis: 1000 bytes, should be $size: it was cut short"
done
cat bloom.tamis keys >bad.tamis
exits 4 "$tamis" verify bad.tamis
says "$(stat -c %s bad.tamis) bytes, should be $size: it was added to"
cp bloom.tamis bad.tamis
flip bad.tamis 20
exits 4 "$tamis" verify bad.tamis
prints "bad.tamis: the header is damaged in MiB 0, bytes 0 to 255"
check_not "verify does not point to itself" has_line "$said/err" "tamis verify"

exits 0 "$tamis" verify --json bloom.tamis good.tamis
prints_json
json_holds "both are whole" '[x["ok"] for x in it] == [True, True]' 'it[0]["faults"] == []'
exits 4 "$tamis" verify --json bad.tamis
prints_json
json_holds "one is not" 'it[0]["ok"] is False' 'it[0]["faults"][0]["offset"] == 0'
