#!/usr/bin/env bash
# The worked examples of lectures, typed with given hashes: their pictures, numbers and answers.
. "$(dirname "$0")/../../../tests/cli/check.sh"

# pictures: what was printed is what comes in.
pictures()
{
    cat >wanted
    same "$said/out" wanted || diff wanted "$said/out" | head -20
}

promise 'V1: a bitmap of capacity 10'
exits 0 "$tamis" show --toy bitmap --keys 10 --add 4 --add 8 --add 1 --remove 8 --add 4
pictures <<'END'
toy: bitmap, 10 bits

add 4: it holds 1 key
add 8: it holds 2 keys
add 1: it holds 3 keys
remove 8: it holds 2 keys
add 4: it holds 2 keys

      0 1 2 3 4 5 6 7 8 9
bits  0 1 0 0 1 0 0 0 0 0

members {1, 4}
END
exits 5 "$tamis" show --toy bitmap --keys 10 --add 10
exits 1 "$tamis" show --toy bitmap --keys 10 --add 1 --remove 2
prints "remove 2: it is not there, and nothing changes"

promise 'V6: three rows of five bits'
exits 0 "$tamis" show --toy partitioned --bits 15 --hashes 3 --add thisisavirus.com=2,1,4 \
    --add totallynotsuspicious.com=1,0,4 verynormalsite.com=2,0,4
prints "row 0               0 1 1 0 0"
prints "row 1               1 1 0 0 0"
prints "row 2               0 0 0 0 1"
prints "verynormalsite.com? yes, by mistake: all its bits are set"
prints "bit: cell 2 of row 0 holds 1 from thisisavirus.com, for it"
prints "bit: cell 0 of row 1 holds 1 from totallynotsuspicious.com, for it"
prints "bit: cell 4 of row 2 holds 1 from thisisavirus.com, totallynotsuspicious.com, for it"

promise 'V7: all sets of three keys in four bits'
exits 0 "$tamis" show --toy bloom --bits 4 --hashes 2 --subsets 0=1,0 1=2,1 7=2,3
pictures <<'END'
set      cells  0     1     7
{}       0000   no    no    no
{0}      1100   yes   no    no
{1}      0110   no    yes   no
{7}      0011   no    no    yes
{0,1}    1110   yes   yes   no
{0,7}    1111   yes   yes*  yes
{1,7}    0111   no    yes   yes
{0,1,7}  1111   yes   yes   yes

* 1 false positive
END

promise 'V8: eleven bits, which are counted from 1, with the hashes in a table'
cat >words.txt <<'END'
# h1 h2 h3
ACG 3 6 4
ATA 2 11 10
CGA 11 9 6
TTA 1 10 9
TTT 6 2 1
CGC 9 3 3
AAA 4 1 2
TCT 10 4 11
END
exits 0 "$tamis" show --toy bloom --bits 11 --hashes 3 --first 1 --table words.txt \
    --add TTA --add TCT --add ATA CGA AAA
sed '/  hash is /d' "$said/out" >answer
cat >wanted <<'END'
toy: bloom, 11 bits, 3 probes

add TTA: it holds 1 key
add TCT: it holds 2 keys
add ATA: it holds 3 keys

       1  2  3  4  5  6  7  8  9 10 11
bits   1  1  0  1  0  0  0  0  1  1  1
CGA                   x        ^     ^
AAA    ^  ^     ^

CGA? no: a bit is clear that adding it would have set
  bit: cell 11 of bits holds 1 from TCT, ATA, for it
  bit: cell 9 of bits holds 1 from TTA, for it
  bit: cell 6 of bits holds 0, against it

AAA? yes, by mistake: all its bits are set
  bit: cell 4 of bits holds 1 from TCT, for it
  bit: cell 1 of bits holds 1 from TTA, for it
  bit: cell 2 of bits holds 1 from ATA, for it
END
same answer wanted
exits 0 "$tamis" show --toy bloom --bits 11 --hashes 3 --first 1 --table - TTA --add TTA \
    --key CGC <words.txt
