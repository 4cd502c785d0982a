# check.sh - sourced by every script here: a folder to work in, and assertions.
#
#     bash tests/cli/<topic>.sh /path/to/tamis      or apps/<application>/tests/<topic>.sh
#     KIND='bloom cqf' bash tests/cli/<topic>.sh /path/to/tamis    with these in loops over kinds
#
# `section` and `promise` name what the assertions after them are for. One that fails prints these names,
# what was run, what was wanted and what came, and the script goes on to the next one. Assertions start
# no process: what is too much for bash, one Python does for all of a script.
# shellcheck shell=bash
set -u
shopt -s lastpipe # so that assertions at the end of a pipe count

[ $# -ge 1 ] || { echo "usage: bash $0 /path/to/tamis" >&2; exit 2; }
tamis=$(realpath "$1")
tests=$(dirname "$(realpath "$0")")
kit=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
said=$(mktemp -d "${TMPDIR:-/tmp}/tamis-cli-XXXXXX") # what the last run printed, beside the work
work=$said/work
mkdir "$work"
cd "$work" || exit 2
touch "$said/out" "$said/err"
checks=0 failures=0 section='' promise='' ran=()

finish()
{
    local status=$?
    # A child that is signalled before it becomes another program inherits this trap.
    [ "$BASHPID" = "$$" ] || return

    cd /
    [ -d "$work/disk" ] && mountpoint -q "$work/disk" && umount "$work/disk"
    chmod -R u+rwx "$said"
    rm -rf "$said"
    [ "$status" -eq 0 ] || exit "$status"
    echo "$checks checks, $failures failed"
    [ "$checks" -gt 0 ] && [ "$failures" -eq 0 ] || exit 1
}
trap finish EXIT

# ---- Names and failures --------------------------------------------------------------------------

# section TITLE: of a part of the script.
section()
{
    section=$1 promise=''
}

# promise SENTENCE: what the assertions from here to the next one hold the program to.
promise()
{
    promise=$1
}

# failed WHAT [WANTED [CAME]]
failed()
{
    local depth=1 script=${0##*/}

    while [ "${BASH_SOURCE[depth]}" = "${BASH_SOURCE[0]}" ]; do
        depth=$((depth + 1))
    done
    failures=$((failures + 1))
    echo "FAILED cli.${script%.sh}${section:+, $section}${promise:+: $promise}: $1"
    failed_row ran "$(quoted "${ran[@]}")"
    failed_row wanted "${2:-}"
    failed_row came "${3:-}"
    failed_row printed "$(head -c 500 "$said/out" | cat -v)"
    failed_row said "$(head -c 500 "$said/err" | cat -v)"
    failed_row at "${BASH_SOURCE[depth]##*/} line ${BASH_LINENO[depth - 1]}"
}

failed_row()
{
    [ -z "$2" ] || printf '    %-8s%.1000s\n' "$1" "$2"
}

# quoted WORD...: as they can be typed.
quoted()
{
    [ $# -eq 0 ] || printf '%q ' "$@"
}

# ---- The Python of a script ----------------------------------------------------------------------

# Asked by the number of words, a task and its words, each with a NUL after it; it answers alike.
coproc PYTHON {
    exec python3 -I -c '
import json, os, sys

def words(rest=b""):
    while block := sys.stdin.buffer.read1():
        *whole, rest = (rest + block).split(b"\0")
        yield from map(os.fsdecode, whole)

def python():
    return sys.executable  # where python3 is a script that looks for it

def value(path, expression):
    with open(path) as file:
        return eval(expression, {"it": json.load(file), "json": json})

def same(folder, *paths):
    one, other = (open(os.path.join(folder, path), "rb") for path in paths)
    with one, other:
        while (block := one.read(1 << 20)) == other.read(1 << 20):
            if not block:
                return True
    return False

asked = words()
for n in asked:
    task, *rest = (next(asked) for _ in range(int(n)))
    try:
        answer = str({"python": python, "value": value, "same": same}[task](*rest))
    except Exception as error:
        answer = f"{type(error).__name__}: {error}"
    sys.stdout.buffer.write(os.fsencode(answer.replace("\0", "?")) + b"\0")
    sys.stdout.flush()
'
}
exec {questions}>&"${PYTHON[1]}" {answers}<&"${PYTHON[0]}" # subshells have these
disown "$PYTHON_PID"                                        # no `wait` waits for it

# ask TASK WORD...: sets $answer.
ask()
{
    printf '%s\0' $# "$@" >&"$questions"
    IFS= read -r -d '' answer <&"$answers"
}

ask python
python=$answer

# ---- Assertions ----------------------------------------------------------------------------------

# check WHAT COMMAND...: the command succeeds.
check()
{
    local what=$1

    shift
    checks=$((checks + 1))
    "$@" || failed "$what" "success of $(quoted "$@")"
}

# check_not WHAT COMMAND...: it does not.
check_not()
{
    local what=$1

    shift
    checks=$((checks + 1))
    ! "$@" || failed "$what" "failure of $(quoted "$@")"
}

# exits CODE COMMAND...: with that code; errors (2 and above) are one line on standard error.
exits()
{
    local wanted=$1 code=0

    shift
    checks=$((checks + 1))
    ran=("$@")
    "$@" >"$said/out" 2>"$said/err" || code=$?
    if [ "$code" -ne "$wanted" ]; then
        failed "exit code" "$wanted" "$code"
    elif [ "$code" -ge 2 ] && [ "$code" -le 6 ] && ! is_one_message; then
        failed "message of exit code $code" "one line that starts with 'tamis: '"
    fi
}

is_one_message()
{
    has_lines "$said/err" 1 && has_line "$said/err" '^tamis: '
}

# has_text FILE TEXT: a fixed string.
has_text()
{
    local parts IFS=$'\n'

    mapfile -d '' -t parts <"$1"
    [[ ${parts[*]} == *"$2"* ]]
}

# has_line FILE REGEX: an extended one, for a whole line between ^ and $.
has_line()
{
    local lines line

    mapfile -t lines <"$1"
    for line in "${lines[@]}"; do
        [[ ! $line =~ $2 ]] || return 0
    done
    return 1
}

# wait_for_text FILE: for ten seconds at most.
wait_for_text()
{
    for _ in $(seq 100); do
        [ ! -s "$1" ] || return 0
        sleep 0.1
    done
}

# has_lines FILE COUNT
has_lines()
{
    local lines

    mapfile -t lines <"$1"
    [ "${#lines[@]}" -eq "$2" ]
}

# What the last run said. Texts are fixed strings.
says()
{
    checks=$((checks + 1))
    has_text "$said/err" "$1" || failed "standard error" "with '$1'"
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
    has_text "$said/out" "$1" || failed "standard output" "with '$1'"
}

# prints_exactly FORMAT: what printf makes of it, to the last byte.
prints_exactly()
{
    checks=$((checks + 1))
    printf -- "$1" >"$said/wanted"
    is_same "$said/wanted" "$said/out" || failed "standard output" "'$1'"
}

is_silent()
{
    checks=$((checks + 1))
    [ ! -s "$said/err" ] || failed "standard error" nothing
}

prints_nothing()
{
    checks=$((checks + 1))
    [ ! -s "$said/out" ] || failed "standard output" nothing
}

prints_json()
{
    json_holds "JSON" True
}

# json EXPRESSION: of what was printed, as `it`.
json()
{
    ask value "$said/out" "$1"
    printf '%s\n' "$answer"
}

# json_is WHAT EXPRESSION VALUE
json_is()
{
    checks=$((checks + 1))
    ask value "$said/out" "$2"
    [ "$answer" = "$3" ] || failed "$1" "$2 is $3" "$answer"
}

# json_holds WHAT EXPRESSION...: each is true of what was printed.
json_holds()
{
    local what=$1 expression

    shift
    checks=$((checks + 1))
    for expression; do
        ask value "$said/out" "bool($expression)"
        [ "$answer" = True ] || failed "$what" "$expression" "$answer"
    done
}

# is_same FILE FILE: 1 if they differ, 2 if one cannot be read.
is_same()
{
    case " $1 $2 " in
    *" - "* | *" /dev/"*) cmp -s "$1" "$2" ;; # what only this shell has
    *)
        ask same "$PWD" "$1" "$2"
        [ "$answer" != False ] || return 1
        [ "$answer" = True ] || return 2
        ;;
    esac
}

same()
{
    checks=$((checks + 1))
    is_same "$1" "$2" || failed "files" "$1 is $2" "$(cmp "$1" "$2" 2>&1)"
}

differ()
{
    checks=$((checks + 1))
    is_same "$1" "$2"
    [ $? -eq 1 ] || failed "files" "$1 is not $2" "$(cmp "$1" "$2" 2>&1)"
}

# Only for what cannot be tried on this machine.
skip()
{
    echo "SKIPPED: $*"
}

# Commands of applications that were deleted.
absent_commands()
{
    "$python" "$kit/../../tools/applications.py"
}

# needs COMMAND: of another application. Where that was deleted, nothing is asserted.
needs()
{
    ! absent_commands | grep -qx "$1" || { skip "there is no 'tamis $1'"; exit 77; }
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
[ -z "${KIND:-}" ] || read -ra some_kinds <<<"$KIND"

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
    check "faults of the line" "$python" -I "$kit/relay.py" "${one[@]}" "${options[@]}" >relayed
    cat relayed
}
