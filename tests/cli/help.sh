#!/usr/bin/env bash
# Help and manual pages say what the program does, and their examples work.
. "$(dirname "$0")/check.sh"

exits 0 "$tamis" --version
check "the version is a version" grep -qE '^tamis [0-9]+\.[0-9]+\.[0-9]+$' "$said/out"
exits 0 "$tamis" -V
exits 0 "$tamis" help --names
names=$(cat "$said/out")
check "there are eleven commands or more" test "$(wc -w <<<"$names")" -ge 11

for flag in help --help -h; do
    exits 0 "$tamis" "$flag"
    is_silent
    for name in $names; do
        check "$flag lists $name" grep -qw -- "$name" "$said/out"
    done
    check "$flag fits on a terminal" awk 'length > 80 || NR > 24 { exit 1 }' "$said/out"
    exits 0 "$tamis" "$flag" --all
    is_silent
    for name in $names input exit; do
        check "$flag --all lists $name" grep -q "^  $name " "$said/out"
    done
done

PATH=$(dirname "$tamis"):$PATH
[ "$(basename "$tamis")" = tamis ] || { ln -s "$tamis" tamis && PATH=$work:$PATH; }
exits 0 bash -euo pipefail -c "$("$tamis" help | sed -n 's/^Example: //p')"
prints_exactly '7\n'

absent=$(absent_commands)
for name in $absent; do
    check_not "$name was not deleted" grep -qxF "$name" <<<"$names"
done

# try_example NAME: that of the help which was printed last.
try_example()
{
    mkdir "$1" && cd "$1" || exit 2
    sed -n '/^Example:/,$s/^  //p' "$said/out" >"$said/example"
    check "$1: there is an example" test -s "$said/example"
    for command in $absent; do
        ! grep -qE "tamis $command( |$)" "$said/example" || {
            skip "$1: its example needs 'tamis $command'"
            echo : >"$said/example"
        }
    done
    exits 0 bash -euo pipefail "$said/example"
    is_silent
    cd "$work" || exit 2
}

# What commands share is in two topics, and in all of the help of each.
exits 0 "$tamis" help input
is_silent
grep -E '^ +(-., )?--' "$said/out" >"$said/options"
takers=$(sed -n '/^Commands with these options:/{n;s/^  //p}' "$said/out")
for name in build add remove adapt query dedup top get count digest guard similar intersect; do
    ! grep -qxF "$name" <<<"$names" || check "$name takes these options" grep -qw "$name" <<<"$takers"
done
try_example input
exits 0 "$tamis" help exit
is_silent
sed -n '/^  [2-6]  /p' "$said/out" >"$said/codes"
check "five codes mean the same everywhere" test "$(wc -l <"$said/codes")" -eq 5
try_example exit

for name in $names; do
    exits 0 "$tamis" help --all "$name"
    is_silent
    cp "$said/out" "$said/all"
    for part in "Usage: tamis $name " Options: 'Exit codes:' Example: '  2  ' '  6  ' '-h, --help'; do
        prints "$part"
    done
    check "$name: no line is over 100 columns" awk 'length > 100 { exit 1 }' "$said/out"
    exits 0 "$tamis" "$name" --help
    is_silent
    cp "$said/out" "$said/help"
    case " $takers " in
    *" $name "*)
        cat "$said/options" "$said/codes"
        reference='Exit status and common input options: tamis help exit, tamis help input'
        ;;
    *)
        cat "$said/codes"
        reference='Exit status: tamis help exit'
        ;;
    esac >"$said/common"
    diff "$said/all" "$said/help" >"$said/moved"
    check "$name: what is common is left out" diff <(sed -n 's/^< //p' "$said/moved") "$said/common"
    check "$name: where that is" diff <(sed -n 's/^> //p' "$said/moved") <(printf '\n%s\n' "$reference")
    exits 0 "$tamis" help "$name"
    same "$said/out" "$said/help"
    exits 0 "$tamis" "$name" -h
    same "$said/out" "$said/help"
    try_example "$name"

    if command -v man >/dev/null; then
        exits 0 "$tests/../../man/make-page" "$tamis" "$name"
        cp "$said/out" "tamis-$name.1"
        exits 0 env MANWIDTH=200 man --warnings -E ascii -l "tamis-$name.1"
        is_silent
        prints "tamis-$name - "
        while read -r word _; do
            prints "$word"
        done < <(grep -o -- '--[a-z-]* ' "$said/all")
    else
        skip "man is not installed: manual pages were not checked"
    fi
done

exits 2 "$tamis"
says "'tamis help'"
exits 2 "$tamis" nonsense
says "'nonsense'"
says "'tamis help'"
exits 2 "$tamis" --nonsense
exits 2 "$tamis" ''
exits 2 "$tamis" help nonsense
exits 2 "$tamis" help build query
exits 2 "$tamis" help input build
exits 2 "$tamis" help --all nonsense
exits 2 "$tamis" build --nonsense
says "unknown option --nonsense"
says "'tamis help build'"
exits 2 "$tamis" build -Q
says "unknown option -Q"
exits 2 "$tamis" build -n
says "--keys needs an argument"
exits 2 "$tamis" build --keys
says "--keys needs an argument"
exits 2 "$tamis" kinds --json=yes
says "--json takes no argument"
exits 2 "$tamis" kinds surplus
says "'surplus'"
exits 2 "$tamis" plan -n 10 surplus
exits 2 "$tamis" query
exits 2 "$tamis" count
exits 2 "$tamis" info
exits 2 "$tamis" verify
exits 2 "$tamis" add
exits 2 "$tamis" remove

if command -v man >/dev/null; then
    for page in "$tests"/../../man/tamis.[13]; do
        exits 0 man --warnings -E UTF-8 -l -Tutf8 -Z "$page"
        is_silent
    done
    exits 0 env MANWIDTH=100 man -E ascii -l "$tests/../../man/tamis.1"
    for name in $names; do
        prints "tamis $name"
    done
fi

# ---- What was meant ----------------------------------------------------

for pair in quer:query ifno:info dedpu:dedup verfiy:verify; do
    exits 2 "$tamis" "${pair%:*}"
    says "Did you mean '${pair#*:}'?"
done
exits 2 "$tamis" build -k blom -o out.tamis
says "Did you mean 'bloom'?"
exits 2 "$tamis" convert --to cuckoo-bucket -o out.tamis in.tamis
says "Did you mean 'cuckoo-buckets'?"
exits 2 "$tamis" build --kesy=10
says "unknown option --kesy; see 'tamis help build'. Did you mean 'keys'?"
for word in x nonsense "$(printf '%0500d' 0)" ''; do
    exits 2 "$tamis" "$word"
    check_not "nothing is near $word" grep -q "Did you mean" "$said/err"
done
