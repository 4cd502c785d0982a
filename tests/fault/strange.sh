#!/usr/bin/env bash
# What is not a filter is refused at once, by every command that reads one: no hang, no crash, no
# answer, one line that says why.
#
#     strange.sh TAMIS
set -u

tamis=$(realpath "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/tamis-strange-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
checks=0 failed=0

fail() {
    failed=$((failed + 1))
    echo "FAILED: $*" >&2
}

# Exit 3 or 4 within five seconds, one line on standard error, nothing on standard output. `verify`
# may say what it found on standard output; that is its job.
refuses() { # file, command...
    local file=$1 code=0
    shift
    checks=$((checks + 1))
    timeout 5 "$tamis" "$@" </dev/null >out 2>err || code=$?
    case $code in
    3 | 4) ;;
    124) fail "$* hangs" ;;
    *) fail "$* exits $code: $(head -c 300 err)" ;;
    esac
    [ "$(wc -l <err)" -ge 1 ] || fail "$*: says nothing"
    [ "$1" = verify ] || [ ! -s out ] || fail "$* answers: $(head -c 100 out)"
    grep -q -- "$file" err out || fail "$*: does not name $file: $(cat err)"
}

seq 1 100 >words
"$tamis" build -k blocked -o whole.tamis words || exit 1
mkdir folder
mkfifo fifo
exec 9<>fifo # nobody waits for a writer, and what is written is no filter
head -c 60000 /dev/zero >&9
: >empty
printf 'a\nb\n' >text
printf '\211PNG\r\n\032\n\0\0\0\rIHDR' >png
gzip -c words >gz
head -c 100000 /dev/urandom >noise
head -c 5000 /dev/zero >zeros
head -c 100 whole.tamis >shortened
cat whole.tamis words >longer
cat whole.tamis whole.tamis >twice
ln -s nowhere dangling
ln -s loop loop
cp whole.tamis secret && chmod 0 secret

strange="folder fifo empty text png gz noise zeros shortened longer twice dangling loop missing /dev/zero
/dev/null /dev/full /dev/tty folder/ whole.tamis/"
[ "$(id -u)" -eq 0 ] || strange="$strange secret"
for file in $strange; do
    for command in query info verify count; do
        refuses "$file" "$command" "$file"
    done
    refuses "$file" query --map "$file"
    refuses "$file" query -q "$file"
    refuses "$file" merge -o merged "$file" "$file"
    refuses "$file" fold -o folded --by 2 "$file"
    refuses "$file" add "$file" words
    refuses "$file" remove "$file" words
done
[ ! -e merged ] && [ ! -e folded ] || fail "an output was made from nothing"
cmp -s /dev/null empty || fail "the empty file was written to"
"$tamis" verify whole.tamis >/dev/null || fail "a whole filter is refused"

exec 9>&-

# ---- What cannot be written to ----------------------------------------------

# A FIFO stands for every file that is not one: who builds to /dev/null must still have it after.
for target in folder missing/x.tamis whole.tamis/x.tamis "$(printf 'n%.0s' {1..300})" '' fifo; do
    checks=$((checks + 1))
    code=0
    timeout 5 "$tamis" build -k blocked -o "$target" words >out 2>err || code=$?
    [ "$code" -eq 3 ] || { [ -z "$target" ] && [ "$code" -eq 2 ]; } ||
        fail "build -o '$target' exits $code: $(cat err)"
    [ "$(wc -l <err)" -eq 1 ] || fail "build -o '$target' says: $(cat err)"
done
[ -d folder ] && [ -z "$(ls -A folder)" ] || fail "the folder was written to"
[ -p fifo ] || fail "a FIFO was replaced by a filter"
[ -z "$(find . -name '.*tmp*')" ] || fail "left behind: $(find . -name '.*tmp*')"

# A link to nothing is neither followed nor replaced.
ln -s void link-to-nothing
checks=$((checks + 1))
"$tamis" build -k blocked -o link-to-nothing words 2>err && fail "a link to nothing was saved to"
[ -L link-to-nothing ] && [ ! -e void ] || fail "a link to nothing was replaced"

# ---- Names that are long, but not too long ----------------------------------

long=$(printf 'n%.0s' {1..250})
checks=$((checks + 1))
"$tamis" build -k blocked -o "$long" words 2>err && "$tamis" verify "$long" >/dev/null ||
    fail "a name of 250 letters cannot be saved to: $(cat err)"
"$tamis" verify whole.tamis >/dev/null || fail "a bystander was damaged"

echo "fault/strange: $checks checks, $failed failed"
[ "$failed" -eq 0 ]
