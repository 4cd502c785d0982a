#!/usr/bin/env bash
# demo/check.sh SOURCE BUILD: both demos show what they should, and what they say to try works.
set -euo pipefail

source=$1
build=$2
here=$PWD
words=${WORDS:-/usr/share/dict/american-english}

fail()
{
    echo "demo: $*" >&2
    exit 1
}

# try_all: the commands of standard input.
try_all()
{
    tried=0
    while read -r command; do
        echo "+ $command"
        bash -euo pipefail -c "$command" >"$here/printed" 2>"$here/complaints" ||
            fail "status $? from: $command"
        [ ! -s "$here/complaints" ] || fail "$(cat "$here/complaints"), from: $command"
        [ -s "$here/printed" ] || case $command in
        *" add "* | *" verify "*) ;;
        *) fail "nothing printed by: $command" ;;
        esac
        tried=$((tried + 1))
    done
}

# ---- One line of progress ------------------------------------------------------------------------

# demo/build with this in place of cmake: `$1` is what happens.
build_with()
{
    mkdir -p "$here/bin"
    printf '#!/bin/sh\n%s\n' "$1" >"$here/bin/cmake"
    chmod +x "$here/bin/cmake"
    PATH=$here/bin:$PATH "${@:2}" "$source/demo/build" tamis-cli >"$here/said" 2>"$here/complaints"
}

on_terminal()
{
    python3 -I -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@" </dev/null
}

build_with 'echo "[ 50%] Building C object a.o"; echo "a.c:1: warning"; echo "[100%] Built"' env ||
    fail "the build failed"
grep -qxE 'Building the program: [0-9]+ s *' "$here/said" || fail "said: $(cat "$here/said")"
[ "$(wc -l <"$here/said")" -eq 1 ] || fail "more than one line: $(cat "$here/said")"
build_with 'echo "[ 50%] Building C object a.o"; echo "a.c:1: warning"' on_terminal || fail "the build failed"
tr '\r' '\n' <"$here/said" | grep -qx 'Building the program: \[ 50%\]' || fail "no progress: $(cat "$here/said")"
[ "$(wc -l <"$here/said")" -eq 1 ] || fail "more than one line: $(cat "$here/said")"
! build_with 'echo "a.c:1: error"; exit 1' env || fail "a build that fails did not"
grep -qx 'a.c:1: error' "$here/complaints" || fail "the error was not shown"

# ---- A list of words -----------------------------------------------------------------------------

cd "$source"
# In a list of another language, nothing is found.
printf '%s\n' sieb käse >"$here/words"
demo/words "$build" "$here/words" >"$here/said" || fail "not with another list"
grep -qE '^ +measured ' "$here/said" || fail "not all of it with another list"
demo/words "$build" "$words" | tee "$here/said"
[ "$(wc -l <"$here/said")" -le 39 ] || fail "with the line of progress, that is more than 40 lines"
for word in sieve beleives neccessary; do
    grep -qw "$word" "$here/said" || fail "$word is missing"
done
grep -qx "$(sort -u "$words" | wc -l)" "$here/said" || fail "not every word was found"
# A rate above this would be met once in a billion lists, if the promise is kept.
awk '$1 == "promised" { p = $2 / 100 } $1 == "measured" { m = $2 / 100 }
     END { exit !(p > 0 && p <= 0.01 && m > 0 && m <= p + 6 * sqrt(p / 1e7)) }' "$here/said" ||
    fail "the promise was not kept"
try_all < <(sed -n '/Try next:/,$s/^    \(command line\|C\) *//p' "$here/said")
[ "$tried" -eq 2 ] || fail "$tried commands to try"
targets=$(sed -n '/Try next:/,$s/^    .* make \([a-z-]*\) .*/\1/p' "$here/said")
[ "$(wc -w <<<"$targets")" -eq 2 ] || fail "targets to try: $targets"
for target in $targets; do
    make -n "$target" >/dev/null || fail "there is no make $target"
done

# ---- Every kind ----------------------------------------------------------------------------------

rm -f "$here"/*.tamis
# Some words are as telling, and all of them are for a long run.
if [ -z "${TAMIS_LONG:-}" ]; then
    awk 'NR % 40 == 0' "$words" >"$here/words"
    words=$here/words
fi
"$build/tamis-demo-kinds" "$words" demo/text.txt "$here" | tee "$here/said"

# shellcheck disable=SC2013
for kind in $("$build/tamis" kinds | awk '$NF ~ /build/ { print $1 }'); do
    grep -q "^$kind " "$here/said" || fail "no row for $kind"
done
for mistake in beleives neccessary seive; do
    grep -q "^Misspelled:.* $mistake" "$here/said" || fail "$mistake passed for a word"
done
try_all < <(sed -n '/Try next:/,$s/^    //p' "$here/said")
[ "$tried" -ge 5 ] || fail "only $tried commands to try"
