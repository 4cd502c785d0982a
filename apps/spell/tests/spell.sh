#!/usr/bin/env bash
# tamis spell: forms, verdicts and places are those of hunspell; bad dictionaries are refused.
. "$(dirname "$0")/../../../tests/cli/check.sh"
export LC_ALL=C.UTF-8
folder=/usr/share/hunspell

# hunspell DICTIONARY OPTION...: without dictionaries of the user.
hunspell_of()
{
    local name=$1

    shift
    HOME=$work hunspell -i UTF-8 -d "$name" "$@"
}

section 'Every rule of affixes, in one small dictionary'

cat >tiny.aff <<'AFF'
SET UTF-8
FLAG long
TRY esianrtolcdugmphbyfvkwz'é
WORDCHARS ’
NEEDAFFIX NA
FORBIDDENWORD FB
KEEPCASE KC
NOSUGGEST NS
CIRCUMFIX CX
ONLYINCOMPOUND OC
FULLSTRIP
ICONV 1
ICONV ’ '
REP 2
REP f ph
REP ^alot$ a_lot
PFX Re Y 1
PFX Re 0 re .
PFX No N 1
PFX No 0 no .
SFX Ed Y 3
SFX Ed 0 d e
SFX Ed y ied [^aeiou]y
SFX Ed 0 ed [aeiou]y
SFX Ab Y 1
SFX Ab 0 able/LyNe [^e]
SFX Ly Y 2
SFX Ly le ly/Un le
SFX Ly 0 s .
PFX Ne Y 1
PFX Ne 0 un .
PFX Un Y 1
PFX Un 0 in .
PFX Ge Y 1
PFX Ge 0 ge/CX .
SFX Te Y 1
SFX Te en t/GeCXNA .
SFX Po Y 1
SFX Po 0 's .
AFF
cat >tiny.dic <<'DIC'
13
play/EdAbReNo
try/Ed
like/EdPo
machen/Te
cactus/NAPo
Paris/KCPo
pH/KC
damn/NS
plaied/FB
NASA/Po
the
phone
café/Po	st:a note
DIC
exits 0 "$tamis" spell expand tiny.aff tiny.dic
is_silent
sort -u "$said/out" >forms
cat >expected <<'FORMS'
NASA
NASA's
Paris
Paris's
cactus's
café
café's
damn
gemacht
inplayably
like
like's
liked
machen
noplay
pH
phone
play
playable
playables
playably
played
replay
replayable
replayables
replayably
replayed
the
tried
try
unplayable
unplayables
unplayably
FORMS
check "all forms, and no other" diff <(sort expected) forms
exits 0 "$tamis" spell build -o tiny.tamis tiny.aff tiny.dic
is_silent
exits 0 "$tamis" spell check tiny.tamis forms
prints_nothing

promise 'Cases, numbers, hyphens, apostrophes; what hunspell says of each'
printf '%s\n' Play PLAY pLay PLAYED Played paris PARIS Paris PH pH Ph NASA Nasa nasa "NASA'S" "Nasa's" \
    'café’s' 'CAFÉ’S' Cafe plaied Plaied 12 1,000.5 1..2 play-like play-lkie -play play- the-play-the \
    "'play'" 'x play@example.org y' 'http://example.org/plya' /usr/plya plya --play machen gemacht cactus "like'" >cases
exits 1 "$tamis" spell check tiny.tamis cases
cp "$said/out" wrong
cat >expected <<'WORDS'
pLay
paris
PARIS
PH
Ph
Nasa
nasa
Nasa's
Cafe
plaied
Plaied
lkie
x
y
plya
cactus
WORDS
check "words that are wrong" diff expected wrong
if command -v hunspell >/dev/null; then
    hunspell_of ./tiny -l <forms >rejected
    check "hunspell takes every form" test ! -s rejected
    hunspell_of ./tiny -l <cases >theirs
    check "hunspell says the same" diff theirs wrong
