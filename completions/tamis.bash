# Bash completion for tamis. Commands, options and kinds are asked of tamis itself.

_tamis_options()
{
    "$1" "$2" --help 2>/dev/null | awk '
        $0 == "Options:" { inside = 1; next }
        /^$/ { inside = 0 }
        inside { for (i = 1; i <= 2; i++) if ($i ~ /^-/) { sub(/,$/, "", $i); print $i } }'
}

_tamis_kinds()
{
    "$1" kinds 2>/dev/null | awk 'NR > 1 { print $1 }'
}

_tamis_abilities()
{
    "$1" kinds 2>/dev/null | awk 'NR > 1 { n = split($NF, names, ","); for (i = 1; i <= n; i++) print names[i] }' |
        sort -u
}

_tamis()
{
    local program=$1 word=$2 previous=$3 command=${COMP_WORDS[1]}
    local words='' files=yes prefix=''

    case $COMP_CWORD:$previous in
    1:*)
        words="$("$program" help --names 2>/dev/null) help --help --version"
        files=no
        ;;
    2:help)
        words=$("$program" help --names 2>/dev/null)
        files=no
        ;;
    *:-k | *:--kind | *:--to)
        words=$(_tamis_kinds "$program")
        files=no
        ;;
    *:--hash)
        words='fast keyed raw'
        files=no
        ;;
    *:--can)
        [[ $word == *,* ]] && prefix=${word%,*},
        words=$(_tamis_abilities "$program")
        files=no
        ;;
    *:-n | *:--keys | *:-p | *:--fpr | *:--max-bytes | *:--memory | *:--seed | *:--field | *:--delim | *:-j | *:--threads | *:--by | *:--emails | *:--urls | *:--u64 | *:--first | *:--values-field | *:--value-bits | *:--counter-bits | *:--load)
        files=no
        ;;
    *)
        [[ $word == -* ]] && words=$(_tamis_options "$program" "$command")
        ;;
    esac

    mapfile -t COMPREPLY < <(compgen -P "$prefix" -W "$words" -- "${word#"$prefix"}")
    if [[ $files == yes && $word != -* ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
    fi
}

complete -F _tamis tamis
