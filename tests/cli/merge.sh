#!/usr/bin/env bash
# tamis merge and fold.
. "$(dirname "$0")/check.sh"

seq 1 3000 >one
seq 2001 5000 >two
seq 5001 6000 >three
seq 1 6000 >all
seq 10001 20000 >strangers

promise 'A merged filter has the keys of all, and no more than one that is built of them'
for kind in $(kinds_that merge); do
    for name in one two three all; do
        exits 0 "$tamis" build -k "$kind" -n 10000 -o "$name.tamis" "$name"
    done
    exits 0 "$tamis" merge -o out.tamis one.tamis two.tamis three.tamis
    is_silent
    exits 0 "$tamis" query out.tamis all
    same "$said/out" all
    exits 0 "$tamis" verify out.tamis
    if can "$kind" patch || can "$kind" exact; then # no bit or key more than if built at once
        exits 0 "$tamis" query -c all.tamis all strangers
        cp "$said/out" wanted
        exits 0 "$tamis" query -c out.tamis all strangers
        same "$said/out" wanted
    fi
    exits 0 "$tamis" merge -o one.tamis one.tamis two.tamis
    exits 0 "$tamis" query -c one.tamis one two
    prints_exactly '6000\n'
    exits 0 "$tamis" merge one.tamis one.tamis -o self.tamis
    exits 0 "$tamis" query -c self.tamis one two
    prints_exactly '6000\n'
done

promise 'Exact sets of any size: two full ones make a larger one'
for kind in $(kinds_that exact); do
    can "$kind" list && can "$kind" add || continue
    for name in one two three; do
        exits 0 "$tamis" build -k "$kind" -o "$name.tamis" "$name"
    done
    exits 0 "$tamis" merge -o out.tamis one.tamis two.tamis three.tamis
    exits 0 "$tamis" query out.tamis all strangers
    same "$said/out" all
    exits 0 "$tamis" info --json out.tamis
    json_is "$kind: it holds each key once" 'it[0]["keys"]' 6000
    exits 0 "$tamis" build -k "$kind" -n 20000 -o roomy.tamis one
    exits 0 "$tamis" merge -o out.tamis two.tamis roomy.tamis
    exits 0 "$tamis" info --json out.tamis
    json_is "$kind: the larger room stays" 'it[0]["plan"]["keys"]' 20000
done
exits 0 "$tamis" build -k hashset --hash raw --seed 1 -o one.tamis one
exits 0 "$tamis" build -k hashset --hash raw --seed 2 -o two.tamis two
exits 0 "$tamis" merge -o out.tamis one.tamis two.tamis
exits 0 "$tamis" query -c out.tamis one two strangers
prints_exactly '6000\n'

# What differs is named.
refused()
{
    rm -f out.tamis
    exits 2 "$tamis" merge -o out.tamis one.tamis two.tamis
    says "one.tamis and two.tamis differ in $1"
    check_not "nothing was saved" test -e out.tamis
}
for kind in bloom hashset; do
    "$tamis" build -k "$kind" -n 10000 -o one.tamis one
    "$tamis" build -k "$kind" -n 10000 --seed 1 -o two.tamis two
    refused seed
    "$tamis" build -k "$kind" -n 10000 --hash raw -o two.tamis two
    refused hash
    "$tamis" build -k partitioned -n 10000 -o two.tamis two
    refused kind
    "$tamis" build -k "$kind" -n 10000 --hash keyed -o one.tamis one
    "$tamis" build -k "$kind" -n 10000 --hash keyed -o two.tamis two
    refused secret
    cp one.tamis two.tamis
    "$tamis" add two.tamis two
    exits 0 "$tamis" merge -o out.tamis one.tamis two.tamis
