#!/usr/bin/env bash
# tamis replicas: what comm, find and diff tell of two lists or two folders.
. "$(dirname "$0")/../../../tests/cli/check.sh"
export LC_ALL=C

# expect A B: what should be printed of two lists, in `expected`.
expect()
{
    { comm -23 <(sort -u "$1") <(sort -u "$2") | sed 's/^/< /'
      comm -13 <(sort -u "$1") <(sort -u "$2") | sed 's/^/> /'; } | sort -k 1.3 >expected
}

# compare A B [OPTION]...: here, and the other way round over a line.
compare()
{
    local a=$1 b=$2 code

    shift 2
    expect "$a" "$b"
    code=$([ -s expected ] && echo 1 || echo 0)
    exits "$code" "$tamis" replicas "$@" "$a" "$b"
    same "$said/out" expected
    says 'the chance that something was overlooked is'
}

section 'Lists'

dpkg-query -W -f '${Package} ${Version}\n' >packages
sed '5d;s/^\(lib[cx].*\)\./\1+/;$a extra 1.0' packages >others
sort -R --random-source=packages others >shuffled
: >empty
: >nothing
echo one >one
seq 1 6000 >many
seq 2000 2 8000 >more
pairs=('others packages' 'shuffled packages' 'packages packages' 'packages empty' 'empty nothing'
    'one empty' 'empty one' 'many more -p 0.3 --rounds 200' 'many more -p 1e-6')
[ -z "${TAMIS_SANITIZED:-}" ] || pairs=('others packages' 'packages empty' 'many more')
for pair in "${pairs[@]}"; do
    # shellcheck disable=SC2086
    compare $pair
done
{ cat packages; head -n 20 packages; printf 'last\0 \377 has no end'; } >odd
compare odd packages
gzip -k packages
exits 0 "$tamis" replicas packages.gz packages
exits 1 "$tamis" replicas --no-decompress packages.gz packages
exits 0 "$tamis" replicas - packages <packages
printf 'a\nb\0c\0' >nul.a
printf 'a\nb\0d\0' >nul.b
exits 1 "$tamis" replicas -z nul.a nul.b
prints_exactly '< c\0> d\0'

promise 'Over a line, which tells less than the names'
expect others packages
exits 1 "$tamis" replicas --stats --via "'$tamis' replicas --serve packages" others
same "$said/out" expected
says 'filters'
exits 0 "$tamis" replicas --json --via "'$tamis' replicas --serve packages" packages
json_holds 'equal' 'it["complete"]' 'it["bytes"] < 200' 'it["chance"] == 2 ** -64' 'it["rounds"] == 0' \
    'it["here"] == it["there"] == it["same"]' 'it["only_here"] == it["only_there"] == []'
exits 1 "$tamis" replicas --json many more
json_holds 'half of them differ' 'it["complete"]' 'len(it["only_here"]) == 3999' \
    'len(it["only_there"]) == 1000' 'it["same"] == 2001' 'it["chance"] < 1e-15' \
    'it["bytes"] == sum(it["sent"].values()) + sum(it["received"].values())'
exits 1 "$tamis" replicas -c --quiet many more
is_silent
prints_exactly '3999 only here, 1000 only there, 0 different, 2001 the same\n'
rm -f listener.err
"$tamis" replicas --listen 127.0.0.1:0 --timeout 20 packages >listener.out 2>listener.err &
until port=$(grep -os '[0-9]*$' listener.err); do
    sleep 0.01
done
exits 1 "$tamis" replicas --connect "127.0.0.1:$port" others
same "$said/out" expected
code=0
wait $! || code=$?
check 'the other side says that they differ' test "$code" -eq 1
check 'and nothing else' test ! -s listener.out

promise 'One round misses some, and says so'
exits 1 "$tamis" replicas --json -p 0.2 --rounds 1 many more
json_holds 'not all are found' 'not it["complete"]' 'it["chance"] == 1' 'it["rounds"] == 1' \
    'len(it["only_here"]) < 3999' 'it["overlooked"] > 100'
