# Bash completion for tamis, which is asked itself what may come next.

_tamis()
{
    local word said words=()

    # Bash makes three words of --kind=bloom.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        [[ $word == = ]] || words+=("$word")
    done
    [[ $word != = ]] || words+=('')
    COMPREPLY=()
    if said=$("$1" help --complete "${words[@]}" 2>/dev/null); then
        [[ -z $said ]] || mapfile -t COMPREPLY < <(cut -f1 <<<"$said")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "${words[-1]}")
    fi
}

complete -F _tamis tamis