done
"$tamis" build -k bloom -n 10000 -o one.tamis one
"$tamis" build -k bloom -n 20000 -o two.tamis two
refused size
exits 2 "$tamis" merge -o out.tamis one.tamis
says "two FILEs"
exits 2 "$tamis" merge one.tamis two.tamis
says "-o OUT"
exits 3 "$tamis" merge -o out.tamis one.tamis missing.tamis
exits 3 "$tamis" merge -o out.tamis missing.tamis one.tamis
exits 4 "$tamis" merge -o out.tamis one.tamis all
exits 4 "$tamis" merge -o out.tamis all one.tamis
for kind in $(kinds_that build); do
    if ! can "$kind" merge && ! { can "$kind" list && can "$kind" add; }; then
        "$tamis" build -k "$kind" -o one.tamis one
        exits 2 "$tamis" merge -o out.tamis one.tamis one.tamis
        says "cannot merge"
    fi
done

section 'Intersect and subtract'

seq 2001 3000 >common
seq 1 2000 >rest
for kind in $(kinds_that intersect); do
    for name in one two common; do
        exits 0 "$tamis" build -k "$kind" -n 10000 -p 1e-6 -o "$name.tamis" "$name"
    done
    exits 0 "$tamis" merge --intersect -o out.tamis one.tamis two.tamis
    is_silent
    exits 0 "$tamis" query out.tamis common
    same "$said/out" common
    exits 0 "$tamis" query -c out.tamis all
    check "$kind: few others" test "$(cat "$said/out")" -le 1005
    exits 0 "$tamis" verify out.tamis
    if ! can "$kind" remove; then
        exits 2 "$tamis" merge --subtract -o none.tamis one.tamis common.tamis
        says "cannot remove and intersect; these kinds can: bitmap, hashset"
        check_not "nothing was saved" test -e none.tamis
        continue
    fi
    exits 0 "$tamis" merge --subtract -o out.tamis one.tamis common.tamis
    is_silent
    exits 0 "$tamis" query -c out.tamis rest
    prints_exactly '2000\n'
    exits 0 "$tamis" verify out.tamis
    if can "$kind" exact; then
        exits 0 "$tamis" merge --subtract -o out.tamis one.tamis two.tamis
        exits 0 "$tamis" query out.tamis all
        same "$said/out" rest
        exits 0 "$tamis" build -k "$kind" -o small.tamis common
        exits 0 "$tamis" merge --subtract -o out.tamis one.tamis small.tamis
        exits 0 "$tamis" query out.tamis all
        same "$said/out" rest
        exits 0 "$tamis" merge --intersect -o out.tamis one.tamis small.tamis two.tamis
        exits 0 "$tamis" query out.tamis all
        same "$said/out" common
    else
        exits 1 "$tamis" query out.tamis common
        exits 2 "$tamis" merge --subtract -o none.tamis one.tamis two.tamis
        says "two.tamis holds what one.tamis does not"
        check_not "nothing was saved" test -e none.tamis
    fi
done
for kind in $(kinds_that count); do # the lower count, and what is left of the higher
    can "$kind" intersect && can "$kind" remove || continue
    printf '%s\n' a a a b c c | "$tamis" build -k "$kind" -n 100 -p 1e-6 -o one.tamis
    printf '%s\n' a a c | "$tamis" build -k "$kind" -n 100 -p 1e-6 -o two.tamis
    exits 0 "$tamis" merge --intersect -o common.tamis one.tamis two.tamis
    printf '%s\n' a b c | "$tamis" count common.tamis >counts
    check "$kind: common counts" diff counts - <<<$'2\ta\n0\tb\n1\tc'
    exits 0 "$tamis" merge --subtract -o rest.tamis one.tamis two.tamis
    printf '%s\n' a b c | "$tamis" count rest.tamis >counts
    check "$kind: what is left" diff counts - <<<$'1\ta\n1\tb\n1\tc'
done
exits 0 "$tamis" build -k fuse -o one.tamis one
exits 2 "$tamis" merge --intersect -o none.tamis one.tamis one.tamis
says "cannot intersect; these kinds can"
exits 2 "$tamis" merge --intersect --subtract -o none.tamis one.tamis one.tamis
says "--intersect or --subtract, once"

