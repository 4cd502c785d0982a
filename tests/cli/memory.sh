#!/usr/bin/env bash
# tamis build --memory: sets of unknown size and larger than memory. The limit is kept, the bytes
# are the same, and nothing is left behind, whatever ends the program.
. "$(dirname "$0")/check.sh"

mkdir tmp out
is_clean()
{
    checks=$((checks + 1))
    [ -z "$(ls -A tmp)" ] || failed "left in the folder of --tmp: $(ls -A tmp)"
    [ -z "$(find out -name '.*.tamis*')" ] || failed "left beside the filter: $(ls -A out)"
}

static_kinds()
{
    for kind in $(kinds_that build); do
        can "$kind" add || echo "$kind"
    done
}

section 'The same bytes, by a file'

promise 'Each key twenty times, and more of them than half of what --memory leaves'
for _ in $(seq 20); do seq 60000; done >repeated
seq 600000 >many
for kind in $(kinds_that build); do
    input=many
    can "$kind" add || input=repeated
    exits 0 "$tamis" build -k "$kind" -o out/free.tamis "$input"
    limit=20M
    promise 'Sketches take more room than their keys'
    ! can "$kind" dot || can "$kind" resize || limit=64M
    for threads in ${TAMIS_LONG:+1} 3; do
        exits 0 "$tamis" build -k "$kind" -j "$threads" --memory "$limit" --tmp tmp -o out/limited.tamis "$input"
        is_silent
        same out/free.tamis out/limited.tamis
        is_clean
    done
    # shellcheck disable=SC2002
    cat "$input" | exits 0 "$tamis" build -k "$kind" -j 1 --memory "$limit" --tmp tmp -o out/pipe.tamis
    same out/free.tamis out/pipe.tamis
done

promise 'Static kinds count distinct keys, and make room for more than announced'
for kind in $(static_kinds); do
    seq 60000 >distinct
    exits 0 "$tamis" build -k "$kind" -o out/distinct.tamis distinct
    exits 0 "$tamis" build -k "$kind" -o out/repeated.tamis repeated
    same out/distinct.tamis out/repeated.tamis
    exits 0 "$tamis" build -k "$kind" -n 10 -o out/announced.tamis distinct
    same out/distinct.tamis out/announced.tamis
done

promise 'Kinds that need more than keys: values, or a universe with some of the keys'
awk '{ print $1 "\t" $1 % 100 }' repeated >pairs
seq 59001 1200000 >universe
head -120000 repeated >members

# beside KIND: what it needs, as $beside, and the $input it stands beside.
beside()
{
    beside=(--values-field 2) input=pairs
    can "$1" get || beside=(--universe universe) input=members
}

for kind in $(kinds_that get) $(kinds_that exclude); do
    beside "$kind"
    exits 0 "$tamis" build -k "$kind" "${beside[@]}" -j 1 -o out/free.tamis "$input"
    for threads in 1 3; do
        exits 0 "$tamis" build -k "$kind" "${beside[@]}" -j "$threads" --memory 24M --tmp tmp \
            -o out/limited.tamis "$input"
        is_silent
        same out/free.tamis out/limited.tamis
        is_clean
    done
    sort -u "$input" | exits 0 "$tamis" build -k "$kind" "${beside[@]}" -o out/distinct.tamis
    same out/free.tamis out/distinct.tamis
done

section 'The limit is kept'

# within LIMIT COMMAND...: exit code, then whether the most memory it ever had was in the limit. Its
# input is what $keys says.
large=4000000 few=24M some='96M 128M' pairs=1000000 more='64M 96M' universe=4000000
if [ -n "${TAMIS_LONG:-}" ]; then
    large=20000000 few=64M some='256M 384M 512M 768M'
    pairs=3000000 more='96M 128M 192M 256M' universe=12000000
fi
keys="seq $large"
within()
{
    python3 - "$keys" "$@" <<'PYTHON'
import resource, subprocess, sys

limit = int(sys.argv[2][:-1]) << 10
keys = subprocess.Popen(sys.argv[1], shell=True, stdout=subprocess.PIPE)
before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
code = subprocess.run(sys.argv[3:], stdin=keys.stdout, stderr=subprocess.DEVNULL).returncode
keys.stdout.close()
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(code, "kept" if before < peak <= limit else f"{peak} KiB")
PYTHON
}

