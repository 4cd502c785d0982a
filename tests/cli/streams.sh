#!/usr/bin/env bash
# Streams and disks that fail: nothing is lost without a word, nothing hangs, nothing is left behind.
. "$(dirname "$0")/check.sh"

seq 200000 >keys
seq 10 >few
exits 0 "$tamis" build -k bloom -o f.tamis keys

section 'Standard input, output and error'

exits 3 "$tamis" query f.tamis <&-
says "standard input"
exits 3 "$tamis" build -k bloom -o out.tamis <&-
check_not "no filter of nothing" test -e out.tamis
exits 3 "$tamis" add f.tamis <&-
exits 3 "$tamis" query f.tamis - <&-
exits 0 "$tamis" query -c f.tamis few <&-
prints_exactly '10\n'

# without_output CODE COMMAND...: standard output is closed, then full.
without_output()
{
    local wanted=$1 code

    shift
    code=0
    "$@" >&- 2>"$said/err" || code=$?
    check "exit $code instead of $wanted when output is closed: $*" test "$code" = "$wanted"
    code=0
    "$@" >/dev/full 2>"$said/err" || code=$?
    check "exit $code instead of $wanted when output is full: $*" test "$code" = "$wanted"
    [ "$wanted" = 0 ] || says "standard output"
}
without_output 3 "$tamis" query f.tamis keys
without_output 3 "$tamis" query -j 4 f.tamis keys
without_output 3 "$tamis" query -c f.tamis keys
without_output 3 "$tamis" count f.tamis few
without_output 3 "$tamis" info f.tamis
without_output 3 "$tamis" info --json f.tamis
without_output 3 "$tamis" plan -n 1000
without_output 3 "$tamis" kinds
without_output 3 "$tamis" kinds --json
without_output 3 "$tamis" verify f.tamis
without_output 3 "$tamis" help
without_output 3 "$tamis" help build
without_output 3 "$tamis" build --help
without_output 3 "$tamis" --version
without_output 0 "$tamis" query -q f.tamis keys
without_output 0 "$tamis" build -k bloom -o out.tamis keys
same out.tamis f.tamis
exits 0 "$tamis" verify out.tamis

"$tamis" query f.tamis keys >"$said/out" 2>&-
same "$said/out" keys
(exec 0<&- 1>&- 2>&-; "$tamis" build -k bloom -o closed.tamis keys)
same closed.tamis f.tamis
(exec 0<&- 1>&- 2>&-; "$tamis" add closed.tamis few)
exits 0 "$tamis" verify closed.tamis

promise 'A pipe that breaks ends the command, by the signal or by its exit code'
for threads in 1 4; do
    codes=$(set +o pipefail; "$tamis" query -j "$threads" f.tamis keys keys keys 2>"$said/err" | head -1 >/dev/null
        echo "${PIPESTATUS[0]}")
    check "a broken pipe is no success (exit $codes)" test "$codes" = 141 -o "$codes" = 3
    codes=$(trap '' PIPE; "$tamis" query -j "$threads" f.tamis keys keys keys 2>"$said/err" | head -1 >/dev/null
        echo "${PIPESTATUS[0]}")
    check "nor when the signal is ignored (exit $codes)" test "$codes" = 3
done

section 'Strange files'

mkfifo pipe
exec 9<>pipe # nobody waits for a writer, and what is written is no filter
head -c 60000 /dev/zero >&9
mkdir folder
for command in query count add remove info verify; do
    for file in pipe folder /dev/null /dev/zero; do
        code=0
        timeout 20 "$tamis" "$command" "$file" <few >"$said/out" 2>"$said/err" || code=$?
        check "$command $file: exit $code is 3 or 4" test "$code" = 3 -o "$code" = 4
        check "$command $file: says so in one line" is_one_message
        prints_nothing
    done
done
for file in pipe folder; do
    code=0
    timeout 20 "$tamis" merge -o out.tamis "$file" f.tamis >"$said/out" 2>"$said/err" || code=$?
    check "merge $file: exit $code is 3 or 4" test "$code" = 3 -o "$code" = 4
done
exec 9>&-
exits 3 "$tamis" query f.tamis folder
exits 3 "$tamis" build -k bloom -o out.tamis folder
exits 3 "$tamis" query "$(printf 'x%.0s' $(seq 5000))" few
exits 3 "$tamis" query f.tamis "$(printf 'x%.0s' $(seq 5000))"
exits 3 "$tamis" query $'two\nlines' few
says 'two?lines'