section 'Fold'

# fold_factor FILE: the smallest one, or nothing.
fold_factor()
{
    "$tamis" info --json "$1" >"$said/out"
    json "next((n for n in range(2, 100) if next(iter(it[0]['plan']['shape'].values())) % n == 0), '')"
}

for kind in $(kinds_that fold); do
    by=
    for n in $(seq 10000 10020); do
        exits 0 "$tamis" build -k "$kind" -n "$n" -p 0.001 -o large.tamis all
        by=$(fold_factor large.tamis)
        [ -z "$by" ] || break
    done
    check "$kind: some size can be folded" test -n "$by"
    exits 0 "$tamis" fold -o small.tamis --by "$by" large.tamis
    is_silent
    exits 0 "$tamis" query small.tamis all
    same "$said/out" all
    check "$kind: it is smaller" test "$(stat -c %s small.tamis)" -lt "$(stat -c %s large.tamis)"
    exits 0 "$tamis" verify small.tamis
    exits 0 "$tamis" fold -o small.tamis --max-bytes "$(($(stat -c %s large.tamis) / by))" large.tamis
    exits 0 "$tamis" query small.tamis all
    same "$said/out" all
    exits 2 "$tamis" fold -o none.tamis --max-bytes 1 large.tamis
    says "large.tamis: it cannot be made as small as 1 bytes without its keys"
    exits 2 "$tamis" fold -o none.tamis --by 1000003 large.tamis
    says "1000003 does not divide"
    says "up to 16 these do: $([ "$by" -gt 16 ] && echo none || echo "$by")"
    check_not "nothing was saved" test -e none.tamis
done
for kind in $(kinds_that build); do
    if ! can "$kind" fold; then
        exits 0 "$tamis" build -k "$kind" -o f.tamis one
        exits 2 "$tamis" fold -o none.tamis --by 2 f.tamis
        says "cannot fold"
    fi
done
exits 2 "$tamis" fold --by 2 large.tamis
exits 2 "$tamis" fold -o out.tamis large.tamis
exits 2 "$tamis" fold -o out.tamis --by 2
exits 2 "$tamis" fold -o out.tamis --by 2 large.tamis large.tamis
exits 2 "$tamis" fold -o out.tamis --by 2 --max-bytes 1K large.tamis
exits 2 "$tamis" fold -o out.tamis --max-bytes 0 large.tamis
exits 2 "$tamis" fold -o out.tamis --by 0 large.tamis
exits 2 "$tamis" fold -o out.tamis --by 1 large.tamis
exits 2 "$tamis" fold -o out.tamis --by x large.tamis
exits 3 "$tamis" fold -o out.tamis --by 2 missing.tamis
exits 4 "$tamis" fold -o out.tamis --by 2 all

section 'Two writers'

promise 'A union that replaces one of its files keeps what is added to it meanwhile'
seq 1 10 >few
exits 0 "$tamis" build -k bloom -n 5000 -o shared.tamis few
exits 0 "$tamis" build -k bloom -n 5000 -o other.tamis few
for i in $(seq 40); do
    "$tamis" merge -o shared.tamis shared.tamis other.tamis || echo "merge $i failed" >>trouble
done &
for i in $(seq 40); do
    echo "key $i" | "$tamis" add shared.tamis || echo "add $i failed" >>trouble
done
wait
seq -f 'key %g' 40 >added
exits 0 "$tamis" query shared.tamis added
same "$said/out" added
check "both went well" test ! -e trouble

section 'Rebuilt filters'

