# check.sh - sourced by every script here: a folder to work in, and assertions.
#
#     bash tests/cli/<topic>.sh /path/to/tamis
#
# An assertion that fails says where and what, and the script goes on to the next one.
# shellcheck shell=bash
set -u
shopt -s lastpipe # so that assertions at the end of a pipe count

[ $# -ge 1 ] || { echo "usage: bash $0 /path/to/tamis" >&2; exit 2; }
tamis=$(realpath "$1")
tests=$(dirname "$(realpath "$0")")
said=$(mktemp -d "${TMPDIR:-/tmp}/tamis-cli-XXXXXX") # what the last run printed, beside the work
work=$said/work
mkdir "$work"
cd "$work" || exit 2
checks=0 failures=0
python=$(python3 -c 'import sys; print(sys.executable)') # where python3 may be a script

finish()
{
    local status=$?
    # A child that is signalled before it becomes another program inherits this trap.
    [ "$BASHPID" = "$$" ] || return

    cd /
    mountpoint -q "$work/disk" && umount "$work/disk"
    chmod -R u+rwx "$said"
    rm -rf "$said"
    [ "$status" -eq 0 ] || exit "$status"
    echo "$checks checks, $failures failed"
    [ "$checks" -gt 0 ] && [ "$failures" -eq 0 ] || exit 1
}
trap finish EXIT

failed()
{
    local depth=1

    while [ "${BASH_SOURCE[depth]}" = "${BASH_SOURCE[0]}" ]; do
        depth=$((depth + 1))
    done
    failures=$((failures + 1))
    echo "FAILED at $(basename "${BASH_SOURCE[depth]}") line ${BASH_LINENO[depth - 1]}: $*" |
        head -c 2000
}

# check WHAT COMMAND...: the command succeeds.
check()
{
    local what=$1

    shift
    checks=$((checks + 1))
    "$@" || failed "$what"
}

# check_not WHAT COMMAND...: it does not.
check_not()
{
    local what=$1

    shift
    checks=$((checks + 1))
    ! "$@" || failed "$what"
}

# exits CODE COMMAND...: with that code; errors (2 and above) are one line on standard error.
exits()
{
    local wanted=$1 code=0

    shift
    checks=$((checks + 1))
    "$@" >"$said/out" 2>"$said/err" || code=$?
    if [ "$code" -ne "$wanted" ]; then
        failed "exit code $code instead of $wanted: $*"
        head -c 1000 "$said/err"
    elif [ "$code" -ge 2 ] && [ "$code" -le 6 ] && ! is_one_message; then
        failed "not one line that starts with 'tamis: ': $*"
        head -c 1000 "$said/err"
    fi
}

is_one_message()
{
    local lines

    mapfile -t lines <"$said/err"
    [ "${#lines[@]}" -eq 1 ] && [[ ${lines[0]} == "tamis: "* ]]
}

# What the last run said. Texts are fixed strings.
says()
{
    checks=$((checks + 1))
    grep -qF -- "$1" "$said/err" || failed "standard error lacks '$1': $(head -c 500 "$said/err")"
}

# without_library TEXT FILE... -- COMMAND...: where these files are no libraries, it says TEXT.
without_library()
{
    local text=$1

    shift
    mkdir -p "$said/broken"
    while [ "$1" != -- ]; do
        : >"$said/broken/$1"
        shift
    done
    shift
    exits 2 env "LD_LIBRARY_PATH=$said/broken" "$@"
    says "$text"
    prints_nothing
}

# on_terminal COMMAND...: with a terminal as standard output.
on_terminal()
{
    "$python" -I -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@" </dev/null
}

prints()
{
    checks=$((checks + 1))
    grep -qF -- "$1" "$said/out" || failed "standard output lacks '$1': $(head -c 500 "$said/out")"
}

prints_exactly()
{
    checks=$((checks + 1))
    printf -- "$1" | cmp -s - "$said/out" ||
        failed "standard output is not '$1': $(head -c 500 "$said/out" | od -c | head -20)"
}

is_silent()
{
    checks=$((checks + 1))
    [ ! -s "$said/err" ] || failed "said: $(head -c 500 "$said/err")"
}

prints_nothing()
{
    checks=$((checks + 1))
    [ ! -s "$said/out" ] || failed "printed: $(head -c 500 "$said/out")"
}

prints_json()
{
    checks=$((checks + 1))
    "$python" -I -m json.tool "$said/out" >"$said/json" || failed "not JSON: $(head -c 500 "$said/out")"
}

# json EXPRESSION: of what was printed, as `it`.
json()
{
    "$python" -I -S -c "import json, sys; it = json.load(open(sys.argv[1])); print($1)" "$said/out"
}

# json_holds WHAT EXPRESSION...: each is true of what was printed.
json_holds()
{
    local what=$1

    shift
    check "$what" "$python" -I -S - "$said/out" "$@" <<'PYTHON'
import json, sys

it = json.load(open(sys.argv[1]))
wrong = [expression for expression in sys.argv[2:] if not eval(expression)]
print(*wrong, sep="\n", end="")
sys.exit(len(wrong) > 0)
PYTHON
}

same()
{
    checks=$((checks + 1))
    cmp -s "$1" "$2" || failed "$1 and $2 differ"
}

differ()
{
    checks=$((checks + 1))
    ! cmp -s "$1" "$2" || failed "$1 and $2 are the same"
}

# Only for what cannot be tried on this machine.
skip()
{
    echo "SKIPPED: $*"
}

# ---- Kinds -------------------------------------------------------------

declare -A abilities
all_kinds=()
while read -r kind can; do
    abilities[$kind]=,${can##* },
    all_kinds+=("$kind")
done < <("$tamis" kinds | tail -n +2)

# can KIND ABILITY
can()
{
    [[ ${abilities[$1]} == *",$2,"* ]]
}

# Commands treat kinds by what these can do: some stand for all, but in a long run.
some_kinds=(bitmap hashset bloom fuse cascade map hashmap cqf counting countmin window)
[ -z "${TAMIS_SANITIZED:-}" ] || some_kinds=(hashset bloom fuse cascade map hashmap cqf)
[ -z "${TAMIS_LONG:-}" ] || some_kinds=("${all_kinds[@]}")

# kinds_that ABILITY: those that have it and are made from keys alone; of get, put and exclude, all.
kinds_that()
{
    for kind in "${some_kinds[@]}"; do
        case $1 in
        get | put | exclude) ;;
        *) can "$kind" build || continue ;;
        esac
        ! can "$kind" "$1" || echo "$kind"
    done
}

# reseal FILE OFFSET HEX: changes bytes of the header and makes its checksum right again.
reseal()
{
    PYTHONPATH=$tests/../../tools python3 - "$@" <<'PYTHON'
import sys
from read_image import xxh3

path, offset, fresh = sys.argv[1], int(sys.argv[2]), bytes.fromhex(sys.argv[3])
image = bytearray(open(path, "rb").read())
image[offset : offset + len(fresh)] = fresh
image[248:256] = xxh3(bytes(image[:248])).to_bytes(8, "little")
open(path, "wb").write(image)
PYTHON
}

# flip FILE OFFSET: one bit of that byte.
flip()
{
    local byte

    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf "\\x$(printf %x $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# faults STEP FAULT...: over a line with each of these faults, no side of the two commands in `one` does
# harm, or says nothing; see relay.py. STEP is for sanitizers, where not every place is tried.
faults()
{
    local step=$1 fault options=()

    shift
    for fault; do
        [ -z "${TAMIS_SANITIZED:-}" ] || [ -z "$step" ] || fault=$fault:$step
        options+=(--fault "$fault")
    done
    check "faults of the line" "$python" -I "$tests/relay.py" "${one[@]}" "${options[@]}" >relayed
    cat relayed
}