# As little as it takes: the least limit that is not refused. $beside is added to the options.
beside=()
try_limits()
{
    local kind=$1 limit outcome

    shift
    for limit in "$@"; do
        outcome=$(within "$limit" "$tamis" build -k "$kind" "${beside[@]}" -j 2 --memory "$limit" --tmp tmp \
            -o out/large.tamis)
        [ "$outcome" = '6 kept' ] || break
    done
    checks=$((checks + 1))
    [ "$outcome" = '0 kept' ] || failed "$kind in $limit: exit code and memory $outcome"
    is_clean
}

if [ -n "${TAMIS_SANITIZED:-}" ]; then
    skip "sanitizers take memory of their own"
else
    try_limits blocked "$few"
    exits 0 "$tamis" query -q out/large.tamis <<<"$large"
    static=$(static_kinds)
    [ -n "${TAMIS_LONG:-}" ] || static=$(head -1 <<<"$static")
    for kind in $static; do
        # shellcheck disable=SC2086
        try_limits "$kind" $some
        exits 0 "$tamis" verify out/large.tamis
        seq "$large" | exits 0 "$tamis" build -k "$kind" -o out/free.tamis
        same out/large.tamis out/free.tamis
        seq $((large - 9999)) $((large + 10000)) | exits 0 "$tamis" query -c out/large.tamis
        check "$kind: members of both parts" test "$(cat "$said/out")" -ge 10000
    done

    promise 'Keys with values; a universe with its members'
    keys="seq $pairs | awk '{ print \$1 \"\\t\" \$1 % 500 }'"
    for kind in $(kinds_that get); do
        beside=(--values-field 2)
        # shellcheck disable=SC2086
        try_limits "$kind" $more
        seq $((pairs - 9999)) $((pairs + 10000)) | exits 0 "$tamis" query -c out/large.tamis
        check "$kind: all members" test "$(cat "$said/out")" -ge 10000
    done
    keys="seq 1 40 $universe"
    seq "$universe" >universe
    for kind in $(kinds_that exclude); do
        beside=(--universe universe)
        try_limits "$kind" 24M 40M 56M 72M
        exits 0 "$tamis" query -c out/large.tamis universe
        prints_exactly "$((universe / 40))\n"
    done
fi
beside=()

section 'What is too little, or wrong'

exits 6 "$tamis" build -k bloom -j 1 --memory 1M -o out/no.tamis many
says "give 12M or more"
exits 6 "$tamis" build -k bloom -j 1 --memory 12M -n 1e9 -o out/no.tamis many
says "--memory"
for kind in $(static_kinds); do
    exits 6 "$tamis" build -k "$kind" -j 1 --memory 12M --tmp tmp -o out/no.tamis many
    says "--memory"
    exits 6 "$tamis" build -k "$kind" -j 1 --memory 12M -n 6e5 -o out/no.tamis /dev/null
done
seq 1200000 >universe
for kind in $(kinds_that get) $(kinds_that exclude); do
    ! can "$kind" put || continue # these need no more than the filter
    beside "$kind"
    exits 6 "$tamis" build -k "$kind" "${beside[@]}" -j 1 --memory 12M --tmp tmp -o out/no.tamis "$input"
    says "--memory"
    is_clean
done
promise 'What is said to be enough is enough; with -n, before the first key is read'
for kind in counting $(static_kinds | head -1) $(kinds_that get | head -1); do
    options=(-k "$kind" -j 1 --tmp tmp -p 1e-9 -o out/enough.tamis) input=many
    ! can "$kind" get || { options+=(--values-field 2) && input=pairs; }
    exits 6 "$tamis" build --memory 12M "${options[@]}" "$input"
    enough=$(grep -o '[0-9]*M is enough' "$said/err" | cut -d ' ' -f 1)
    check "$kind: it is said how much is enough" test -n "$enough"
    exits 0 "$tamis" build --memory "$enough" "${options[@]}" "$input"
    exits 6 "$tamis" build --memory 12M -n 2e6 "${options[@]}" missing
    says "M is enough"
done
exits 6 "$tamis" build --memory 12M -n 1e7 -k cuckoo -j 1 -o out/no.tamis missing
says "M is enough"
for wrong in 0 -1 x 1e 12Q; do
    exits 2 "$tamis" build -k bloom --memory "$wrong" -o out/no.tamis many
