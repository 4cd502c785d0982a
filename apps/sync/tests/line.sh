#!/usr/bin/env bash
# The line between two sides of a command: cut, damaged, silent, and peers that lie.
. "$(dirname "$0")/../../../tests/cli/check.sh"

seq 1 3000 >here
seq 2001 6000 >there
one=(--ask "$tamis intersect --timeout 1 --connect {} here"
    --serve "$tamis intersect --timeout 1 --serve there")

section 'Cut, damaged, silent'

promise 'Every byte of the greeting and of the question, then every 1,000th'
faults 9 cut:up:0-83 cut:down:0-49
faults 1000 cut:up:83-:1000 cut:down:49-:1000
faults 500 flip:up:3-:197 flip:down:3-:197
faults 1 junk:down:0 junk:up:60 stall:down:0 stall:up:100
[ -z "${TAMIS_LONG:-}" ] || faults 1 cut:up:0- cut:down:0- flip:up:0- flip:down:0-

section 'Others at the other end'

exits 4 "$tamis" intersect --via 'echo Welcome to host; cat >/dev/null' here
says "does not speak as tamis does: it began with 'Welcome '"
exits 4 "$tamis" intersect --via "printf 'TAMIS\r\n\002'; cat >/dev/null" here
says 'speaks version 2 of the protocol, this program version 1'
exits 3 "$tamis" intersect --via true here
says 'before it said anything'
exits 3 "$tamis" intersect --timeout 1 --via 'cat >/dev/null' here
says 'silent for 1 seconds'
exits 4 "$tamis" intersect --via cat here
says 'both sides ask'

section 'Peers that lie'

liar=$(dirname "$tamis")/tests/intersect_liar
[ -n "${TAMIS_SANITIZED:-}" ] || ulimit -v 400000 # what is announced is not allocated
lies()
{
    local what=$1

    exits "$2" "$tamis" intersect -c -k bloom --timeout 1 --memory 16M --via "$liar $what 2>/dev/null" here
    says "$3"
}
lies huge 4 '1152921504606846976 elements are more than any file has'
lies sketch 4 'a sketch has 1616 bytes'
lies part 4 "a message of part 'K' came where 'S' was due"
lies many 4 'the answer is of 1099511627776 elements, of 4000 there are'
lies short 3 'closed the line'
lies long 4 'the answer is longer than announced'
lies stall 3 'silent for 1 seconds'
lies filter 4 'larger than --memory allows'
