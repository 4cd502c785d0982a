#!/usr/bin/env bash
# tamis lab table: probes against load, and tables typed by hand.
. "$(dirname "$0")/../../../tests/cli/check.sh"

section 'The phone book of the lectures'

promise 'Four names; two have one home and become neighbours'
exits 0 "$tamis" lab table --put ann=5550101@873 --put bob=5550102@873 --put cleo=5550103@999 \
    --put dan=5550104@1 --json
is_silent
json_holds "the phone book" "len(it['rows']) == 8" \
    "[(r['key'], r['slot']) for r in it['rows'][:4]] == \
     [('ann', 873), ('bob', 874), ('cleo', 999), ('dan', 1)]" \
    "[r['probes'] for r in it['rows'][:4]] == [1, 2, 1, 1]" \
    "{r['key']: r['value'] for r in it['rows'][4:]} == \
     {'ann': 5550101, 'bob': 5550102, 'cleo': 5550103, 'dan': 5550104}"

promise 'The last slot is followed by the first'
exits 0 "$tamis" lab table --put cleo=3@999 --put eve=5@999 --json
json_holds "around the end" "it['rows'][1]['slot'] == 0" "it['rows'][1]['home'] == 999"

section 'Steps, each way'

for way in chaining linear quadratic double robin-hood; do
    exits 0 "$tamis" lab table --way "$way" --slots 8 --put a=1@3 --put b=2@3 --put c=3@11 \
        --put b=22 --get b --remove a --get a --get c --remove z@3 --json --svg small.svg
    json_holds "$way" \
        "[r['step'] for r in it['rows']] == \
         ['put', 'put', 'put', 'update', 'get', 'remove', 'get', 'get', 'remove', 'list', 'list']" \
        "[r['done'] for r in it['rows']] == \
         ['yes', 'yes', 'yes', 'yes', 'yes', 'yes', 'no', 'yes', 'no', 'yes', 'yes']" \
        "it['rows'][3]['value'] == it['rows'][4]['value'] == 22" \
        "sorted((r['key'], r['value']) for r in it['rows'][9:]) == [('b', 22), ('c', 3)]" \
        "all(r['home'] == 3 for r in it['rows'])"
    check "$way: the picture names what is there" has_line small.svg '>b  22<'
done

promise 'A table that is full says so'
exits 0 "$tamis" lab table --slots 1 --put a=1 --put b=2 --json
json_holds "full" "[r['done'] for r in it['rows']] == ['yes', 'no', 'yes']"

section 'Theory'

exits 0 "$tamis" lab table --quick --json
json_holds "inside" "all(r.get('inside', True) for r in it['rows'])" \
    "len([r for r in it['rows'] if r.get('inside')]) == 42" \
    "{r['table'] for r in it['rows']} == \
     {'chaining', 'linear', 'quadratic', 'double', 'robin-hood'}" \
    "all(r['low'] <= r['exact'] <= r['high'] for r in it['rows'] if 'inside' in r)"
promise "Knuth's formulas hold at half load"
# 1.5 and 2.5 for linear probing, 1.386 and 2 for double hashing.
json_holds "Knuth" "[round(r['textbook'], 3) for r in it['rows'] \
    if r['load'] == 0.5 and r['table'] in ('linear', 'double')] == [1.5, 2.5, 1.386, 2.0]"
exits 0 "$tamis" lab table --quick --way linear --slots 64 --json
json_holds "one way" "{r['table'] for r in it['rows']} == {'linear'}"

section 'What is wrong is said'

exits 2 "$tamis" lab table --slots 100
says 'power of two'
exits 2 "$tamis" lab table --way cubic
says 'chaining, linear, quadratic'
for text in '' '=1' a=x a=1@ a@y "$(printf 'x%.0s' {1..30})"; do
    exits 2 "$tamis" lab table --put "$text"
    says 'is not NAME=VALUE'
done
