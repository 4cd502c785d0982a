#!/usr/bin/env bash
# tamis kinds, plan and info: tables for people, JSON for programs.
. "$(dirname "$0")/check.sh"

seq 10000 >keys

section 'Kinds'

exits 0 "$tamis" kinds
is_silent
awk 'NR > 1 { print $1, $NF }' "$said/out" >table
exits 0 "$tamis" kinds --json
prints_json
json_holds "numbers ascend" '[k["number"] for k in it] == sorted(k["number"] for k in it)'
json '"\n".join(k["kind"] + " " + ",".join(k["abilities"]) for k in it)' >listed
same table listed

section 'Plan'

exits 0 "$tamis" plan --keys 1M --fpr 0.001
is_silent
exits 0 "$tamis" plan --keys 1M --fpr 0.001 --json
prints_json
json_holds "smallest first, rates kept, bits per key, overhead over log2(1/P), no indexed kinds" \
    '[p["bytes"] for p in it] == sorted(p["bytes"] for p in it)' \
    'all(p["fpr"] <= 0.001 for p in it)' \
    'all(abs(p["bytes"] * 8 / p["keys"] - p["bits_per_key"]) < 1e-9 for p in it)' \
    'all(abs(p["bits_per_key"] / 9.965784284662087 - 1 - p["overhead"]) < 1e-9 for p in it)' \
    'not any("indexed" in p["abilities"] for p in it)'
exits 0 "$tamis" plan --keys 1M --fpr 0.001 --hash raw --json
json_holds "with raw keys they show" 'any("indexed" in p["abilities"] for p in it)'
exits 0 "$tamis" plan --keys 1M --hash keyed
exits 0 "$tamis" plan --keys 1M --fpr 0.001 --can add,remove --json
json_holds "all can remove" 'all("remove" in p["abilities"] for p in it)'
exits 0 "$tamis" plan --keys 1M --max-bytes 1500000 --json
json_holds "all fit" 'all(p["bytes"] <= 1500000 for p in it)'
exits 0 "$tamis" plan --max-bytes 1M --json
json_holds "many keys fit in a MiB" 'all(p["keys"] > 10000 for p in it)'
exits 0 "$tamis" plan --max-bytes 64
exits 5 "$tamis" plan --max-bytes 1
says "no kind of filter fits"
exits 0 "$tamis" plan -n 1000
exits 5 "$tamis" plan --keys 1M --can indexed
says "fewer abilities"

promise 'The plan is what build makes'
built=()
for kind in $(kinds_that build); do
    ! can "$kind" indexed || continue
    exits 0 "$tamis" build -k "$kind" -p 0.01 -o "$kind.tamis" keys
    built+=("$kind.tamis")
done
exits 0 "$tamis" info --json "${built[@]}"
cp "$said/out" built
exits 0 "$tamis" plan --keys 10000 --fpr 0.01 --json
json_holds "filters take what was planned" \
    'all(f["plan"]["bytes"] in [p["bytes"] for p in it if p["kind"] == f["kind"]]
         for f in json.load(open("built")))'

section 'Info'

for kind in $(kinds_that build); do
    exits 0 "$tamis" build -k "$kind" --seed 42 -o "$kind.tamis" keys
    exits 0 "$tamis" info "$kind.tamis"
    is_silent
    prints "$kind: "
    prints "seed 42"
    check_not "$kind: no warning" has_line "$said/out" warning
    if can "$kind" add && ! can "$kind" exact && ! can "$kind" adapt; then
        check "$kind: estimates" has_line "$said/out" '^distinct .*, estimated(, .* of the plan)?$'
    else
        check "$kind: has counted" has_line "$said/out" '^distinct  10000(, 100.00 % of the plan)?$'
    fi
    exits 0 "$tamis" info --json "$kind.tamis"
    prints_json
    json_holds "$kind: keys, distinct keys within 5 %, image size, seed, fill, rate, no warning" \
        'it[0]["keys"] == 10000' 'abs(it[0]["distinct"] / 10000 - 1) < 0.05' \
        "it[0]['image_bytes'] == $(stat -c %s "$kind.tamis")" 'it[0]["plan"]["seed"] == 42' \
        '0 < it[0]["fill"] <= 1' '0 <= it[0]["fpr"] <= it[0]["plan"]["fpr"] * 1.2' \
        'it[0]["warnings"] == []'
done
exits 0 "$tamis" info bloom.tamis
prints "trusted keys only"

