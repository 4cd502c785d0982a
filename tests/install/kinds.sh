#!/usr/bin/env bash
# kinds.sh SOURCE BUILD: a library of some kinds, and a program of some applications. A program with one
# Bloom filter takes less than 200 KB; what is not there is refused, and not offered.
. "$(dirname "$0")/scratch.sh"
cd "$scratch"

# is_small OBJECT...: a program made of them, which runs.
is_small()
{
    "$cc" -std=c11 -I"$source/include" "$source/tests/install/consumer.c" "$@" -lm -pthread -s \
        -o consumer
    ./consumer >version || fail "status $? from a program linked to $*"
    echo "a program with one Bloom filter: $(stat -c %s consumer) bytes"
    [ "$(stat -c %s consumer)" -lt 200000 ] || fail "it is not below 200 KB"
}

# Only one object differs: the table of kinds.
names_of_kinds()
{
    sed -nE 's/^ *X\([A-Z0-9_]+, [0-9]+, ([a-z0-9_]+), "[a-z0-9-]+".*/\1/p' "$source/include/tamis.h"
}

mapfile -t absent < <(names_of_kinds | grep -vx bloom | sed 's/.*/-Dtamis__&=tamis__left_out/')
[ "${#absent[@]}" -gt 20 ] || fail "no kinds in tamis.h"
"$cc" -std=c11 -O2 -I"$source/include" -I"$source/src" "${absent[@]}" -c "$source/src/core/kinds.c"
is_small kinds.o "$build/libtamis.a"

[ -n "${TAMIS_LONG:-}" ] || exit 0

# ---- The same by CMake, in a long run --------------------------------------------------------------

applications=$(cd "$source/apps" && printf '%s\n' * | sed -nE '/^(join|spell)$/p' | paste -sd';') # not if deleted
cmake -S "$source" -B "$scratch/build" --log-level=NOTICE -DTAMIS_WERROR=ON -DTAMIS_KINDS='bloom;blocked' \
    -DTAMIS_APPS="$applications"
cmake --build "$scratch/build" -j2 --target tamis-cli tamis-static tamis-shared >log || {
    cat log >&2
    fail "a library of two kinds does not build"
}
is_small build/libtamis.a
[ "$(build/tamis kinds | awk 'NR > 1 { printf "%s ", $1 }')" = 'bloom blocked ' ] || fail "other kinds"
seq 1000 | build/tamis build -k blocked -o a.tamis
[ "$(seq 1000 | build/tamis query -c a.tamis)" = 1000 ] || fail "keys are lost"
seq 1000 | "$build/tamis" build -k fuse -o fuse.tamis
! build/tamis query -c fuse.tamis </dev/null 2>said || fail "a filter of a missing kind is taken"
grep -q '^tamis: fuse.tamis: ' said || fail "it says: $(cat said)"
build/tamis help >help
[[ $applications != *join* ]] || grep -q 'join two tables' help || fail "join is not offered"
[[ $applications != *spell* ]] || grep -q 'More: .* spell$' help || fail "spell is not offered"
! grep -Eq 'Two machines|match|guard' help || fail "applications are offered that were left out"
! cmake -S "$source" -B "$scratch/none" -DTAMIS_KINDS=blom >log 2>&1 || fail "blom passes for a kind"
grep -q 'no kind is called blom' log || fail "it does not say why"
