#!/usr/bin/env bash
# tamis show: every kind is drawn, answers are explained, and files stay as they are.
. "$(dirname "$0")/../../../tests/cli/check.sh"

printf '%s\n' red green blue black white >colours
printf '%s\n' red green blue black white grey pink brown 7 seven >asked
paste colours <(seq 5) >values
seq 5 >numbers
seq 10 >asked-numbers

# build KIND: of five keys, however that kind is made.
build()
{
    case $1 in
    bitmap) "$tamis" build -k bitmap --hash raw -n 24 -o f.tamis numbers ;;
    map | hashmap) "$tamis" build -k "$1" --values-field 2 -o f.tamis values ;;
    cascade) "$tamis" build -k cascade --universe asked -o f.tamis colours ;;
    *) "$tamis" build -k "$1" -n 6 -p 0.05 -o f.tamis colours ;;
    esac
}

# are_pictures FILE...: well-formed, with text for screen readers, and nothing is drawn outside.
are_pictures()
{
    "$python" -I - "$@" <<'PYTHON'
import sys
import xml.etree.ElementTree as tree

SPACE = "{http://www.w3.org/2000/svg}"
for path in sys.argv[1:]:
    root = tree.parse(path).getroot()
    assert root.tag == SPACE + "svg", path
    assert root.find(SPACE + "title").text and root.find(SPACE + "desc").text, path
    assert len(root.findall(f".//{SPACE}rect")) > 4 and len(root.findall(f".//{SPACE}text")) > 4, path
    assert "prefers-color-scheme:dark" in root.find(SPACE + "style").text, path
    width, height = float(root.get("width")), float(root.get("height"))
    for rect in root.iter(SPACE + "rect"):
        x, y, w, h = (float(rect.get(name)) for name in ("x", "y", "width", "height"))
        assert 0 <= x and x + w <= width and 0 <= y and y + h <= height, (path, x, y, w, h)
PYTHON
}

# are_json FILE...: what show --json says of the ten keys, or of a change.
are_json()
{
    "$python" -I -S - "$@" <<'PYTHON'
import json
import sys

for path in sys.argv[1:]:
    it = json.load(open(path))
    last = it["pictures"][-1]
    assert len(last["cells"]) > 4, path
    if path.startswith("./asked-"):
        assert len(it["pictures"]) == 1 and len(last["asked"]) == 10, path
        assert all(a["steps"][-1]["agrees"] == a["found"] for a in last["asked"]), path
    else:
        assert len(it["pictures"]) == 2 and last["changed"], path
PYTHON
}

# Under sanitizers, a few stand for all: tests of the library tell every kind.
shown_kinds=("${all_kinds[@]}")
[ -z "${TAMIS_SANITIZED:-}" ] || shown_kinds=("${some_kinds[@]}")

for kind in "${shown_kinds[@]}"; do
    keys=asked
    [ "$kind" != bitmap ] || keys=asked-numbers
    exits 0 build "$kind"
    cp f.tamis before.tamis

    exits 0 "$tamis" show f.tamis
    is_silent
    check "$kind: cells are drawn" awk 'NR > 2 && NF > 2 { n++ } END { exit n < 2 }' "$said/out"
    check "$kind: no line is too long" awk 'NR > 2 && length > 80 { exit 1 }' "$said/out"
    check_not "$kind: no colour in a file" has_text "$said/out" $'\033'

    promise 'The explanation agrees with query, and each key has its row'
    exits 0 "$tamis" show f.tamis --keys-from "$keys"
    sed -n 's/^\([^ ]*\)? yes.*/\1/p' "$said/out" >found
    "$tamis" query f.tamis "$keys" >expected
    same found expected
    check "$kind: a cell is marked" has_line "$said/out" '^red +(\^|x)|^1 +(\^|x)'

    exits 0 "$tamis" show --json f.tamis --keys-from "$keys"
    cp "$said/out" "asked-$kind.json"
    exits 0 "$tamis" show --svg "asked-$kind.svg" f.tamis -e "$(head -n 1 "$keys")"
    prints_nothing

    for change in add remove; do
        key=$([ $change = add ] && tail -n 1 "$keys" || head -n 1 "$keys")
        if can "$kind" $change; then
            exits 0 "$tamis" show "--$change" "$key" f.tamis
            prints "$change $key: it holds "
            check "$kind: $change changes cells" has_line "$said/out" '^changed .*\*'
            exits 0 "$tamis" show --json "--$change" "$key" f.tamis
            cp "$said/out" "$change-$kind.json"
            exits 0 "$tamis" show --svg "$change-$kind.svg" "--$change" "$key" f.tamis
        else
            exits 2 "$tamis" show "--$change" "$key" f.tamis
            says "$kind filters cannot $change"
        fi
    done
    same f.tamis before.tamis
