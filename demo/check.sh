#!/usr/bin/env bash
# demo/check.sh SOURCE BUILD: the demo has a row for every kind that words can make, and what it says to try works.
set -euo pipefail

source=$1
build=$2
here=$PWD
rm -f ./*.tamis
# Some words are as telling, and all of them are for a long run.
words=${WORDS:-/usr/share/dict/american-english}
if [ -z "${TAMIS_LONG:-}" ]; then
    awk 'NR % 40 == 0' "$words" >"$here/words"
    words=$here/words
fi

fail()
{
    echo "demo: $*" >&2
    exit 1
}

cd "$source"
"$build/tamis-demo" "$words" demo/text.txt "$here" | tee "$here/said"

# shellcheck disable=SC2013
for kind in $("$build/tamis" kinds | awk '$NF ~ /build/ { print $1 }'); do
    grep -q "^$kind " "$here/said" || fail "no row for $kind"
done
for mistake in beleives neccessary seive; do
    grep -q "^Misspelled:.* $mistake" "$here/said" || fail "$mistake passed for a word"
done

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
done < <(sed -n '/Try next:/,$s/^    //p' "$here/said")
[ "$tried" -ge 5 ] || fail "only $tried commands to try"
