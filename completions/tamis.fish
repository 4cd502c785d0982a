# Fish completion for tamis, which is asked itself what may come next.

function __tamis_offers
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    if set -l said ($words[1] help --complete $words[2..-1] "$typed" 2>/dev/null)
        string join -- \n $said
    else
        __fish_complete_path "$typed"
    end
end

complete -c tamis -f -a '(__tamis_offers)'