fi

section 'Places, suggestions, JSON'

printf 'the fone\n\nCAFÉ trid  teh alot\n' >text
exits 1 "$tamis" spell check --lines tiny.tamis text - < <(printf nasa)
prints_exactly 'text:1:5: fone\ntext:3:6: trid\ntext:3:12: teh\ntext:3:16: alot\nstandard input:1:1: nasa\n'
exits 1 "$tamis" spell check --suggest tiny.tamis text
prints_exactly 'fone: phone\ntrid: tried\nteh: the\nalot\n'
exits 1 "$tamis" spell check --json --suggest tiny.tamis text
prints_json
json_holds "JSON has all" 'len(it) == 4' 'it[1]["line"] == 3' 'it[1]["column"] == 6' \
    'it[2] == {"file": "text", "line": 3, "column": 12, "word": "teh", "suggestions": ["the"]}'
exits 1 "$tamis" spell check --suggest tiny.tamis < <(echo 'damm Damm PAIRS')
prints_exactly 'damm\nDamm\nPAIRS: PARIS\n'

promise 'Frequent words come first; a list has no rules'
printf '%s\n' cat bat hat "don't" >list
for often in bat hat cat; do
    yes "$often" | head -50 >frequent
    exits 0 "$tamis" spell build -o list.tamis --frequencies frequent list
    exits 1 "$tamis" spell check --suggest list.tamis < <(echo "don't don’t 'bat' xat")
    check "$often comes first" has_line "$said/out" "^xat: $often, "
done
exits 0 "$tamis" spell build --json -o list.tamis list
prints_json
json_holds "JSON of a build" 'it["words"] == 4' 'it["fpr"] <= 1 / 4096' 'it["suggestion_fpr"] < 1e-6'

section 'Words of the user'

exits 0 "$tamis" spell add --personal mine foo Zürich foo
exits 0 "$tamis" spell remove --personal mine the foo
check "a line for each" diff mine <(printf '%s\n' Zürich '*the')
exits 1 "$tamis" spell check --personal mine tiny.tamis < <(echo 'The Zürich foo play')
prints_exactly 'The\nfoo\n'
exits 0 "$tamis" spell add --personal mine the
exits 0 "$tamis" spell check --personal mine tiny.tamis < <(echo 'The Zürich')
exits 1 "$tamis" spell check --suggest --personal mine tiny.tamis < <(echo 'Zürih')
prints_exactly 'Zürih: Zürich\n'
for bad in '' 'two words' '*star' $'\xff'; do
    cp mine before
    exits 2 "$tamis" spell add --personal mine fine "$bad"
    same mine before
done
exits 2 "$tamis" spell add word
promise 'Killed at any moment, the file is the old one or the new one'
seq -f 'word%g' 20000 >mine
cp mine before
for delay in 0 0.002 0.005 0.01; do
    "$tamis" spell add --personal mine last &
    sleep "$delay"
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
    check "the file is whole" test "$(grep -c '^word' mine)" -eq 20000
    check "and nothing else is in it" test "$(grep -vc '^word' mine)" -eq "$(grep -c '^last$' mine)"
done
rm -f mine

section 'As an editor talks'

printf '%s\n' '!' '^the trid CAFÉ teh qqqqqqqqqqqq' '%' 'the' '@qqqqqqqqqqqq' '^qqqqqqqqqqqq' '*Zoë' '&Yes' '#' \
    '~x' '+' '-' '^Zoë yes' '' >session
exits 0 "$tamis" spell check -a --personal mine tiny.tamis <session
tail -n +2 "$said/out" >answers
check "answers" diff answers - <<'ANSWERS'
& trid 1 5: tried
& teh 1 15: the
# qqqqqqqqqqqq 19

*

*

*
*


