#!/usr/bin/env bash
# Bytes are bytes: what was built is found, and nothing like it is.
. "$(dirname "$0")/check.sh"

# A hashset with 64-bit hashes tells all of these apart.
build()
{
    exits 0 "$tamis" build -k hashset -o f.tamis "$@"
}

count_in()
{
    exits 0 "$tamis" info --json f.tamis
    json_is "$1 keys" 'it[0]["keys"]' "$1"
}

# found TEXT LINES: of the input TEXT, exactly LINES are in.
found()
{
    printf "$1" >input
    printf "$2" >wanted
    if [ -s wanted ]; then
        exits 0 "$tamis" query f.tamis input
    else
        exits 1 "$tamis" query f.tamis input
    fi
    same "$said/out" wanted
}

promise 'Keys are bytes: line ends, blanks, zeros and capitals count'
printf '\none\ntwo\r\n\xff\xfe\nnul\0byte\n\nt ab\t \nlast' >keys
build keys
count_in 7 # the empty line counts once
exits 0 "$tamis" query f.tamis keys
printf '\n' >>keys
same "$said/out" keys
found '' ''
found '\n' '\n'
found '\n\n' '\n\n'
found 'one' 'one\n'
found 'on\none\nonee\n one\none \nOne\n' 'one\n'
found 'two\ntwo\r\n' 'two\r\n'
found '\xff\xfe\n\xff\n\xc3\xbf\xc3\xbe\n' '\xff\xfe\n'
found 'nul\nnul\0byte\nnul\0bytes\n' 'nul\0byte\n'
found 't ab\nt ab\t \n' 't ab\t \n'
found 'last\nlast\r\n' 'last\n'

build --allow-empty /dev/null
count_in 0
found '\n' ''
printf '\n' | build
count_in 1
found '\n' '\n'
found 'x\n' ''
printf 'a' >one && printf 'b' >two
build one two
count_in 2
found 'ab\na\nb\n' 'a\nb\n'

promise 'NUL-ended lines'
printf 'a\nb\0c\0\0last' >keys
exits 0 "$tamis" build -z -k hashset -o f.tamis keys
count_in 4
printf 'a\nb\0a\0b\0c\0\0last\0' >input
exits 0 "$tamis" query -z f.tamis input
prints_exactly 'a\nb\0c\0\0last\0'
exits 0 "$tamis" query -zv f.tamis input
prints_exactly 'a\0b\0'
exits 0 "$tamis" query --null f.tamis keys
prints_exactly 'a\nb\0c\0\0last\0'
exits 0 "$tamis" query f.tamis <<<c
exits 0 "$tamis" count -z f.tamis input
prints_exactly '1\ta\nb\0000\ta\0000\tb\0001\tc\0001\t\0001\tlast\0'

promise 'Columns'
printf 'x\tred\t1\ny\tgreen\t2\nno columns\nz\t\t3\n\tblue' >table
exits 0 "$tamis" build --field 2 -n 100 -k hashset -o f.tamis table
says "1 of 5 lines have no field 2"
count_in 4
printf 'red\ngreen\n\nblue\n1\nx\n' >words
exits 0 "$tamis" query f.tamis words
prints_exactly 'red\ngreen\n\nblue\n'
printf '9\tred\nred\t9\n9\tgrey\n9\tblue\tzz\n\n' >asked
exits 0 "$tamis" query --field 2 f.tamis asked
prints_exactly '9\tred\n9\tblue\tzz\n'
says "1 of 5 lines have no field 2"
exits 0 "$tamis" query -v --field 2 f.tamis asked
prints_exactly 'red\t9\n9\tgrey\n\n'
exits 0 "$tamis" count --field 2 f.tamis asked
prints_exactly '1\t9\tred\n0\tred\t9\n0\t9\tgrey\n1\t9\tblue\tzz\n0\t\n'
printf 'a,red,b\nc,mauve,d\n' >commas
exits 0 "$tamis" query --field 2 --delim , f.tamis commas
prints_exactly 'a,red,b\n'
exits 0 "$tamis" query --field 2 --delim '\t' f.tamis asked
exits 1 "$tamis" query --field 3 --delim , f.tamis commas
exits 1 "$tamis" query --field 4 f.tamis asked
says "5 of 5 lines"
exits 0 "$tamis" query --field 1 --delim , f.tamis words
prints_exactly 'red\ngreen\n\nblue\n'
exits 0 "$tamis" add --field 2 --delim , f.tamis commas
exits 0 "$tamis" query -c f.tamis <<<mauve
exits 0 "$tamis" remove --field 2 --delim , f.tamis commas
exits 1 "$tamis" query -c f.tamis <<<mauve
prints_exactly '0\n'
exits 0 "$tamis" build --field 9 --allow-empty -k hashset -o f.tamis table
count_in 0

