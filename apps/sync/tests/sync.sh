#!/usr/bin/env bash
# tamis sync: a file or a folder becomes as another is.
. "$(dirname "$0")/../../../tests/cli/check.sh"

serve()
{
    echo "$tamis sync --serve $*"
}

# becomes WHAT OPTION...: `to`, a copy of `old`, becomes as `new` is.
becomes()
{
    local what=$1

    shift
    rm -rf to
    cp old to
    exits 0 "$tamis" sync --checksum --json "$@" new to
    check "$what" cmp -s new to
}

section 'One file'

"$python" -I - <<'END'
import random

r = random.Random(3)
words = [bytes(r.choices(range(97, 123), k=r.randint(2, 9))) for _ in range(3000)]
text = lambda n: b" ".join(r.choices(words, k=n))
old = text(25000)
long = text(120000)
edited = bytearray(long)
for at in range(50000, len(long), 100000):
    edited[at : at + 5] = b"HELLO"
pairs = {
    "empty": (b"", b""),
    "emptied": (old, b""),
    "filled": (b"", old),
    "same": (old, old),
    "one_byte": (b"a", b"b"),
    "zeros": (bytes(100000), bytes(100001)),
    "periodic": (b"abcdefg" * 9999, b"abcdefg" * 10999),
    "appended": (old, old + text(2000)),
    "truncated": (old, old[:70000]),
    "inserted": (long, text(9) + long),
    "edited": (long, bytes(edited)),
    "moved": (old, old[60000:] + old[:60000]),
    "other": (old, text(25000)),
    "random": (r.randbytes(50000), r.randbytes(50000)),
}
for name, (before, after) in pairs.items():
    open(f"{name}.old", "wb").write(before)
    open(f"{name}.new", "wb").write(after)
END
for old in *.old; do
    name=${old%.old}
    mv "$name.old" old && mv "$name.new" new
    if [ "$name" = moved ]; then # chunks in another order are noticed, and tried again
        becomes "$name" --blocks
        cp old to && exits 0 "$tamis" sync --chunks --json new to
        json_holds "$name" 'it["again"] == 1'
        same new to
    fi
    becomes "$name"
    cp old "$name.old" && cp new "$name.new"
done
exits 0 "$tamis" sync --json --via "$(serve to)" other.new -
same other.new to
exits 0 "$tamis" sync --json --via "$(serve to)" - pulled
same other.new pulled
cp edited.old old && cp edited.new new
# The least of three: each run draws where chunks end, and one in 300 takes twice the usual bytes.
bytes_of()
{
    for _ in 1 2 3; do
        becomes edited "$@"
        json 'it["bytes"]'
    done | sort -n | head -n 1
}
few=$(bytes_of) chunks=$(bytes_of --chunks) blocks=$(bytes_of --blocks)
check "chunks find scattered edits: $chunks of $blocks" test $((2 * chunks)) -lt "$blocks"
check "and are chosen: $few" test $((2 * few)) -lt "$blocks"
cp inserted.old old && cp inserted.new new
chunks=$(bytes_of --chunks) blocks=$(bytes_of --blocks)
check "and what was shifted: $chunks of $blocks" test $((2 * chunks)) -lt "$blocks"

chmod 640 to
exits 0 "$tamis" sync edited.new to
check "the mode stays" test "$(stat -c %a to)" = 640
check "the time is that of the other" test "$(stat -c %Y to)" = "$(stat -c %Y edited.new)"
exits 0 "$tamis" sync --json edited.new to
json_holds "nothing to do" 'it["bytes"] < 200' 'it["changed"] == 0'
ln -s to link
exits 0 "$tamis" sync other.new link
check "what a link names is written" test -L link
same other.new to
exits 0 "$tamis" sync --stats edited.new to
says 'total'
exits 0 "$tamis" sync -n other.new to
prints_exactly "changes  .\n"
same edited.new to

section 'Folders'

make_tree()
{
    mkdir -p "$1"/{a/b/c,a0,empty,"with blanks"} && cd "$1" || exit
    for i in $(seq 20) 40; do seq "$i" $((i * 40)) >"a/b/$i"; done
    echo 'its name begins as that of a' >a0/file
    printf 'x' >$'with blanks/new\nline'
    printf 'y' >'with blanks/żółć'
    printf 'z' >"'quoted' \$HOME \`ls\`"
    ln -s ../40 a/b/c/link
    ln -s nowhere dangling
    chmod 600 a/b/7
    chmod 750 empty
    cd ..
}
make_tree src
exits 0 "$tamis" sync -r src dest
same_tree()
{
    local a b

    check "the same files" diff -r --no-dereference src "$1"
    a=$(cd src && find . -printf '%p %y %m %T@ %l\n' | sort)
    b=$(cd "$1" && find . -printf '%p %y %m %T@ %l\n' | sort)
    check "names, modes, times, links: $(diff <(echo "$a") <(echo "$b") | head -4)" test "$a" = "$b"
}
same_tree dest
exits 0 "$tamis" sync -r --json src dest
json_holds "nothing to do" 'it["bytes"] < 400' 'it["new"] + it["changed"] == 0'

