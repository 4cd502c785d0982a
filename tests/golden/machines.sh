#!/usr/bin/env bash
# The same command gives the same bytes on an old processor: the C library has other versions of
# exp() and pow() for it, whose last bits differ, and no such bit may show in an image.
#
#     machines.sh TAMIS
set -u
shopt -s lastpipe

tamis=$(realpath "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/tamis-machines-XXXXXX")
trap 'rm -rf "$work"' EXIT
checks=0 failed=0

# What glibc calls the features that its mathematics and this library look for.
OLD=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX2_Usable,-FMA_Usable

sizes='7 1000 300000' rates='0.3 0.0007'
[ -z "${TAMIS_LONG:-}" ] || sizes='4 7 60 1000 12345 300000' rates='0.3 0.01 0.0007 1e-6'
seq 0 3 >"$work/plain"
seq 0 3 | awk '{ print $1 "\t" $1 * 5 }' >"$work/valued"
seq 4 900 >"$work/others"
"$tamis" kinds | awk 'NR > 1 { print $1, $NF }' | while read -r kind abilities; do
    keys_of=("$work/plain")
    case ,$abilities, in
    *,get,*) keys_of=(--values-field 2 "$work/valued") ;;
    *,exclude,*) keys_of=(--universe "$work/others" "$work/plain") ;;
    esac
    for keys in $sizes; do
        for fpr in $rates; do
            checks=$((checks + 1))
            "$tamis" build -k "$kind" -n "$keys" -p "$fpr" -o "$work/here" "${keys_of[@]}" &&
                GLIBC_TUNABLES=$OLD "$tamis" build -k "$kind" -n "$keys" -p "$fpr" -o "$work/there" \
                    "${keys_of[@]}" && cmp -s "$work/here" "$work/there" && continue
            failed=$((failed + 1))
            echo "FAILED: $kind of $keys keys at $fpr: other bytes on an old processor" >&2
        done
    done
done

echo "golden/machines: $checks checks, $failed failed"
[ "$failed" -eq 0 ]