promise 'A line without the column is not the key 0 either'
printf '0\n' >zero
exits 0 "$tamis" build --hash raw -k hashset -o f.tamis zero
printf 'x\nx\t0\nx\t1\n' >input
exits 0 "$tamis" query --field 2 f.tamis input
prints_exactly 'x\t0\n'
exits 0 "$tamis" query -v --field 2 f.tamis input
prints_exactly 'x\nx\t1\n'
exits 0 "$tamis" count --field 2 f.tamis input
prints_exactly '0\tx\n1\tx\t0\n0\tx\t1\n'
exits 0 "$tamis" build --field 2 --hash raw -k hashset -o f.tamis input
count_in 2

promise 'Long lines, and lines around the size of what is read at once'
python3 - <<'PYTHON'
import random

random.seed(1)
sizes = [1, 262142, 262143, 262144, 262145, 0, 5, 524287, 524288, 524289, 3, 3000000, 7]
with open("keys", "wb") as f:
    for i, size in enumerate(sizes):
        f.write(bytes([65 + i]) * size + b"\n")
with open("short", "wb") as f:
    for i, size in enumerate(sizes):
        f.write(bytes([65 + i]) * (size + 1) + b"\n")
with open("many", "wb") as f:
    for i in range(200000):
        f.write(b"%d" % (i * 7919) + b"x" * random.randrange(60) + b"\n")
PYTHON
for threads in 1 3; do
    exits 0 "$tamis" build -j "$threads" -k hashset -o f.tamis keys
    count_in 13
    exits 0 "$tamis" query -j "$threads" f.tamis keys
    same "$said/out" keys
    exits 1 "$tamis" query -j "$threads" f.tamis short
    exits 0 "$tamis" build -j "$threads" -k hashset -o f.tamis many
    count_in 200000
    exits 0 "$tamis" query -j "$threads" f.tamis keys many short
    same "$said/out" many
    cat many | exits 0 "$tamis" query -j "$threads" f.tamis
    same "$said/out" many
done

promise 'A line of a gigabyte is a line, unless memory is short here'
if [ -n "${TAMIS_LONG:-}" ] && [ "$(awk '/MemAvailable/ { print $2 }' /proc/meminfo)" -gt 4000000 ]; then
    head -c 1073741824 /dev/zero | exits 0 "$tamis" build -k hashset -o f.tamis
    count_in 1
    head -c 1073741824 /dev/zero | exits 0 "$tamis" query -c f.tamis
    prints_exactly '1\n'
    head -c 1073741823 /dev/zero | exits 1 "$tamis" query -c f.tamis
else
    skip "a line of 1 GiB needs 4 GB of memory and a long run"
fi

promise 'Integers'
printf '0\n18446744073709551615\n0xff\n0XAb\n007\n' >keys
exits 0 "$tamis" build --hash raw -k hashset -n 100 -o f.tamis keys
count_in 5
found '0\n00\n0x0\n255\n171\n7\n8\n0xffffffffffffffff\n' '0\n00\n0x0\n255\n171\n7\n0xffffffffffffffff\n'
for bad in '' ' 1' '1 ' -1 +1 1x x 0x 0xg 18446744073709551616 0x10000000000000000 '1\r' '1\0' 1e3 1.0; do
    printf "7\n8\n$bad\n9\n" >input
    exits 2 "$tamis" build --hash raw -k hashset -o bad.tamis input
    says "input, line 3"
    check_not "no filter of it" test -e bad.tamis
    exits 2 "$tamis" query f.tamis input
    says "input, line 3"
    prints_exactly '7\n'
    exits 2 "$tamis" count f.tamis input
    exits 2 "$tamis" add f.tamis input
    exits 2 "$tamis" remove f.tamis input
done
count_in 5
{ seq 100000; echo word; seq 100000; } >input
for threads in 1 4; do
    exits 2 "$tamis" query -j "$threads" -c f.tamis /dev/null keys input
    says "input, line 100001:"
    cat input | exits 2 "$tamis" query -j "$threads" -c f.tamis keys -
    says "standard input, line 100001:"
done
printf '1\t7\n2\tx\n' >input
exits 2 "$tamis" query --field 2 f.tamis input
says "input, line 2"