# What differs is found by either side, and by contents too.
change_tree()
{
    echo more >>src/a/b/40
    seq 500 >src/a/b/new
    chmod 755 src/a/b/7
    rm src/a/b/9 src/dangling && ln -s elsewhere src/dangling
    rm -r src/empty && echo file >src/empty
    rm src/a/b/10 && mkdir src/a/b/10 && echo in >src/a/b/10/file
}
cp -a dest there
change_tree
exits 0 "$tamis" sync -rn src there
prints 'changes  a/b/40'
prints 'makes    a/b/new'
check "a dry run does nothing" diff -r --no-dereference there dest
exits 0 "$tamis" sync -rn --delete --via "$(serve there)" src -
prints 'deletes  a/b/9'
exits 0 "$tamis" sync -r --via "$(serve there)" src -
check "nothing is deleted that is not asked for" test -e there/a/b/9
exits 0 "$tamis" sync -r --delete --json --via "$(serve src)" - there
json_holds "one is deleted" 'it["deleted"] == 1' 'it["new"] == 0'
same_tree there
exits 0 "$tamis" sync -r --delete --checksum src dest
same_tree dest
touch -d '2001-02-03' dest/a/b/40
exits 0 "$tamis" sync -r --json --checksum src dest
json_holds "times do not count" 'it["bytes"] < 400' 'it["changed"] == 0'
mkdir few && echo x >few/x
exits 0 "$tamis" sync -r few dest.few
exits 0 "$tamis" sync -r --json --checksum few dest.few
json_holds "nor of a few files" 'it["changed"] == 0'
exits 0 "$tamis" sync -r --json src dest
json_holds "times count, but the file is the same" 'it["bytes"] < 600' 'it["file_bytes"] == 0'
same_tree dest
mkdir dest/a/b/11.d && echo x >dest/a/b/11.d/x && rm -r dest/a/b/11 && mv dest/a/b/11.d dest/a/b/11
exits 3 "$tamis" sync -r src dest
says 'dest/a/b/11 is a folder that is not empty; --delete allows to replace it'
exits 0 "$tamis" sync -r --delete src dest
same_tree dest

section 'Refusals'

exits 2 "$tamis" sync src dest
says 'src is a folder; -r takes folders'
exits 2 "$tamis" sync src
exits 2 "$tamis" sync host:a host:b
exits 2 "$tamis" sync -- '-oProxyCommand=touch harm:a' b
says "no host is called '-oProxyCommand=touch harm'"
check_not "and no command is run" test -e harm
exits 2 "$tamis" sync --via "$(serve src)" src dest
says "one of SRC and DEST is '-'"
exits 3 "$tamis" sync nowhere dest
says 'cannot read nowhere'
exits 3 "$tamis" sync edited.new /nowhere/file
exits 4 "$tamis" sync -r --via "$(serve --read-only dest 2\>/dev/null)" src -
says 'this side is read-only'
exits 0 "$tamis" sync -r --via "$(serve --read-only src)" - dest
exits 3 "$tamis" sync --limit-bytes 1000 other.new far
says 'limit-bytes'
check_not "nothing is written" test -e far

section 'Over ssh'

# A server of one's own: keys, settings and port in this folder.
sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) || sshd=
check "sshd is installed; tools/bootstrap check does that" test -n "$sshd"
[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd # where it parts its privileges
mkdir -m 700 ssh
ssh-keygen -q -t ed25519 -N '' -f ssh/host
ssh-keygen -q -t ed25519 -N '' -f ssh/user
cp ssh/user.pub ssh/authorized
port=$("$python" -I -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >ssh/config <<END
ListenAddress 127.0.0.1:$port
HostKey $work/ssh/host
AuthorizedKeysFile $work/ssh/authorized
PidFile $work/ssh/pid
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
END
"$sshd" -f "$work/ssh/config" -E "$work/ssh/log"
for _ in $(seq 100); do [ ! -s ssh/pid ] || break; sleep 0.05; done
check "sshd runs: $(head -3 ssh/log)" test -s ssh/pid
ssh="ssh -p $port -i $work/ssh/user -o IdentitiesOnly=yes -o BatchMode=yes -o LogLevel=ERROR"
ssh+=" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
there="$work/over ssh/it's"
mkdir "over ssh"
exits 0 "$tamis" sync -r --rsh "$ssh" --tamis "$tamis" src "127.0.0.1:$there"
same_tree "$there"
exits 0 "$tamis" sync -r --rsh "$ssh" --tamis "$tamis" "127.0.0.1:$there" back
same_tree back
exits 3 "$tamis" sync -r --rsh "$ssh 2>/dev/null" --tamis /nowhere/tamis src 127.0.0.1:there
[ ! -s ssh/pid ] || kill "$(cat ssh/pid)"
