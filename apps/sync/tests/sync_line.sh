#!/usr/bin/env bash
# tamis sync over bad lines, with sides that are killed, and with peers that lie.
. "$(dirname "$0")/../../../tests/cli/check.sh"

section 'Cut and damaged'

seq 1 30000 >new
{ seq 1 9000; echo changed; seq 9002 20000; } >old
ask="$tamis sync --timeout 2 --checksum new - --connect {}"

# bad_line FAULT...: the destination is as it was, or as it shall be.
bad_line()
{
    cp old dest
    one=(--keep dest --ask "$ask" --serve "$tamis sync --timeout 2 --serve dest")
    faults '' "$@"
    rm -rf dest*
}
if [ -n "${TAMIS_LONG:-}" ]; then
    bad_line cut:up:0- cut:down:0- flip:up:0- flip:down:0-
elif [ -n "${TAMIS_SANITIZED:-}" ]; then
    bad_line cut:up:0-80:19 cut:down:0-60:13 cut:up:80-:1500 flip:up:80-:1600 flip:down:60-:300
else
    bad_line cut:up:0-67 cut:down:0-41 cut:up:67-:1000 cut:down:41-:1000 flip:up:40-:700 \
        flip:down:40-:300
fi
ask="$tamis sync --timeout 2 --checksum --blocks new - --connect {}"
bad_line cut:up:500-:4000 flip:up:500-:4000 flip:down:60-:900 stall:down:50

section 'Killed'

"$python" -I - <<'END'
import random

r = random.Random(1)
for name in "ab":
    open(name, "wb").write(r.randbytes(3000000))
END
for side in ask serve; do
    for wait in 0.02 0.05 0.1 0.2; do
        cp a dest
        serve="$tamis sync --serve dest" prefix=
        [ $side = ask ] || serve="timeout -s KILL $wait $serve"
        [ $side = serve ] || prefix="timeout -s KILL $wait"
        { $prefix "$tamis" sync --checksum --via "$serve" b -; } 2>/dev/null
        sleep 0.05 # the other side notices
        check "killed after $wait s, at the side of $side" test "$(cmp -s a dest; echo $?)" = 0 -o \
            "$(cmp -s b dest; echo $?)" = 0
    done
done
check "nothing is left behind" test -z "$(find . -name '.dest*')"

section 'Peers that lie'

liar=$(dirname "$tamis")/tests/sync_liar
[ -n "${TAMIS_SANITIZED:-}" ] || ulimit -v 600000 # what is announced is not allocated

# pulls WHAT CODE TEXT: from a sender that lies.
pulls()
{
    exits "$2" "$tamis" sync -r --timeout 60 --memory 64M --via "$liar '$1' 2>/dev/null" - kept/here
    says "$3"
}
mkdir -p kept/here
ln -s .. kept/here/out
for name in ../escaped /tmp/escaped a/../../escaped a//b . a/. ..; do
    pulls "name:$name" 4 'leads out of the folder'
done
promise 'No control characters of a name reach the terminal'
# CSI of two bytes and of one, a mark that turns text around.
pulls $'name:\xc2\x9b31m\xe2\x80\xaex\x9by\xc3\xa9/..' 4 "the name '?31m?x?y"$'\xc3\xa9'"/..' leads out"
check_not "no control reaches the terminal" grep -qP '\xc2\x9b|\x9b|\xe2\x80\xae' "$said/err"
pulls twice 4 'names came out of order'
pulls through-link 3 'cannot enter the folder of kept/here/link/escaped'
pulls through-own-link 3 'cannot enter the folder of kept/here/out/escaped'
pulls count 4 'a list of files that came makes no sense'
pulls flood 4 'larger than --memory allows'
promise 'What is announced and unpacked takes no more memory than is allowed'
(
    failures=0
    [ -n "${TAMIS_SANITIZED:-}" ] || ulimit -v 250000 # KiB: of --memory 64M, and of the program itself
    pulls entries:5900000 4 'a list of 5900000 files takes more than 67108864 bytes'
    pulls entries:12000000 4 'a list of 12000000 files takes more than 67108864 bytes'
    [ "$failures" -eq 0 ]
) || failed "a list takes more memory than is allowed"
pulls entries:50000000 4 'larger than --memory allows'
pulls window 4 "a message of part 'L' cannot be unpacked"
check "nothing is made" test "$(find kept | wc -l)" = 3
promise 'A sender that asks does the same to --serve and --listen'
mkfifo back
"$liar" ask:entries:5900000 <back 2>/dev/null |
    exits 4 bash -c "'$tamis' sync --serve --timeout 60 --memory 64M kept/here >back"
