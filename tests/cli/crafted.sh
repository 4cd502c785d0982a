#!/usr/bin/env bash
# Keys chosen against a known seed: a small file of them costs little, whatever the kind makes of it.
. "$(dirname "$0")/check.sh"

promise 'Raw keys whose hashes differ in their lowest bits alone'
python3 >crafted <<'PYTHON'
ALL = 2**64 - 1

def mix(x):
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd & ALL
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53 & ALL
    return x ^ x >> 33

def unmix(x):
    x = (x ^ x >> 33) * 0x9cb4b2f8129337db & ALL
    x = (x ^ x >> 33) * 0x4f74430c22a54005 & ALL
    return x ^ x >> 33

salt = mix(0x9E3779B97F4A7C15)
assert unmix(mix(salt)) == salt
for low in range(2000):
    print(unmix(low) ^ salt)
PYTHON

promise 'Full, or made of them'
# In either case within 32 times their room, and without a large table.
[ -n "${TAMIS_SANITIZED:-}" ] || ulimit -v 400000
seq 200 >few
for kind in "${all_kinds[@]}"; do
    can "$kind" build || continue
    ! can "$kind" indexed || continue # takes small numbers only
    code=0
    "$tamis" build -k "$kind" --hash raw -p 0.01 -o out.tamis crafted >"$said/out" 2>"$said/err" || code=$?
    check "$kind: crafted keys are built or refused, exit $code" test "$code" = 0 -o "$code" = 5
    if can "$kind" grow; then
        exits 0 "$tamis" build -k "$kind" --grow --hash raw -n 200 -p 0.01 -o out.tamis few
        code=0
        "$tamis" add out.tamis crafted >"$said/out" 2>"$said/err" || code=$?
        check "$kind: crafted keys are added or refused, exit $code" test "$code" = 0 -o "$code" = 5
        exits 0 "$tamis" verify out.tamis
    fi
    [ ! -e out.tamis ] || check "$kind: the file is small" test "$(stat -c %s out.tamis)" -lt 2000000
    rm -f out.tamis
done