if [ "$(id -u)" -ne 0 ] || command -v setpriv >/dev/null; then
    as_user()
    {
        if [ "$(id -u)" -eq 0 ]; then
            setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
        else
            "$@"
        fi
    }
    mkdir open && chmod 777 open && chmod 755 "$said" "$work"
    cp f.tamis open/f.tamis && cp few open/few
    chmod 000 open/f.tamis
    if as_user "$tamis" --version >/dev/null 2>&1; then
        exits 3 as_user "$tamis" query open/f.tamis few
        says "Permission denied"
        exits 3 as_user "$tamis" add open/f.tamis few
        chmod 644 open/f.tamis && chmod 755 open
        [ "$(id -u)" -eq 0 ] || chmod 555 open
        exits 3 as_user "$tamis" add open/f.tamis few
        same open/f.tamis f.tamis
        exits 3 as_user "$tamis" build -k bloom -o open/new.tamis few
        chmod 755 open
    else
        skip "the program cannot be run by another user: permissions were not tried"
    fi
else
    skip "root without setpriv: permissions were not tried"
fi

section 'Disks that fill'

mkdir disk
if mount -t tmpfs -o size=64k tamis disk 2>/dev/null; then
    exits 0 "$tamis" build -k bloom -n 10000 -o disk/f.tamis few
    cp disk/f.tamis before.tamis
    exits 3 "$tamis" build -k bloom -o disk/g.tamis keys
    says "No space left"
    check "nothing is left behind" test "$(ls -A disk)" = f.tamis
    head -c 100000 /dev/zero >disk/filler 2>/dev/null
    exits 3 "$tamis" add disk/f.tamis keys
    same disk/f.tamis before.tamis
    check "nothing is left behind" test "$(ls -A disk | wc -l)" = 2
    exits 3 bash -c '"$0" query f.tamis keys >disk/out' "$tamis"
    umount disk
else
    skip "no tmpfs could be mounted (not root?): full disks were tried with ulimit -f only"
fi

mkdir limited
exits 0 "$tamis" build -k bloom -n 10000 -o limited/f.tamis few
cp limited/f.tamis before.tamis
(failures=0; ulimit -f 8; exits 3 "$tamis" build -k bloom -o limited/g.tamis keys; exit "$failures")
check "a limit on file sizes is an error" test $? = 0
(failures=0; ulimit -f 8; exits 3 "$tamis" add limited/f.tamis keys; exit "$failures")
check "also for add" test $? = 0
same limited/f.tamis before.tamis
check "nothing is left behind" test "$(ls -A limited)" = f.tamis

section 'Memory'

if [ -z "${TAMIS_SANITIZED:-}" ]; then
    exits 6 bash -c 'ulimit -v 200000; exec "$0" build -k bloom -n 1e9 -o large.tamis few' "$tamis"
    says "out of memory"
    check_not "nothing was saved" test -e large.tamis
    exits 6 bash -c 'ulimit -v 200000; head -c 500M /dev/zero | "$0" query f.tamis' "$tamis"
fi

section 'Signals'

exits 0 "$tamis" build -k bloom -n 20M -o many.tamis few
cp many.tamis before.tamis
for _ in $(seq 20); do
    for signal in INT TERM HUP; do
        "$tamis" add many.tamis few 2>"$said/err" &
        pid=$!
        sleep "0.0$((RANDOM % 10))"
        kill -s "$signal" "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
done
exits 0 "$tamis" verify many.tamis
check "no temporary file is left" test -z "$(find . -maxdepth 1 -name '*many*' ! -name many.tamis)"

section 'Terminals'

exits 0 "$tamis" query -c f.tamis keys
is_silent # no progress bar where nobody looks

# on_terminal OPTION...: what a terminal shows of a query that takes longer than a second.
on_terminal()
{
    python3 - "$said/shown" bash -c '(echo none; sleep 1.2; seq 11 19; sleep 0.2; seq 21 29) | "$@"' - "$@" <<'PYTHON'
import os, pty, sys

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown = b""
try:
    while piece := os.read(terminal, 65536):
        shown += piece
except OSError:
    pass
open(sys.argv[1], "wb").write(shown)
PYTHON
}

on_terminal "$tamis" query -c f.tamis
check "a bar on a terminal, with its rate" has_line "$said/shown" 'MiB, .*/s'
on_terminal "$tamis" query -c --no-progress f.tamis
check_not "none if it is not wanted" has_line "$said/shown" MiB
on_terminal "$tamis" query f.tamis
check "none among lines" test "$(sed '1,/^19/d' "$said/shown" | grep -c MiB)" = 0
(seq 3; sleep 1.2; seq 4 5) | exits 0 "$tamis" query --progress f.tamis
says "/s"
prints_exactly '1\n2\n3\n4\n5\n'