exits 0 "$tamis" build -k bloom --hash keyed -o keyed.tamis keys
exits 0 "$tamis" info keyed.tamis
prints "keyed"
prints "secret"
secret=$(od -An -tx1 -j40 -N16 keyed.tamis | tr -d ' \n')
for option in '' --json; do
    # shellcheck disable=SC2086
    exits 0 "$tamis" info $option keyed.tamis
    check_not "the secret is not shown" grep -qi "$secret" "$said/out"
done

exits 0 "$tamis" build -k bloom -n 100 -o crowded.tamis keys
exits 0 "$tamis" info crowded.tamis
prints "warning"
exits 0 "$tamis" info --json crowded.tamis
prints_json
json_is "JSON warns too" 'len(it[0]["warnings"])' 1

promise 'Names of any bytes make valid JSON'
name=$(printf 'q"b\\\xff\xc3\xa9\n\t\x7f.tamis')
cp bloom.tamis "$name"
exits 0 "$tamis" info --json "$name" bloom.tamis
prints_json
json_is "two files, two objects" 'len(it)' 2
json_is "the name is there" 'ascii(it[0]["file"])' "$(printf '%s' "'q\"b\\\\\\ufffd\\xe9\\n\\t\\x7f.tamis'")"

# A bad file is reported, the others are shown.
exits 3 "$tamis" info bloom.tamis missing.tamis hashset.tamis
prints "hashset.tamis"
exits 4 "$tamis" info --json bloom.tamis keys hashset.tamis
says "keys: not a tamis filter"
prints_json
json_is "the good ones are there" 'len(it)' 2

# ---- Names of numbers, and the table -----------------------------------

exits 0 "$tamis" info cqf.tamis
check "a cqf has no hashes" has_line "$said/out" '^shape     [0-9]+ slots, [0-9]+ bits per remainder$'
exits 0 "$tamis" info --json bloom.tamis
json_holds "a bloom has bits and probes" 'set(it[0]["plan"]["shape"]) == {"bits", "probes"}'

exits 0 "$tamis" plan -n 1M
cp "$said/out" default
exits 0 "$tamis" plan -n 1M -p 0.01
same default "$said/out"
exits 0 "$tamis" plan -n 1M --json
json_is "one kind is chosen" '[p["kind"] for p in it if p["chosen"]]' "['blocked']"
check "and has a star" has_line default '^blocked +\*  '
exits 0 "$tamis" plan --max-bytes 1M
check "as many keys as fit" awk 'NR == 1 { exit $2 != "keys" } NR == 2 { exit $2 < 100000 }' "$said/out"
if command -v script >/dev/null; then
    for arguments in '-n 1e12' '--max-bytes 1G'; do
        script -qec "$tamis plan $arguments" /dev/null </dev/null | tr -d '\r' >terminal
        check "$arguments: a table" test "$(wc -l <terminal)" -gt 5
        check "$arguments: no line is over 80 columns" awk 'length > 80 { exit 1 }' terminal
    done
    script -qec "$tamis plan -l -n 10" /dev/null </dev/null >terminal
    check "abilities with -l" has_line terminal abilities
fi

# ---- Notes -------------------------------------------------------------

cp bloom.tamis noted.tamis
exits 0 env SOURCE_DATE_EPOCH=1700000000 "$tamis" info --set-note 'list of cafés' noted.tamis
prints "note      list of cafés, written 2023-11-14 22:13:20 UTC"
exits 0 "$tamis" verify noted.tamis
exits 0 "$tamis" add noted.tamis <<<one
exits 0 "$tamis" fold --by 2 -o folded.tamis noted.tamis
exits 0 "$tamis" merge -o merged.tamis noted.tamis noted.tamis
exits 0 "$tamis" convert --to compressed -o sent.tamis noted.tamis
exits 0 "$tamis" info --json noted.tamis folded.tamis merged.tamis sent.tamis
json_holds "all have it" 'all(f["note"] == "list of cafés" and f["noted"] == 1700000000 for f in it)'
exits 0 "$tamis" info --set-note other noted.tamis
prints "note      other, written 20"
for text in "$(printf 'a\nb')" "$(printf '\033[2J')" "$(printf '\377')" "$(printf '%0256d' 0)"; do
    exits 2 "$tamis" info --set-note "$text" noted.tamis
    says "--set-note takes a line of UTF-8"
done
exits 0 "$tamis" info --set-note '' noted.tamis
check_not "it is gone" has_line "$said/out" '^note'
cp bloom.tamis noted.tamis
exits 0 "$tamis" info --set-note some noted.tamis
exits 0 "$tamis" info --set-note '' noted.tamis
same noted.tamis bloom.tamis
