#!/usr/bin/env bash
# tamis kinds, plan and info: tables for people, JSON for programs.
. "$(dirname "$0")/check.sh"

seq 10000 >keys

# ---- kinds -------------------------------------------------------------

exits 0 "$tamis" kinds
is_silent
table_lines=$(wc -l <"$said/out")
exits 0 "$tamis" kinds --json
prints_json
check "the table has a line for each kind" test "$(json 'len(it) + 1')" = "$table_lines"
check "numbers ascend" test "$(json '[k["number"] for k in it] == sorted(k["number"] for k in it)')" = True
for kind in $(kinds_that build); do
    check "$kind has the abilities of the table" test \
        "$(json "','.join([k for k in it if k['kind'] == '$kind'][0]['abilities'])")" = \
        "$("$tamis" kinds | awk -v kind="$kind" '$1 == kind { print $NF }')"
done

# ---- plan --------------------------------------------------------------

exits 0 "$tamis" plan --keys 1M --fpr 0.001
is_silent
exits 0 "$tamis" plan --keys 1M --fpr 0.001 --json
prints_json
check "smallest first" test "$(json '[p["bytes"] for p in it] == sorted(p["bytes"] for p in it)')" = True
check "rates are kept" test "$(json 'all(p["fpr"] <= 0.001 for p in it)')" = True
check "bits per key" test "$(json 'all(abs(p["bytes"] * 8 / p["keys"] - p["bits_per_key"]) < 1e-9 for p in it)')" = True
check "overhead over log2(1/P)" test \
    "$(json 'all(abs(p["bits_per_key"] / 9.965784284662087 - 1 - p["overhead"]) < 1e-9 for p in it)')" = True
check "indexed kinds need raw keys" test "$(json 'any("indexed" in p["abilities"] for p in it)')" = False
exits 0 "$tamis" plan --keys 1M --fpr 0.001 --hash raw --json
check "with raw keys they show" test "$(json 'any("indexed" in p["abilities"] for p in it)')" = True
exits 0 "$tamis" plan --keys 1M --hash keyed
exits 0 "$tamis" plan --keys 1M --fpr 0.001 --can add,remove --json
check "all can remove" test "$(json 'all("remove" in p["abilities"] for p in it)')" = True
exits 0 "$tamis" plan --keys 1M --max-bytes 1500000 --json
check "all fit" test "$(json 'all(p["bytes"] <= 1500000 for p in it)')" = True
exits 0 "$tamis" plan --max-bytes 1M --json
check "many keys fit in a MiB" test "$(json 'all(p["keys"] > 10000 for p in it)')" = True
exits 0 "$tamis" plan --max-bytes 64
exits 5 "$tamis" plan --max-bytes 1
says "no kind of filter fits"
exits 0 "$tamis" plan -n 1000
exits 5 "$tamis" plan --keys 1M --can indexed
says "fewer abilities"

# The plan is what build makes.
for kind in $(kinds_that build); do
    ! can "$kind" indexed || continue
    exits 0 "$tamis" build -k "$kind" -p 0.01 -o f.tamis keys
    exits 0 "$tamis" info --json f.tamis
    bytes=$(json 'it[0]["plan"]["bytes"]')
    exits 0 "$tamis" plan --keys 10000 --fpr 0.01 --json
    check "$kind takes what was planned" test "$(json "[p['bytes'] for p in it if p['kind'] == '$kind'][0]")" = "$bytes"
done

# ---- info --------------------------------------------------------------

for kind in $(kinds_that build); do
    exits 0 "$tamis" build -k "$kind" --seed 42 -o "$kind.tamis" keys
    exits 0 "$tamis" info "$kind.tamis"
    is_silent
    prints "$kind: "
    prints "seed 42"
    check_not "$kind: no warning" grep -q warning "$said/out"
    if can "$kind" add && ! can "$kind" exact; then
        check "$kind: estimates" grep -q '^distinct .*, estimated$' "$said/out"
    else
        check "$kind: has counted" grep -q '^distinct  10000$' "$said/out"
    fi
    exits 0 "$tamis" info --json "$kind.tamis"
    prints_json
    check "$kind: keys" test "$(json 'it[0]["keys"]')" = 10000
    check "$kind: distinct keys within 5 %" test "$(json 'abs(it[0]["distinct"] / 10000 - 1) < 0.05')" = True
    check "$kind: image size" test "$(json 'it[0]["image_bytes"]')" = "$(stat -c %s "$kind.tamis")"
    check "$kind: seed" test "$(json 'it[0]["plan"]["seed"]')" = 42
    check "$kind: fill" test "$(json '0 < it[0]["fill"] <= 1')" = True
    check "$kind: rate" test "$(json '0 <= it[0]["fpr"] <= it[0]["plan"]["fpr"] * 1.2')" = True
    check "$kind: no warning" test "$(json 'it[0]["warnings"]')" = '[]'
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
check "JSON warns too" test "$(json 'len(it[0]["warnings"])')" = 1

# Names of any bytes make valid JSON.
name=$(printf 'q"b\\\xff\xc3\xa9\n\t\x7f.tamis')
cp bloom.tamis "$name"
exits 0 "$tamis" info --json "$name" bloom.tamis
prints_json
check "two files, two objects" test "$(json 'len(it)')" = 2
check "the name is there" test "$(json 'ascii(it[0]["file"])')" = "$(printf '%s' "'q\"b\\\\\\ufffd\\xe9\\n\\t\\x7f.tamis'")"

# A bad file is reported, the others are shown.
exits 3 "$tamis" info bloom.tamis missing.tamis hashset.tamis
prints "hashset.tamis"
exits 4 "$tamis" info --json bloom.tamis keys hashset.tamis
says "keys: not a tamis filter"
prints_json
check "the good ones are there" test "$(json 'len(it)')" = 2