done
check_not "nothing was saved" test -e out/no.tamis
exits 3 "$tamis" build -k bloom -j 1 --memory 12M --tmp nowhere -o out/no.tamis many
says "No such file"
TMPDIR=$work/nowhere exits 3 "$tamis" build -k bloom -j 1 --memory 12M -o out/no.tamis many
TMPDIR=$work/tmp exits 0 "$tamis" build -k bloom -j 1 --memory 12M -o out/yes.tamis many
is_clean

section 'A full disk'

mkdir disk
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=1m tmpfs disk 2>"$said/err"; then
    for kind in $(kinds_that build); do
        cp out/yes.tamis out/old.tamis
        exits 3 "$tamis" build -k "$kind" -j 1 --memory 12M --tmp disk -o out/old.tamis many
        says "No space left"
        same out/old.tamis out/yes.tamis
        is_clean
        check "$kind: the disk is empty again" test "$(stat -f -c %f disk)" = "$(stat -f -c %b disk)"
    done
    for kind in $(kinds_that get) $(kinds_that exclude); do
        beside "$kind"
        exits 3 "$tamis" build -k "$kind" "${beside[@]}" -j 1 --memory 12M --tmp disk -o out/old.tamis "$input"
        says "No space left"
        same out/old.tamis out/yes.tamis
        is_clean
        check "$kind: the disk is empty again" test "$(stat -f -c %f disk)" = "$(stat -f -c %b disk)"
    done
    promise 'Where the filter goes, too'
    for kind in $(static_kinds); do
        exits 3 "$tamis" build -k "$kind" -p 1e-4 --tmp tmp -o disk/no.tamis many
        says "No space left"
        check "$kind: nothing is left there" test -z "$(ls -A disk)"
    done
    umount disk
else
    skip "no small disk could be mounted"
fi

section 'Signals'

# A shell without job control has its children ignore the interrupt; these must not.
heed()
{
    exec python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$@" 2>"$said/err"
}

# interrupted SIGNAL WHEN INPUT OPTION...: sent as soon as WHEN holds. The old filter stays.
interrupted()
{
    local signal=$1 when=$2 input=$3 code=0 pid

    shift 3
    cp out/yes.tamis out/old.tamis
    heed "$tamis" build "$@" --tmp tmp -o out/old.tamis "$input" &
    pid=$!
    for _ in $(seq 1000); do
        ! "$when" "$pid" || break
        sleep 0.01
    done
    check "$*: is caught in time" "$when" "$pid"
    kill "-$signal" "$pid"
    { wait "$pid" || code=$?; } 2>/dev/null
    checks=$((checks + 1))
    [ "$code" -eq "$((128 + $(kill -l "$signal")))" ] || failed "$signal, $*: exit code $code"
    same out/old.tamis out/yes.tamis
    is_clean
}

# While keys wait and more may come, the file that has no name is gone with the program.
keys_wait()
{
    find "/proc/$1/fd" -lname "$work/tmp/*deleted*" 2>/dev/null | grep -q .
}

mkfifo keys
for signal in INT TERM HUP KILL; do
    for kind in blocked $(static_kinds | head -1); do
        (seq 2000000 && sleep 20) >keys &
        feeder=$!
        interrupted "$signal" keys_wait keys -k "$kind" -j 1 --memory 16M
        { kill "$feeder" && wait "$feeder"; } 2>/dev/null
    done
done

for kind in $(kinds_that get) $(kinds_that exclude); do
    for signal in INT KILL; do
        beside "$kind"
        (awk '{ print $1 "\t" $1 % 100 }' repeated && sleep 20) >keys &
        feeder=$!
        interrupted "$signal" keys_wait keys -k "$kind" "${beside[@]}" -j 1 --memory 16M
        { kill "$feeder" && wait "$feeder"; } 2>/dev/null
    done
done

# While parts are solved, the new file is there without a name or under another one.
is_saving()
{
    find "/proc/$1/fd" \( -lname "$work/out/*deleted*" -o -lname "$work/out/.*.tmp.*" \) 2>/dev/null |
        grep -q .
}

seq 2000000 >large
for kind in $(static_kinds | head -1); do
    interrupted INT is_saving large -k "$kind"
    interrupted TERM is_saving large -k "$kind" -n 2e6
done