promise 'A filter that was built like another can be merged with it, whatever its secret'
seq 1000 >old
seq 501 1500 >new
for kind in $(kinds_that merge | grep -vx bitmap); do
    exits 0 "$tamis" build -k "$kind" -n 3000 --hash keyed -o guard.tamis old
    exits 0 "$tamis" build --like guard.tamis -o again.tamis new
    is_silent
    exits 0 "$tamis" merge -o both.tamis guard.tamis again.tamis
    exits 1 "$tamis" query -v -c both.tamis old new
    prints_exactly '0\n'
done
exits 0 "$tamis" build --like guard.tamis -o guard.tamis new
exits 1 "$tamis" query -v -c guard.tamis new
prints_exactly '0\n'
exits 1 "$tamis" build --like guard.tamis -o none.tamis /dev/null
says "there is no key"

promise 'Kinds that are made at once get the rate and the hash of the other'
for kind in fuse ribbon gcs; do
    exits 0 "$tamis" build -k "$kind" -p 1e-4 --seed 7 -o first.tamis old
    exits 0 "$tamis" build --like first.tamis -o second.tamis old
    same first.tamis second.tamis
done
awk '{ print $1 "\t" $1 % 100 }' old >values
for kind in map hashmap; do
    exits 0 "$tamis" build -k "$kind" --values-field 2 --seed 7 -o first.tamis values
    exits 0 "$tamis" build --like first.tamis --values-field 2 -o second.tamis values
    same first.tamis second.tamis
done

promise 'A plan is that of the other, or of options'
for option in '-k bloom' '-n 10' '-p 0.1' '--hash fast' '--seed 3' '--can add' '--secret-file old'; do
    # shellcheck disable=SC2086
    exits 2 "$tamis" build --like guard.tamis $option -o none.tamis old
    says "--like has all of the plan"
done
exits 3 "$tamis" build --like nowhere -o none.tamis old
exits 4 "$tamis" build --like old -o none.tamis old

promise 'Filters with one --secret-file, and no others, can be merged'
printf '%s\n' 000102030405060708090a0b0c0d0e0F >digits
printf '\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17' >bytes
chmod 600 digits bytes
exits 0 "$tamis" build -k bloom -n 3000 --secret-file digits -o first.tamis old
exits 0 "$tamis" build -k bloom -n 3000 --hash keyed --secret-file bytes -o second.tamis old
same first.tamis second.tamis
check "the file is private" test "$(stat -c %a first.tamis)" = 600
exits 0 "$tamis" build -k bloom -n 3000 --hash keyed -o second.tamis new
exits 2 "$tamis" merge -o both.tamis first.tamis second.tamis
says "differ in secret; build one with --like the other, or both with one --secret-file"

promise 'A secret that is none, or that others can read, is refused'
chmod 640 digits
exits 2 "$tamis" build -k bloom --secret-file digits -o none.tamis old
says "'chmod 600' it"
exits 0 "$tamis" build -k bloom -n 3000 --secret-file <(cat digits) -o second.tamis old
same first.tamis second.tamis
for text in '' 0001 "$(printf '%032d' 0)" "$(printf '%033d' 1)" "$(printf '%031dg' 1)"; do
    exits 2 "$tamis" build -k bloom --secret-file <(printf %s "$text") -o none.tamis old
    says "a secret is 16 bytes or 32 hexadecimal digits"
done
exits 2 "$tamis" build -k bloom --hash raw --secret-file bytes -o none.tamis old
says "--secret-file is for --hash keyed"
exits 3 "$tamis" build -k bloom --secret-file nowhere -o none.tamis old

promise 'build --queries says how many answers will be wrong'
exits 0 "$tamis" build -k bloom -n 1000 -p 0.01 --queries 1e6 -o first.tamis old
says "of 1000000 queries for keys that are not in it, expect 9974 wrong answers"
exits 0 "$tamis" build -k bloom -n 1000 -p 0.01 --queries 1e6 --json -o first.tamis old
json_holds "the same" 'round(it["expected_wrong"]) == 9974'
is_silent
exits 0 "$tamis" build -k hashset --queries 1e6 -o first.tamis old
says "expect 0 wrong answers"
