#!/usr/bin/env bash
# Completion in bash, zsh and fish offers what the program takes.
. "$(dirname "$0")/check.sh"

completions=$(realpath "$tests/../../completions")
ln -s "$tamis" "$said/tamis"
PATH=$said:$PATH
touch 'with blank.tamis'

# ---- What the program offers ---------------------------------------------------------------------

exits 0 "$tamis" help --complete ''
"$tamis" help --names >names
check "every command is offered, and more" diff <(head -n "$(wc -l <names)" "$said/out" | cut -f1) names
check "each with its meaning" awk -F'\t' 'length($2) < 5 { exit 1 }' "$said/out"
exits 0 "$tamis" help --complete
exits 1 "$tamis" help --complete info ''
prints_nothing
exits 1 "$tamis" help --complete nonsense --ki
exits 0 "$tamis" help --complete help ''
check "after help, topics too" diff <(cut -f1 "$said/out") <(cat names - <<<$'input\nexit\n--all')
exits 0 "$tamis" help --complete help --all inp
check "after all of it" test "$(cut -f1 "$said/out")" = input
exits 0 "$tamis" help --complete collection ''
check "what to do first" diff <(cut -f1 "$said/out") <(printf '%s\n' add remove list compact)
exits 0 "$tamis" help --complete collection re
check "and what begins so" test "$(cut -f1 "$said/out")" = remove
exits 1 "$tamis" help --complete collection add ''
exits 0 "$tamis" help --complete build --kind=blo
check "after an equals sign" diff <(cut -f1 "$said/out") <(printf -- '--kind=%s\n' bloom blocked)
exits 0 "$tamis" help --complete build -p ''
prints_nothing
exits 1 "$tamis" help --complete build -o ''
exits 0 "$tamis" help --complete plan --can=add,rem
check "lists go on" test "$(cut -f1 "$said/out")" = --can=add,remove
for name in $(cat names); do
    exits 0 "$tamis" help --complete "$name" -
    cut -f1 "$said/out" | sort >offered
    "$tamis" help --all "$name" | sed -n '/^Options:/,/^$/p' |
        grep -oE '^ +(-[a-zA-Z0-9], )?--[a-z0-9-]+' | tr -d ' ' | tr , '\n' | sort >listed
    check "$name: every option of its help" diff offered listed
done

# ---- Bash ----------------------------------------------------------------------------------------

# shellcheck source=/dev/null
. "$completions/tamis.bash"

in_bash()
{
    COMP_WORDS=(tamis "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _tamis "$tamis" "${*: -1}" "${COMP_WORDS[$# - 1]}"
    printf '%s\n' "${COMPREPLY[@]}" >"$said/out"
}

in_bash qu
prints_exactly 'query\n'
in_bash help ver
prints_exactly 'verify\n'
in_bash build --k
prints_exactly '--kind\n--keys\n'
in_bash build -k ''
check "every kind is offered" diff <(printf '%s\n' "${all_kinds[@]}" | sort) <(sort "$said/out")
in_bash plan --can add,rem
prints_exactly 'add,remove\n'
in_bash build --hash = k
prints_exactly 'keyed\n'
in_bash build -n ''
prints_exactly '\n'
in_bash info with
prints_exactly 'with blank.tamis\n'

# ---- Zsh: in a terminal of its own, what a TAB makes of a line -------------------------------------

in_zsh()
{
    checks=$((checks + 1))
    timeout 20 zsh -f -s "$completions" "$1" >"$said/out" 2>&1 <<'ZSH' || failed "zsh: $1"
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= PS2= fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; stty -echo"
zpty -w shell "show() { print -r -- \"<\$BUFFER>\"; zle .kill-buffer }; zle -N show"
zpty -w shell "bindkey '^X' show; unsetopt beep; print rea\dy"
zpty -r shell line '*ready*' && zpty -w -n shell "$2"$'\t\x18' && zpty -r shell line '*<*>*'
print -r -- "$line"
ZSH
}

if command -v zsh >/dev/null; then
    in_zsh 'tamis quer'
    prints '<tamis query >'
    in_zsh 'tamis build -k countm'
    prints '<tamis build -k countmin >'
    in_zsh 'tamis plan --can add,remo'
    prints '<tamis plan --can add,remove >'
    in_zsh 'tamis info with'
    prints '<tamis info with\ blank.tamis'
else
    skip "zsh is not installed"
fi

# ---- Fish ----------------------------------------------------------------------------------------

in_fish()
{
    HOME=$work fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \
        "$completions/tamis.fish" "$1" 2>"$said/err" | cut -f1 >"$said/out"
}

if command -v fish >/dev/null; then
    in_fish 'tamis qu'
    prints_exactly 'query\n'
    in_fish 'tamis build --ke'
    prints_exactly '--keys\n'
    in_fish 'tamis build -k bloc'
    prints_exactly 'blocked\n'
    in_fish 'tamis plan --can add,rem'
    prints_exactly 'add,remove\n'
    in_fish 'tamis info with'
    prints 'with blank.tamis'
else
    skip "fish is not installed"
fi
