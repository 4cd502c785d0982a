#!/usr/bin/env bash
# A full disk, a limit on file sizes, and too little memory: the old filter stays as it was, the
# exit code says what was missing, and nothing is left behind.
#
#     full_disk.sh TAMIS
set -u

tamis=$(realpath "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/tamis-full-XXXXXX")
disk=$work/disk
checks=0 failed=0
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

clean_up() {
    mountpoint -q "$disk" && umount "$disk"
    rm -rf "$work"
}
trap clean_up EXIT

expect() { # what, then a command that must succeed
    local what=$1
    shift
    checks=$((checks + 1))
    if ! "$@"; then
        failed=$((failed + 1))
        echo "FAILED: $what" >&2
    fi
}

exits() { # wanted code, then a command
    local wanted=$1 code=0
    shift
    "$@" >"$work/out" 2>"$work/err" || code=$?
    [ "$code" -eq "$wanted" ] && { [ "$code" -eq 0 ] || [ "$(wc -l <"$work/err")" -eq 1 ]; } ||
        { echo "exit $code, not $wanted; said: $(cat "$work/err")" >&2; false; }
}

# A folder with the old filter in it, alone and unchanged.
is_untouched() {
    [ "$(ls -A "$disk")" = old.tamis ] && cmp -s "$disk/old.tamis" "$work/old.tamis" &&
        "$tamis" verify "$disk/old.tamis" >/dev/null
}

seq 1 100 >"$work/few"
seq 1 300000 >"$work/many"
mkdir "$disk"
"$tamis" build -k blocked -n 1000 -o "$work/old.tamis" "$work/few" || exit 1

# ---- A disk of 64 KiB -------------------------------------------------------

if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=64k tmpfs "$disk" 2>"$work/err"; then
    cp "$work/old.tamis" "$disk/old.tamis"
    for kind in $("$tamis" kinds | awk '$NF ~ /build/ { print $1 }'); do
        expect "$kind: build on a full disk" \
            exits 3 "$tamis" build -k "$kind" -n 1000000 -o "$disk/old.tamis" "$work/few"
        expect "$kind: the old filter on a full disk" is_untouched
        expect "$kind: a new name on a full disk" \
            exits 3 "$tamis" build -k "$kind" -n 1000000 -o "$disk/new.tamis" "$work/few"
        expect "$kind: nothing left of the new name" is_untouched
    done
    head -c 60000 /dev/zero >"$disk/ballast" 2>/dev/null
    "$tamis" build -k blocked -n 4000 -o "$work/big.tamis" "$work/few"
    cp "$work/old.tamis" "$disk/old.tamis"
    expect "merge on a full disk" \
        exits 3 "$tamis" merge -o "$disk/old.tamis" "$work/big.tamis" "$work/big.tamis"
    rm "$disk/ballast"
    expect "the old filter after a failed merge" is_untouched
    expect "room again" exits 0 "$tamis" build -k blocked -n 1000 -o "$disk/old.tamis" "$work/few"
    umount "$disk"
else
    echo "full_disk: no small disk could be mounted ($(cat "$work/err" 2>/dev/null)): limits only"
fi

# ---- A limit on the size of files: the signal that comes with it must not kill ----

cp "$work/old.tamis" "$disk/old.tamis"
limited() { (ulimit -f 32 && exec "$@"); }
expect "build over ulimit -f" \
    exits 3 limited "$tamis" build -k bloom -n 1000000 -o "$disk/old.tamis" "$work/few"
expect "the old filter under ulimit -f" is_untouched
"$tamis" build -k blocked -n 300000 -o "$disk/large.tamis" "$work/few" && cp "$disk/large.tamis" "$work"
expect "add over ulimit -f" exits 3 limited "$tamis" add "$disk/large.tamis" "$work/many"
expect "the large filter under ulimit -f" cmp "$disk/large.tamis" "$work/large.tamis"
rm "$disk/large.tamis"
expect "nothing left under ulimit -f" is_untouched

# ---- Too little memory; a sanitizer needs terabytes of addresses for itself ----

if [ -z "${TAMIS_SANITIZED:-}" ]; then
    starved() { (ulimit -v 200000 && exec "$@"); }
    expect "build of 10^10 keys in 200 MB" \
        exits 6 starved "$tamis" build -k blocked -n 1e10 -o "$disk/old.tamis" "$work/few"
    expect "the old filter when memory is short" is_untouched
    "$tamis" build -k blocked -n 3e8 -o "$work/huge.tamis" "$work/few" || exit 1
    for command in "add $work/huge.tamis $work/few" "merge -o $disk/m $work/huge.tamis $work/huge.tamis"; do
        # shellcheck disable=SC2086
        expect "$command in 200 MB" exits 6 starved "$tamis" $command
    done
    expect "nothing left when memory is short" is_untouched
fi

echo "fault/full_disk: $checks checks, $failed failed"
[ "$failed" -eq 0 ] && [ "$checks" -gt 0 ]