says 'a list of 5900000 files takes more than 67108864 bytes'
exits 4 bash -c "'$tamis' sync --listen 127.0.0.1:0 --timeout 60 --memory 64M kept/here 2>listener & there=\$!
    until port=\$(grep -os '[0-9]*\$' listener); do sleep 0.01; done
    exec 3<>/dev/tcp/127.0.0.1/\$port
    '$liar' ask:entries:5900000 <&3 >&3 2>/dev/null
    exec 3>&-
    wait \$there; code=\$?; tail -1 listener >&2; exit \$code"
says 'a list of 5900000 files takes more than 67108864 bytes'
promise 'Two thousand folders, one in the other, are not walked for each, and not held open'
# The way to the last one has 4,000 bytes.
(
    failures=0
    ulimit -n 200
    [ -n "${TAMIS_SANITIZED:-}" ] || ulimit -t 4
    exits 3 "$tamis" sync -r --timeout 60 --via "$liar nested:2000 2>/dev/null; exit 9" - deep
    says "ended with code 9"
    check "all are made" test "$(cd deep && find . | wc -l)" = 2001
    exits 0 "$tamis" sync -r --json deep deeper
    json_holds "and copied" 'it["new"] == 2001'
    rm -r deep
    mkdir deep
    echo file >deep/a
    mkfifo deeper/a/a/pipe
    exits 0 "$tamis" sync -r --delete deep deeper
    check "and deleted" cmp -s deep/a deeper/a
    [ "$failures" -eq 0 ]
) || failed "nested folders"
rm -rf deep deeper
check_not "nothing is written outside" test -e kept/escaped -o -e escaped -o -e /tmp/escaped
rm -r kept/here
: >kept/here
pulls size 4 'fewer bytes of files came than were announced'
pulls content 4 'came out wrong again'
promise 'Of what is compressed, no more comes to the disk than is allowed'
# It may have many times its bytes.
(
    failures=0
    ulimit -f 20000
    exits 4 "$tamis" sync --timeout 60 --limit-size 16M --via "$liar zeros:2000000000 2>/dev/null" - kept/here
    says 'files of more than 16777216 bytes would come; --limit-size allows more'
    [ "$failures" -eq 0 ]
) || failed "more is written than is allowed"
if [ -n "${TAMIS_LONG:-}" ]; then
    exits 4 "$tamis" sync --via "$liar zeros:2000000000 2>/dev/null" - kept/here
    says 'unpacks to more than 1024 times its bytes; --limit-size allows that'
fi
check "the file is as it was" test -f kept/here -a ! -s kept/here
check "and nothing is left" test "$(ls -A kept)" = here

: >kept/$'\xc2\x9b31m'
exits 0 "$tamis" sync -n -r kept nowhere
prints 'makes    ?31m'

# pushes WHAT CODE TEXT: to a receiver that lies.
pushes()
{
    exits "$2" "$tamis" sync --timeout 60 --memory 64M --via "$liar '$1' 2>/dev/null" new -
    says "$3"
}
pushes plan 4 'a plan that came makes no sense'
pushes symbols 4 'symbols'
pushes signature 4 'a signature that came makes no sense'
pushes never-content 4 'makes no sense'