json 'it["only_here"]' | tr -d "[]',\n" | tr ' ' '\n' | sort >found
check 'none of them is wrong' test -z "$(comm -13 <(comm -23 <(sort many) <(sort more)) <(sort found) | grep .)"
exits 1 "$tamis" replicas -p 0.2 --rounds 1 many more
says 'more were overlooked'

section 'Folders'

# what_differs A B OPTION...: `!` where diff says so, '<' and '>' where find finds it on one side only.
what_differs()
{
    local a=$1 b=$2 code

    shift 2
    { comm -z -23 <(cd "$a" && find . -mindepth 1 -printf '%P\0' | sort -z) \
        <(cd "$b" && find . -mindepth 1 -printf '%P\0' | sort -z) | sed -z 's/^/< /'
      comm -z -13 <(cd "$a" && find . -mindepth 1 -printf '%P\0' | sort -z) \
        <(cd "$b" && find . -mindepth 1 -printf '%P\0' | sort -z) | sed -z 's/^/> /'
      cat differing; } | sort -z -k 1.3 >expected
    code=$([ -s expected ] && echo 1 || echo 0)
    exits "$code" "$tamis" replicas -z "$@" "$a" "$b"
    same "$said/out" expected
}

mkdir tree
cp -a /usr/share/doc/[a-b]* tree/
mkdir -p tree/empty tree/sub/deep
ln -s target tree/link
ln -s sub tree/folder.link
printf x >$'tree/new\nline'
printf x >$'tree/\377\376'
printf x >tree/-dash
cp -a tree copy
: >differing
what_differs tree copy
what_differs tree copy --checksum
rm -r copy/empty copy/-dash
ln -sf elsewhere copy/link
printf y >$'copy/new\nline'
mkdir copy/sub/more
mv copy/sub/deep copy/sub/deeper
rm copy/folder.link
printf x >copy/folder.link
touch -d '2001-01-01' copy/sub $'copy/\377\376'
promise 'Another size, and with the same size and time other bytes'
one=$(cd copy && find . -name copyright -type f -printf '%P\n' | sort | head -n 1)
two=$(cd copy && find . -name copyright -type f -printf '%P\n' | sort | sed -n 2p)
echo more >>"copy/$one"
sed 's/e/E/' "tree/$two" >"copy/$two"
touch -r "tree/$two" "copy/$two"
printf '! %s\0' link $'new\nline' folder.link "$one" "$two" >differing
what_differs tree copy --checksum
check 'so does diff' test "$(diff -rq --no-dereference tree copy | grep -c '^Files\|^Symbolic\|^File ')" -eq 5
printf '! %s\0' link folder.link "$one" >differing
what_differs tree copy --size-only
printf '! %s\0' link $'new\nline' folder.link $'\377\376' "$one" >differing
what_differs tree copy
exits 1 "$tamis" replicas -z --via "'$tamis' replicas --serve copy" tree
same "$said/out" expected
exits 1 "$tamis" replicas --json tree copy
prints_json
mkdir none
: >differing
what_differs none tree
what_differs none none
mkfifo none/pipe
exits 0 "$tamis" replicas none tree/sub/deep
says 'neither file, folder nor link'
if [ "$(id -u)" -ne 0 ]; then
    mkdir -m 000 none/closed
    exits 3 "$tamis" replicas none copy
    says 'closed'
fi

section 'Bad input'

if [ -z "${TAMIS_SANITIZED:-}" ]; then
    exits 2 "$tamis" replicas
    exits 2 "$tamis" replicas one
    says 'say how to reach the other side'
    exits 2 "$tamis" replicas one one one
    exits 2 "$tamis" replicas --via true one one
    exits 2 "$tamis" replicas --serve -
    exits 2 "$tamis" replicas - -
    exits 2 "$tamis" replicas one tree
    says 'give two of a kind'
    exits 2 "$tamis" replicas -p 0 one one
    exits 2 "$tamis" replicas --rounds 0 one one