exits 0 "$tamis" show --toy bloom --bits 11 --hashes 3 --first 1 --add CGC=9,3,3 CGC
prints "bits   0  0  1  0  0  0  0  0  1  0  0"

promise 'V10: counters of five keys; one is removed; what a Bloom filter keeps of them'
five=(--add a=1,4,13 --add b=1,6,9 --add c=1,9,10 --add d=6,10,11 --add e=9,13,14)
exits 0 "$tamis" show --toy counting --bits 16 --hashes 3 --counter-bits 4 "${five[@]}" -o five.tamis
prints "counters   0  3  0  0  1  0  2  0  0  3  2  1  0  2  1  0"
exits 0 "$tamis" show --toy counting --bits 16 --hashes 3 --counter-bits 4 "${five[@]}" --key a \
    --remove a
prints "counters   0  3  0  0  1  0  2  0  0  3  2  1  0  2  1  0"
prints "counters   0  2  0  0  0  0  2  0  0  3  2  1  0  1  1  0"
prints "changed       *        *                          *"
prints "remove a: it holds 4 keys"
exits 0 "$tamis" convert --to bloom five.tamis -o reduced.tamis
exits 0 "$tamis" show reduced.tamis
prints "bits   0  1  0  0  1  0  1  0  0  1  1  1  0  1  1  0"

promise 'V11: a stream of five, in each kind that counts'
for kind in spectral spectral-mi spectral-rm; do
    exits 0 "$tamis" show --toy $kind --keys 8 --add A --add A --add B --add C --add C A B C D
    prints "A? yes (2 times): "
    prints "B? yes (1 time): "
    prints "C? yes (2 times): "
    prints "D? no: "
done

promise 'V12: a quotient filter of eight slots, remainders of 32 bits with a sign'
cities=(--add amsterdam=1,164894540 --add berlin=4,-89622902 --add london=7,232552816
    --add madrid=1,249059682 --add ankara=2,62147742)
exits 0 "$tamis" show --toy quotient --quotient-bits 3 --remainder-bits 32 --width 100 \
    "${cities[@]}" ferret=1,122150710 berlin
sed '/  hash is /d; /  fingerprint is /d' "$said/out" >answer
cat >wanted <<'END'
toy: quotient, 8 slots, 32 bits per remainder

add amsterdam: it holds 1 key
add berlin: it holds 2 keys
add london: it holds 3 keys
add madrid: it holds 4 keys
add ankara: it holds 5 keys

                   0         1         2         3         4         5         6         7
slots              . 164894540 249059682  62147742 -89622902         .         . 232552816
occupied           .         1         1         .         1         .         .         1
continued          .         .         1         .         .         .         .         .
shifted            .         .         1         1         .         .         .         .
key                  amsterdam    madrid    ankara    berlin                        london
ferret                       x         x
berlin                                                     ^

ferret? no: no slot of its run holds its remainder
  quotient is 1
  remainder is 122150710
  home slot: cell 1 of slots holds 164894540 from amsterdam, madrid, occupied, for it
  first slot of its cluster is 1
  first slot of its run is 1
  slot of the run: cell 1 of slots holds 164894540 from amsterdam, occupied, against it
  slot of the run: cell 2 of slots holds 249059682 from madrid, occupied, continued, shifted, against it
  count is 0

berlin? yes (1 time): a slot of its run holds its remainder
  quotient is 4
  remainder is -89622902
  home slot: cell 4 of slots holds -89622902 from berlin, occupied, for it
  first slot of its cluster is 4
  first slot of its run is 4
  slot of the run: cell 4 of slots holds -89622902 from berlin, occupied, for it
  count is 1
END
same answer wanted

