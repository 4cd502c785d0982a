#!/usr/bin/env bash
# Compressed inputs are read by their first bytes, whatever their names; bad ones are errors.
. "$(dirname "$0")/check.sh"

seq 60000 >keys
exits 0 "$tamis" build -k bloom -o plain.tamis keys
declare -A packs=([gzip]='gzip -c' [zstd]='zstd -qc' [xz]='xz -c')
declare -A libraries=([gzip]=zlib [zstd]=libzstd [xz]=liblzma)

# Without its library, the error names it, and bytes can be taken as they are.
without_library()
{
    says "built without ${libraries[$1]}"
    says "--no-decompress"
    check_not "nothing was saved" test -e read.tamis
    skip "this program reads no $1"
}

reads_some=
for name in xz gzip zstd; do
    read -ra pack <<<"${packs[$name]}"
    if ! command -v "${pack[0]}" >/dev/null; then
        skip "no ${pack[0]} here"
        continue
    fi
    "${pack[@]}" keys >packed
    if ! "$tamis" query -c plain.tamis packed >"$said/out" 2>"$said/err"; then
        exits 3 "$tamis" build -k bloom -o read.tamis packed
        without_library "$name"
        continue
    fi

    for threads in 1 3; do
        exits 0 "$tamis" build -j "$threads" -k bloom -o read.tamis packed
        is_silent
        same read.tamis plain.tamis
    done
    exits 0 "$tamis" build -k bloom -o read.tamis <packed
    same read.tamis plain.tamis
    # shellcheck disable=SC2002
    cat packed | exits 0 "$tamis" query plain.tamis
    same "$said/out" keys

    promise 'Bytes that trickle in are known all the same'
    { for i in 0 1 2 3 4 5; do tail -c +$((i + 1)) packed | head -c 1; sleep 0.01; done; tail -c +7 packed; } |
        exits 0 "$tamis" query plain.tamis
    same "$said/out" keys

    promise 'Several compressed files in one input, an empty one and plain ones among them'
    { head -20000 keys | "${pack[@]}"; "${pack[@]}" </dev/null; tail -n +20001 keys | "${pack[@]}"; } >several
    exits 0 "$tamis" build -k bloom -o read.tamis several
    same read.tamis plain.tamis
    exits 0 "$tamis" query plain.tamis packed keys packed
    cat keys keys keys | same "$said/out" /dev/stdin
    printf 'a\nb' | "${pack[@]}" >unended
    exits 1 "$tamis" query -c plain.tamis unended
    exits 0 "$tamis" query -v plain.tamis unended keys
    prints_exactly 'a\nb\n'

    promise 'What is damaged is an error, at the end of any prefix too'
    # The old filter stays.
    cp plain.tamis old.tamis
    size=$(stat -c %s packed)
    for length in 7 100 $((size / 2)) $((size - 9)) $((size - 1)); do
        head -c "$length" packed >short
        exits 3 "$tamis" build -k bloom -o old.tamis short
        says "ends too early"
        says "short"
    done
    # shellcheck disable=SC2002
    cat short | exits 3 "$tamis" build -k bloom -o old.tamis
    says "standard input: the compressed data ends too early"
    cp packed bad
    printf '\xff\xff\xff\xff' | dd of=bad bs=1 seek=$((size / 2)) conv=notrunc status=none
    exits 3 "$tamis" build -k bloom -o old.tamis bad
    says "bad: the compressed data is damaged"
    { cat packed; echo no longer compressed; } >trailed
    exits 3 "$tamis" build -k bloom -o old.tamis trailed
    says "damaged"
    same old.tamis plain.tamis

    promise 'As they are, if asked for'
    exits 0 "$tamis" build --no-decompress -k bloom -o raw.tamis packed
    differ raw.tamis plain.tamis
    exits 0 "$tamis" query --no-decompress raw.tamis packed
    { cat packed; echo; } | cmp -n "$size" - "$said/out"
    check "the bytes themselves" test $? = 0

    promise 'Far more lines than bytes take no more memory than others'
    yes '' | head -c 20M | "${pack[@]}" -1 >bomb
    if [ -z "${TAMIS_SANITIZED:-}" ]; then
        exits 0 bash -c 'ulimit -v 400000; exec "$0" build -j 1 -n 10 -k bloom -o bomb.tamis bomb' "$tamis"
    fi
    reads_some=yes
done

promise 'Nor does a line without end'
if [ -n "$reads_some" ] && command -v "${pack[0]}" >/dev/null; then
    head -c 300M /dev/zero | "${pack[@]}" -1 >bomb
    exits 3 "$tamis" build -k bloom -o bomb.tamis bomb
    says "a line of more than 256 MiB"
fi

promise 'Only whole magics count'
for start in '\x1f' '\x1f\x8b' '\x1f\x8b\x07' '\x28\xb5\x2f' '\xfd7zXZ' 'B' 'BZh9' '\x04\x22'; do
    printf "$start" >short
    exits 0 "$tamis" build -k hashset -o short.tamis short
    exits 0 "$tamis" query -c short.tamis short
    prints_exactly '1\n'
    printf "$start\n7\n" >short
    exits 0 "$tamis" query -c plain.tamis short
    prints_exactly '1\n'
done

promise 'What tamis does not read is said'
printf 'BZh91AY&SY and so on' >packed
exits 3 "$tamis" query plain.tamis packed
says "compressed by bzip2"
says "bzcat"