fi
exits 3 "$tamis" replicas one missing
exits 3 "$tamis" replicas missing one
exits 4 "$tamis" replicas --via "'$tamis' replicas --serve tree 2>/dev/null" one
says 'the other a folder'
exits 4 "$tamis" replicas -z --via "'$tamis' replicas --serve one 2>/dev/null" one
says '--null on both'
absent_commands | grep -qx reconcile || exits 4 "$tamis" replicas --via "'$tamis' reconcile --serve one 2>/dev/null" one
exits 4 "$tamis" replicas --memory 1K --via "'$tamis' replicas --serve more 2>/dev/null" many
says 'larger than --memory allows'
[ ! -w /dev/full ] || exits 3 bash -c "'$tamis' replicas --quiet many more >/dev/full"

promise 'A bad line: each side says what happened, and nobody gets a wrong answer'
one=(--keep packages --keep others
    --ask "$tamis replicas --quiet --timeout 1 --connect {} others"
    --serve "$tamis replicas --timeout 1 --serve packages")
promise 'Frames have checksums: what a fault changes goes no further'
[ -n "${TAMIS_SANITIZED:-}" ] ||
    faults '' cut:up:0-:397 cut:down:0-:597 flip:up:60-:797 flip:down:60-:997
[ -z "${TAMIS_LONG:-}" ] || faults 1 cut:up:0- cut:down:0- flip:up:0- flip:down:0-

promise 'Peers that lie'
# Numbers are followed by sums of 8 bytes; a 1 stands before what is not compressed.
liar=$(dirname "$tamis")/tests/replicas_liar
sum=0000000000000000
serves()
{
    exits 4 "$tamis" replicas --timeout 5 --via "$liar serve ${*:2} 2>/dev/null" single
    says "$1"
}
echo single >single
two=02$sum
serves 'makes no sense' ?N N:05
serves 'makes no sense' ?N N:${two}00
serves 'makes no sense' ?N "N:ffffffffffffffffffff01$sum"
serves 'a filter makes no sense' ?N N:$two ?F F:01aabb
serves 'makes no sense' ?N N:$two ?F F:01 T:03$sum
serves 'another number of names' ?N N:$two ?F F:01 T:00$sum ?E L:01
serves 'another number of names' ?N N:$two ?F F:01 T:00$sum ?E L:01610a
serves 'that nobody lacks' ?N N:$two ?F F:01 T:00$sum ?E L:0173696e676c650a610a
serves 'not those that are missing' ?N N:$two ?F F:01 T:00$sum ?E L:01610a620a
serves 'has no end' ?N N:$two ?F F:01 T:00$sum ?E L:0161
mkfifo back
asks()
{
    "$liar" ask "${@:2}" <back 2>/dev/null |
        exits 4 bash -c "'$tamis' replicas --timeout 5 --serve packages >back"
    says "$1"
}
secret=73656372657473656372657473656372
question=A:${secret}000a00
asks 'makes no sense' A:${secret}000a07 N:$two
asks 'makes no sense' $question N:$two G:00$sum
asks 'makes no sense' $question N:$two G:18$sum
asks 'makes no sense' $question N:$two G:03$sum G:03$sum
asks 'makes no sense' $question N:$two G:03$sum D:01
asks 'makes no sense' $question N:$two F:01
asks 'makes no sense' $question N:$two R:00$sum F:01
asks 'a filter makes no sense' $question N:$two R:40$sum F:0133
asks "part 'X' makes no sense" $question N:$two X:01

section 'Terminals'

promise 'A terminal gets nothing that it would obey'
printf 'a\xc2\x9b31m\tb\x9b\n' >controls
exits 1 on_terminal "$tamis" replicas controls /dev/null
check "controls become question marks" grep -q $'^< a?31m\tb?\r*$' "$said/out"
