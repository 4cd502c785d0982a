#!/usr/bin/env bash
# tamis lab hash: known hashes, evenness, avalanche, families, and two halves of one hash.
. "$(dirname "$0")/../../../tests/cli/check.sh"

section 'Known answers'

promise 'V2: anagrams have one sum of characters, and other hashes of all other functions'
exits 0 "$tamis" lab hash --of silent --of listen --json
is_silent
json_holds "V2: silent and listen" \
    "[r['value'] for r in it['rows'] if r['hash'] == 'sum'] == ['28f', '28f']" \
    "all(len({r['value'] for r in it['rows'] if r['hash'] == name}) == 2 \
     for name in {r['hash'] for r in it['rows']} - {'sum'})"

# value HASH TEXT WANTED
value()
{
    exits 0 "$tamis" lab hash --of "$2" --json
    json_holds "$1 of $2" "[r['value'] for r in it['rows'] if r['hash'] == '$1'] == ['$3']"
}

value times-31 'hello world' 6aefe2c4
value fnv-1a hello a430d84680aabd0b
value murmur3 hello cbd8a7b341bd9b02
value xxh3 hello 9555e8555c62dcfd
value siphash hello 4fb3985767df81

promise 'Another seed draws other functions of a family'
exits 0 "$tamis" lab hash --of silent --seed 2
cp "$said/out" two
exits 0 "$tamis" lab hash --of silent --seed 3
differ "$said/out" two

section 'The experiment'

seq 1 3000 | sed 's/.*/word&/' >words
exits 0 "$tamis" lab hash --quick --words words --json
is_silent
json_holds "all tests of all functions" \
    "{r['test'] for r in it['rows']} == {'buckets', 'clashes', 'avalanche', 'family', 'bloom'}" \
    "len({r['hash'] for r in it['rows'] if r['test'] == 'buckets'}) == 11" \
    "all(r.get('inside', True) for r in it['rows'])" \
    "len([r for r in it['rows'] if 'inside' in r]) == 17" \
    "{r['n'] for r in it['rows'] if r['keys'] == 'words'} == {3000}"
promise 'What random functions look like, and what others do not'
json_holds "good functions are even" \
    "all(r['verdict'] == 'even' and 0.0005 < r['p'] < 0.9995 for r in it['rows'] \
     if r['test'] == 'buckets' and r['hash'] in ('murmur3', 'tabulation', 'xxh3', 'siphash'))" \
    "all(r['verdict'] == '100 % of bits' for r in it['rows'] \
     if r['test'] == 'avalanche' and r['hash'] in ('murmur3', 'xxh3', 'siphash'))"
json_holds "simple ones are not" \
    "all(r['verdict'] == 'uneven' and r['p'] < 1e-9 for r in it['rows'] \
     if r['test'] == 'buckets' and r['hash'] in ('sum', 'knuth'))" \
    "[r['verdict'] for r in it['rows'] if r['test'] == 'buckets' and r['hash'] == 'division' \
     and r['keys'] == 'integers'] == ['too even']" \
    "all(r['found'] > 10 * r['theory'] for r in it['rows'] \
     if r['test'] == 'clashes' and r['hash'] == 'sum')"
check_not "no times unless asked for" has_line "$said/out" '"ns"'
exits 0 "$tamis" lab hash --quick --words words --time --json --buckets 127
json_holds "times and buckets" "all('ns' in r for r in it['rows'] if r['test'] == 'buckets')" \
    "{r['theory'] for r in it['rows'] if r['test'] == 'buckets'} == {126}"

section 'What is wrong is said'

exits 2 "$tamis" lab hash --buckets 1024
says 'is a prime'
exits 3 "$tamis" lab hash --words nowhere
: >nothing
exits 2 "$tamis" lab hash --words nothing
says 'has no line'