ANSWERS
check "the banner" grep -q '^@(#) International Ispell ' <(head -1 "$said/out")
check "words were saved" diff mine <(printf '%s\n' Zoë yes)
promise 'A word that is there already changes nothing, and locks nobody out'
# Not those who save later.
printf '%s\n' '*Zoë' '#' '*Eve' '#' '*Eve' '#' '^Eve' >session
exits 0 timeout 20 "$tamis" spell check -a --personal mine tiny.tamis <session
check "all were saved" diff mine <(printf '%s\n' Zoë yes Eve)
promise 'What is no word does not end the session'
printf '%s\n' '*Eve ' '*two words' '**star' $'*\xff' '*' '#' '^Eve' >session
exits 0 timeout 20 "$tamis" spell check -a --personal mine tiny.tamis <session
check "each has a message" test "$(grep -c 'is no word, and is not added' "$said/err")" -eq 4
check "nothing else was saved" diff mine <(printf '%s\n' Zoë yes Eve)
mkfifo editor
"$tamis" spell check -a --personal mine tiny.tamis <editor >answers &
exec 9>editor
printf '%s\n' '*Eve' '#' '^Eve' >&9
until grep -q '^\*' answers; do sleep 0.01; done
exits 0 timeout 20 "$tamis" spell add --personal mine Ada
exec 9>&-
wait
check "by others, too" diff mine <(printf '%s\n' Zoë yes Eve Ada)

section 'Real dictionaries and texts'

# places: of the words that -a does not know.
places()
{
    awk '/^[&#]/ { print $2, $1 == "#" ? $3 : $4 + 0; next } /^$/ { print } /^[*+-]/ { print "*" }'
}

# The bound: so many trials at this rate have no more hits, but for one time in 1e9.
bound()
{
    python3 -I -S - "$@" <<'PYTHON'
import math, sys
n, p = int(sys.argv[1]), float(sys.argv[2])
k, term, tail = 0, math.exp(n * math.log1p(-p)), 0.0
total = term
while 1 - total > 1e-9 and k < n:
    term *= (n - k) / (k + 1) * p / (1 - p)
    total += term
    k += 1
print(k)
PYTHON
}

# compare_forms NAME STEP: hunspell takes all forms of each STEP-th word.
compare_forms()
{
    local name=$1 step=$2

    awk -v step="$step" 'NR > 1 && NR % step == 0' "$folder/$name.dic" >some.words
    cp "$folder/$name.aff" some.aff
    (wc -l <some.words; cat some.words) >some.dic
    exits 0 "$tamis" spell expand --quiet some.aff some.dic
    sort -u "$said/out" >forms
    # Forms that are more than one word of a text are not in what it prints.
    hunspell_of ./some -l <forms | sort -u | comm -12 - forms >rejected
    check "$name: hunspell takes every form" test ! -s rejected
    exits 0 "$tamis" spell build --quiet -o some.tamis some.aff some.dic
    "$tamis" spell check some.tamis forms | sort -u | comm -12 - forms >rejected
    check "$name: and so does the filter" test ! -s rejected
}

# compare_texts NAME LINES TEXT: verdicts on all words, and places in the first lines, which hunspell
# tells with its suggestions, and slowly.
compare_texts()
{
    local name=$1 lines=$2 text=$3 passed words

    exits 0 "$tamis" spell build --quiet -o some.tamis "$folder/$name.aff" "$folder/$name.dic"
    hunspell_of "$name" -l <"$text" >theirs
    "$tamis" spell check some.tamis "$text" >ours
    diff theirs ours >differ
    check "$name: no right word is called wrong" test "$(grep -c '^>' differ)" -eq 0
    passed=$(sed -n 's/^< //p' differ | sort -u | wc -l)
    words=$(sort -u theirs | wc -l)
    # A word is looked up in up to four forms, and so are its parts.
    check "$name: $passed of $words wrong words pass" test "$passed" -le "$(bound "$((8 * words))" 0.000244140625)"
    head -"$lines" "$text" | sed 's/^/^/' >sent
    hunspell_of "$name" -a <sent | tail -n +2 | places >theirs
    "$tamis" spell check -a some.tamis <sent | tail -n +2 | places >ours
    check "$name: places are the same" diff theirs ours
}

