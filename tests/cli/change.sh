#!/usr/bin/env bash
# tamis add and remove: in place, all or nothing, one writer at a time.
. "$(dirname "$0")/check.sh"

seq 1000 >old
seq 1001 2000 >new
seq 1 2000 >both

# The cuckoo family puts keys where there is room when they come: built at once, they lie elsewhere.
same_filters()
{
    case $kind in
    cuckoo* | morton)
        "$tamis" count f.tamis both >counts
        "$tamis" count whole.tamis both >expected
        same counts expected
        ;;
    *) same f.tamis whole.tamis ;;
    esac
}

promise 'What is added is in the filter, as if it had been built with it'
for kind in $(kinds_that add); do
    for threads in 1 4; do
        exits 0 "$tamis" build -k "$kind" -n 3000 -p 0.001 -o f.tamis old
        exits 0 "$tamis" add -j "$threads" f.tamis new
        is_silent
        prints_nothing
        exits 0 "$tamis" query f.tamis both
        same "$said/out" both
        exits 0 "$tamis" verify f.tamis
        exits 0 "$tamis" build -k "$kind" -n 3000 -p 0.001 -o whole.tamis both
        same_filters
    done
    exits 0 "$tamis" add f.tamis </dev/null
    same_filters
    exits 0 "$tamis" add --absent f.tamis both both
    is_silent
    same_filters
    exits 2 "$tamis" add --absent --memory 1M f.tamis both
done

promise 'What is removed is gone; what was not there is told'
for kind in $(kinds_that remove); do
    for threads in 1 4; do
        exits 0 "$tamis" build -k "$kind" -n 3000 -o f.tamis both
        exits 0 "$tamis" remove -j "$threads" f.tamis old
        is_silent
        exits 0 "$tamis" query -c f.tamis new
        prints_exactly '1000\n'
        if can "$kind" exact; then
            exits 1 "$tamis" query f.tamis old
            cp f.tamis before.tamis
            exits 1 "$tamis" remove f.tamis old
            says "1000 of 1000 keys were not in it"
            same f.tamis before.tamis
            exits 0 "$tamis" remove f.tamis both
            says "1000 of 2000 keys were not in it"
            exits 1 "$tamis" query f.tamis both
            exits 1 "$tamis" remove f.tamis <<<99999999
        fi
        exits 1 "$tamis" remove f.tamis </dev/null
    done
done

promise 'Kinds that cannot add or remove say which ones can, and stay as they are'
for kind in $(kinds_that build); do
    exits 0 "$tamis" build -k "$kind" -o f.tamis old
    cp f.tamis before.tamis
    if ! can "$kind" remove; then
        exits 2 "$tamis" remove f.tamis old
        says "$kind filters cannot remove; these kinds can:"
        says "hashset"
        same f.tamis before.tamis
    fi
    if ! can "$kind" add; then
        exits 2 "$tamis" add f.tamis new
        says "$kind filters cannot add; these kinds can:"
        same f.tamis before.tamis
    fi
done

promise 'Failures change nothing'
exits 0 "$tamis" build -k hashset -n 1500 -o f.tamis old
cp f.tamis before.tamis
exits 5 "$tamis" add f.tamis new
says "full"
same f.tamis before.tamis
exits 3 "$tamis" add f.tamis old missing
same f.tamis before.tamis
exits 0 "$tamis" build -k bloom -n 1000 -o f.tamis old
exits 0 "$tamis" add f.tamis new
says "f.tamis holds 2000 keys and was planned for 1000"
promise 'More keys than a window remembers are what it is for'
for kind in $(kinds_that rotate); do
    exits 0 "$tamis" build -k "$kind" -n 1000 -o f.tamis old
    exits 0 "$tamis" add f.tamis new
    is_silent
done
for kind in $(kinds_that indexed); do
    exits 0 "$tamis" build -k "$kind" -o i.tamis old
    cp i.tamis before.tamis
    exits 5 "$tamis" add i.tamis new
    says "new, line 1:"
    same i.tamis before.tamis
done

promise 'The file keeps its name, its mode and the link to it'
exits 0 "$tamis" build -k bloom -n 3000 -o real.tamis old
chmod 640 real.tamis
ln -s real.tamis link.tamis
exits 0 "$tamis" add link.tamis new
check "the link is a link" test -L link.tamis
check "the mode is kept" test "$(stat -c %a real.tamis)" = 640
exits 0 "$tamis" query -c real.tamis both
prints_exactly '2000\n'

promise 'Eight writers at once, fifty times'
exits 0 "$tamis" build -k bloom -n 100000 -p 1e-9 --allow-empty -o shared.tamis /dev/null
for writer in $(seq 8); do
    for turn in $(seq 50); do
        seq "$writer$(printf %03d "$turn")0" "$writer$(printf %03d "$turn")9" |
            "$tamis" add shared.tamis || echo "writer $writer, turn $turn: $?"
    done >"log$writer" 2>&1 &
done
wait
check "no writer complained" test -z "$(cat log*)"
for writer in $(seq 8); do
    seq "${writer}0010" "${writer}0509"
done >wanted
exits 0 "$tamis" query shared.tamis wanted
same "$said/out" wanted
exits 0 "$tamis" verify shared.tamis
check "nothing is left behind" test -z "$(find . -name '.*' -type f)"

promise 'A writer waits for one that holds the lock, and reads what that one wrote'
exits 0 "$tamis" build -k bloom -n 3000 -o slow.tamis old
mkfifo pipe
"$tamis" add slow.tamis <pipe &
first=$!
exec 9>pipe
echo apple >&9
for _ in $(seq 200); do
    flock -n slow.tamis true || break
    sleep 0.05
done
check "the first holds a lock" test "$(flock -n slow.tamis echo free)" != free
"$tamis" add slow.tamis <<<pear 9>&- &
second=$!
sleep 0.3
check "the second waits" kill -0 "$second"
exec 9>&-
check "the first ends well" wait "$first"
check "so does the second" wait "$second"
exits 0 "$tamis" query -c slow.tamis <<<$'apple\npear'
prints_exactly '2\n'

exits 3 "$tamis" add missing.tamis old
exits 3 "$tamis" remove missing.tamis old

section 'Secrets'

mode_of()
{
    stat -c %a "$1"
}

exits 0 "$tamis" build -k bloom -n 100 --hash keyed -o secret.tamis old
check "a secret is for its owner alone" test "$(mode_of secret.tamis)" = 600
rm secret.tamis
exits 0 "$tamis" build -k bloom -n 100 -o secret.tamis old
chmod 644 secret.tamis
exits 0 "$tamis" add secret.tamis new
check "the mode is kept" test "$(mode_of secret.tamis)" = 644
exits 0 "$tamis" build -k bloom -n 100 --hash keyed -o secret.tamis old
check "a secret is not shown to those who read what it replaces" test "$(mode_of secret.tamis)" = 600
chmod 640 secret.tamis
exits 0 "$tamis" add secret.tamis new
check "a secret that is shown on purpose stays so" test "$(mode_of secret.tamis)" = 640