done
check "pictures" are_pictures ./*.svg
check "JSON" are_json ./*.json

promise 'Toys of every kind that is made from keys alone'
for kind in "${shown_kinds[@]}"; do
    can "$kind" build || continue
    exits 0 "$tamis" show --toy "$kind" --add 1 --add 2 --add 3 1 2 3
    check "$kind: a toy has its keys" test "$(grep -cE '^[123]\? yes' "$said/out")" = 3
done

section 'Keys'

exits 0 build bloom
exits 0 "$tamis" show f.tamis red
cp "$said/out" plain
exits 0 "$tamis" show f.tamis --key red
same "$said/out" plain
exits 0 "$tamis" show -e red f.tamis
same "$said/out" plain
exits 0 "$tamis" show f.tamis --keys-from - <<<red
same "$said/out" plain
exits 1 "$tamis" show f.tamis no-such-colour
exits 0 "$tamis" show f.tamis no-such-colour red
exits 3 "$tamis" show f.tamis --keys-from no/such/file

promise 'Text that a terminal might obey'
exits 1 "$tamis" show f.tamis $'a\033[2Jb\nc' $'\xc2\x9bz' $'\xff' ''
check_not "no control reaches the terminal" grep -qP '\x1b|\xc2\x9b|\xff' "$said/out"
prints "a?[2Jb?c? no"
prints "''? no"
exits 1 "$tamis" show --json f.tamis $'a\033"\\b'
prints_json
exits 1 "$tamis" show --svg key.svg f.tamis $'<&">\033'
check "any key fits in a picture" are_pictures key.svg

promise 'Letters are counted, not bytes'
exits 0 "$tamis" show --toy quotient -n 4 --add Ålborg --add Łódź Łódź
check "names stand below their cells" awk '/^slots/ { a = length } /^key/ { exit length > a }' "$said/out"
prints "Łódź? yes"

promise 'Integers'
exits 0 build bitmap
exits 2 "$tamis" show f.tamis red
says "takes raw keys"
exits 0 "$tamis" show f.tamis 3
prints "3? yes: "
prints "members {1, 2, 3, 4, 5}"

section 'Changes'

exits 0 "$tamis" build -k cqf -n 12 -o f.tamis colours
exits 0 "$tamis" show f.tamis --add pink --add pink --remove red pink red
prints "add pink: it holds 7 keys"
prints "remove red: it holds 6 keys"
prints "pink? yes, or so it seems (2 times): "
prints "red? no: "
check "before and after" test "$(grep -c '^slots ' "$said/out")" = "$((2 * $(grep -c '^slots ' <("$tamis" show f.tamis))))"
exits 0 "$tamis" show f.tamis --each --add pink --add pink --remove red
check "after each" test "$(grep -c 'changed$' "$said/out")" = 3
exits 1 "$tamis" show f.tamis --remove no-such-colour
prints "it is not there, and nothing changes"
prints "0 cells changed"

section 'Large filters'

seq 10000 | "$tamis" build -k bloom -p 0.01 -o large.tamis
exits 0 "$tamis" show large.tamis
cells=$(sed -n 's/^256 of \([0-9]*\) cells are shown.*/\1/p' "$said/out")
check "all cells are counted" test "$cells" = "$("$tamis" info large.tamis | sed -n 's/^shape *\([0-9]*\) bits.*/\1/p')"
exits 0 "$tamis" show --cells 40 large.tamis
prints "40 of $cells cells are shown; --all shows all of them"
exits 0 "$tamis" show --all --width 200 large.tamis
check_not "all are shown" has_line "$said/out" "are shown"
check "that is all of them" test "$(awk '/^bits/ { n += NF - 1 } END { print n }' "$said/out")" = "$cells"
exits 0 "$tamis" show large.tamis 77
check "each cell that is read is drawn" \
    test "$(awk '/^77 / { n += gsub(/\^/, "") } END { print n }' "$said/out")" = "$(grep -c '^  bit: ' "$said/out")"
exits 0 "$tamis" show large.tamis --add zz
check "a change in a large filter" has_line "$said/out" '^changed .*\*'

section 'Colours and width'

exits 0 build bloom
exits 0 "$tamis" show --color=always f.tamis red
check "colour if asked for" grep -q $'\033\[1;32m' "$said/out"
exits 0 "$tamis" show --color f.tamis red
check "the same" grep -q $'\033\[1;32m' "$said/out"
sed $'s/\033\\[[0-9;]*m//g' "$said/out" >uncoloured
same uncoloured plain
exits 0 "$tamis" show --color=auto f.tamis red
same "$said/out" plain
exits 0 "$tamis" show --color=never f.tamis red
same "$said/out" plain
exits 2 "$tamis" show --color=sometimes f.tamis red
exits 0 "$tamis" show --width 40 f.tamis red
check "40 columns" awk '/^bits/ && length > 40 { exit 1 }' "$said/out"
exits 2 "$tamis" show --width 3 f.tamis

TERM=xterm exits 0 on_terminal "$tamis" show f.tamis red
check "colour on a terminal" grep -q $'\033\[1;32m' "$said/out"
TERM=xterm NO_COLOR=1 exits 0 on_terminal "$tamis" show f.tamis red
check_not "NO_COLOR" has_text "$said/out" $'\033'
TERM=dumb exits 0 on_terminal "$tamis" show f.tamis red
check_not "a dumb terminal" has_text "$said/out" $'\033'
TERM=xterm exits 0 on_terminal "$tamis" show --color=never f.tamis red
check_not "never" has_text "$said/out" $'\033'

section 'Files'

exits 0 "$tamis" collection add all.tamisc f.tamis
exits 0 "$tamis" show all.tamisc:f red
sed 1d plain >expected
sed 1d "$said/out" | same - expected
cp all.tamisc before.tamisc
exits 0 "$tamis" show all.tamisc:f --add pink
same all.tamisc before.tamisc
exits 0 "$tamis" show - red <f.tamis
exits 2 "$tamis" show
exits 2 "$tamis" show f.tamis --svg a.svg --json
exits 3 "$tamis" show no/such/file
exits 3 "$tamis" show f.tamis --svg no/such/folder/a.svg
exits 4 "$tamis" show colours
flip f.tamis 257
exits 4 "$tamis" show f.tamis