if command -v hunspell >/dev/null && [ -f $folder/en_US.dic ]; then
    cp "$tests/../../../README.md" text
    compare_forms en_US "${TAMIS_LONG:+1}$([ -n "${TAMIS_LONG:-}" ] || echo 40)"
    compare_texts en_US 15 text
    if [ -n "${TAMIS_LONG:-}" ]; then
        cat "$tests"/../../../docs/*.md "$tests"/../../../docs/filters/*.md >text
        compare_texts en_US 500 text
        for name in de_DE fr; do
            [ -f "$folder/$name.dic" ] && compare_forms "$name" 25
        done
    fi
else
    skip "hunspell and hunspell-en-us are not installed: dictionaries were not compared"
fi

section 'Bad dictionaries'

# refused CODE TEXT: the dictionary bad.aff and bad.dic.
refused()
{
    cp list.tamis old.tamis
    exits "$1" "$tamis" spell build -o old.tamis bad.aff bad.dic
    says "$2"
    same list.tamis old.tamis
    check "nothing is left over" test -z "$(find . -name '*.tamis?*' -o -name '.*tamis*')"
}

# bad AFF DIC CODE TEXT
bad()
{
    printf "$1" >bad.aff
    printf "$2" >bad.dic
    refused "$3" "$4"
}

bad 'SET UTF-8\n' '2\nfoo\nb\xe9r\n' 4 'bad.dic, line 3: this is not UTF-8'
bad 'SET UTF-8\nTRY \xe9\n' '1\nfoo\n' 4 'bad.aff, line 2: this is not UTF-8'
bad 'SET KLINGON-7\n' '1\nfoo\n' 4 "knows no encoding 'KLINGON-7'"
bad '' 'foo\nbar\n' 4 'the first line is not the number of words'
bad '' '' 4 'is empty'
bad '' '100\nfoo\nbar\n' 4 'announces 100; is it cut?'
bad 'SFX A Y 3\nSFX A 0 s .\n' '1\nfoo/A\n' 4 '2 more lines SFX were announced'
bad 'SFX A Y 2\nSFX A 0 s .\nTRY abc\n' '1\nfoo/A\n' 4 'is the file cut?'
bad 'SFX A Y 1\nSFX A 0 s [^a\n' '1\nfoo/A\n' 4 'is not closed'
bad 'SFX A Y 1\nSFX B 0 s .\n' '1\nfoo/A\n' 4 'another flag'
bad 'SFX A Y\n' '1\nfoo/A\n' 4 'too few fields'
bad 'SFX A Y 99999999999\n' '1\nfoo/A\n' 5 'more than'
bad 'FLAG num\n' '1\nfoo/1,x\n' 4 'flags are numbers'
bad 'FLAG long\n' '1\nfoo/abc\n' 4 'two letters'
bad 'FLAG odd\n' '1\nfoo\n' 4 'none of char, long, num and UTF-8'
bad 'AF 1\nAF AB\n' '1\nfoo/2\n' 4 'no line AF of that number'
bad '' "1\n$(printf 'x%.0s' {1..300})\n" 4 'longer than 255 bytes'
bad 'SET UTF-8\n' '1\nfo\0o\n' 4 'NUL'
promise 'A suffix that leads to itself has two steps at most'
# A thousand on a thousand are too many forms.
printf 'SFX A Y 1\nSFX A 0 s/A .\n' >cycle.aff
printf '1\nfoo/A\n' >cycle.dic
exits 0 "$tamis" spell expand cycle.aff cycle.dic
prints_exactly 'foo\nfoos\nfooss\n'
awk 'BEGIN { print "SFX A Y 2000"; for (i = 0; i < 2000; i++) print "SFX A 0 a" i "/A ."
             print "PFX B Y 2000"; for (i = 0; i < 2000; i++) print "PFX B 0 b" i " ." }' >bad.aff
printf '1\nfoo/AB\n' >bad.dic
refused 5 'more than 1048576 forms'

promise 'The same words in other encodings, with flags as letters, numbers and aliases'
printf 'SET UTF-8\nSFX é Y 1\nSFX é 0 ö .\n' >one.aff
printf '1\nfür/é\n' >one.dic
for name in ISO8859-1 ISO8859-15; do
    (echo "SET $name"; tail -n +2 one.aff | iconv -t "$name") >two.aff
    iconv -t "$name" one.dic >two.dic
    exits 0 "$tamis" spell expand two.aff two.dic
    prints_exactly 'für\nfürö\n'
done
printf 'SET UTF-8\nFLAG num\nAF 2\nAF 7\nAF 7,300\nSFX 300 Y 1\nSFX 300 0 ö .\n' >two.aff
printf '2\nfür/2\nwie/1\n' >two.dic
exits 0 "$tamis" spell expand two.aff two.dic
prints_exactly 'für\nfürö\nwie\n'

promise 'ß in capitals, also where there are too many SS to try them all'
printf 'SET UTF-8\nCHECKSHARPS\nKEEPCASE k\n' >sharp.aff
printf '3\nStraße\ngroß/k\nMasse\n' >sharp.dic
exits 0 "$tamis" spell build -o sharp.tamis sharp.aff sharp.dic
exits 1 "$tamis" spell check sharp.tamis < <(echo "STRASSE Strasse GROSS Groß MASSE $(printf 'S%.0s' {1..200})")
check "SS may be one letter" diff <(cut -c 1-9 "$said/out") <(printf '%s\n' Strasse SSSSSSSSS)

section 'Bad use'

exits 4 "$tamis" spell check list
says 'is no dictionary'
promise 'A dictionary in place of the words of the user is not written anew'
cp list.tamis kept.tamis
for verb in add remove; do
    exits 4 "$tamis" spell $verb --personal kept.tamis cat
    says 'kept.tamis has NUL bytes: it is no list of words, and is left as it was'
    same kept.tamis list.tamis
done
exits 4 "$tamis" spell check --personal kept.tamis list.tamis list
check "nothing is left over" test -z "$(find . -name '.*tamis*')"
exits 3 "$tamis" spell check missing.tamis
exits 3 "$tamis" spell check list.tamis missing.txt
head -c 5000 list.tamis >cut.tamis
exits 4 "$tamis" spell check cut.tamis list
exits 4 "$tamis" spell build -o list list
says 'is left as it was'
exits 2 "$tamis" spell build list
exits 2 "$tamis" spell build -o new.tamis tiny.dic
says 'give the .aff and then the .dic'
exits 2 "$tamis" spell build -o new.tamis tiny.dic tiny.aff
check "nothing was made" test ! -e new.tamis
exits 2 "$tamis" spell build -o - list
exits 2 "$tamis" spell nonsense
exits 2 "$tamis" spell check -a --lines list.tamis
exits 2 "$tamis" spell check -o x list.tamis
exits 3 bash -c 'yes catt | head -1000 | "$1" spell check list.tamis >/dev/full' - "$tamis"
(head -c 3000000 /dev/zero | tr '\0' x; printf '\0 cat\0bat\xff\xfe hat') >strange
exits 1 "$tamis" spell check --suggest list.tamis strange
printf '%0*d' 300 0 | tr 0 "'" >quotes
printf 'WORDCHARS %s\nBREAK 2\nBREAK ^%s\nBREAK %s$\n' "'" "'" "'" >quotes.aff
printf '1\nfoo\n' >quotes.dic
exits 0 "$tamis" spell build -o quotes.tamis quotes.aff quotes.dic
exits 1 "$tamis" spell check quotes.tamis < <(head -c 200 quotes)