promise 'Sets forget a key whole, other kinds a copy; what is built has all keys'
exits 1 "$tamis" show --toy bitmap --keys 10 --add 4 --add 4 --remove 4 4
prints "4? no: "
exits 0 "$tamis" show --toy quotient --keys 8 --add a --add a --remove a a
prints "a? yes (1 time): "
exits 1 "$tamis" show --toy counting --bits 8 --hashes 2 --add a=1,2 --add c=3,4 --remove b=2,3 a
prints "a? no, by mistake: "
exits 0 "$tamis" show --toy xor --key a --add a
prints "a? yes: "
exits 2 "$tamis" show --toy bloom --add a --remove a
says "bloom filters cannot remove"

promise 'Filters by peeling, step by step: each key touches three cells, goes, and fills its own'
exits 0 "$tamis" show --toy xor --steps --add a --add b --add c --add d --add e
check "five keys touch" test "$(grep -c '^  [a-e] touches .*, .* and ' "$said/out")" = 5
check "five keys go" test "$(grep -c '^  [a-e] goes, and owns cell ' "$said/out")" = 5
check "five cells are filled" test "$(grep -c '^  [a-e]: cell .* becomes ' "$said/out")" = 5
exits 0 "$tamis" show --toy fuse --steps --add a --add b --json
json_holds "steps in JSON" "len(it['pictures'][0]['steps']) == 6"
seq 5 | "$tamis" build -k fuse -o fuse.tamis
exits 0 "$tamis" show --steps fuse.tamis 1 2 3 4 5
check "steps of a file" test "$(grep -c ' goes, and owns cell ' "$said/out")" = 5
exits 1 "$tamis" show --steps fuse.tamis 1 2 3 4 6
exits 0 "$tamis" show --toy ribbon --steps --add a --add b --add c
check "rows are added" has_line "$said/out" '^  [bc] takes on the row of [ab], and touches cell '
check "three rows own a cell" \
    test "$(grep -c '^  [a-c] goes, and owns cell .* no other row begins with$' "$said/out")" = 3
exits 2 "$tamis" show --steps --toy bloom --add a
says "not made by peeling"

promise 'A saved toy is a filter like any other; its keys are the integers that are printed'
exits 0 "$tamis" show --toy bloom --bits 11 --hashes 3 --add one=1,2,3 -o toy.tamis one two=4,5,6
one=$(sed -n 's/^one, key \([0-9]*\)? yes.*/\1/p' "$said/out")
two=$(sed -n 's/^two, key \([0-9]*\)? no.*/\1/p' "$said/out")
exits 0 "$tamis" verify toy.tamis
exits 0 "$tamis" query -e "$one" -e "$two" toy.tamis
prints_exactly "$one\n"

promise 'What cannot be had is said in a line'
bloom=("$tamis" show --toy bloom --bits 11 --hashes 3)
exits 2 "${bloom[@]}" A=1,2
says "reads 3 cells, so give 3 numbers"
exits 2 "${bloom[@]}" A=1,2,11
says "cells are called 0 to 10"
exits 2 "${bloom[@]}" --first 1 A=1,2,0
says "cells are called 1 to 11"
exits 2 "${bloom[@]}" A=1,x,2
exits 2 "${bloom[@]}" A=1,-2,3
exits 2 "${bloom[@]}" A=1,2,3 B
says "no hash is given for 'B'"
exits 2 "${bloom[@]}" A=1,2,3 A=3,2,1
exits 3 "${bloom[@]}" --table no/such/file A
exits 2 "$tamis" show --toy no-such-kind A
exits 2 "$tamis" show --toy fuse --bits 10 A
exits 2 "$tamis" show --toy map A
exits 2 "$tamis" show --table words.txt toy.tamis
exits 2 "$tamis" show --bits 10 toy.tamis
exits 2 "${bloom[@]}" --subsets 0 1 2 3 4 5 6 7 8 9 10
exits 2 "${bloom[@]}" --subsets --add 0 1
if [ -z "${TAMIS_SANITIZED:-}" ]; then
    exits 5 "$tamis" show --toy bloom --bits 1000 --hashes 4 A=1,200,300,4
    says "keys were tried and none hashes so"
fi
