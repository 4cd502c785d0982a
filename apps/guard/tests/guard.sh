#!/usr/bin/env bash
# tamis guard: outcomes as comm and sqlite3 have them, in SQLite and LMDB; stores that are none; URLs as
# browsers read them.
. "$(dirname "$0")/../../../tests/cli/check.sh"

guard=("$tamis" guard)

# adds_up QUERIES FOUND EXPRESSION...: outcomes are all queries, what is found is what is found without
# a filter, which reads for each, and a filter reads for what it lets pass; and what else is expected.
adds_up()
{
    json_holds "outcomes" "it['queries'] == $1" "${@:3}" \
        "all(r['stopped'] + r['found'] + r['in_vain'] == $1 for r in it['rounds'])" \
        "all(r['found'] == $2 for r in it['rounds'])" \
        "it['rounds'][0]['stopped'] == 0 and it['rounds'][0]['lookups'] == $1" \
        "all(r['reads'] + r['cache_hits'] == r['found'] + r['in_vain'] for r in it['rounds'])" \
        "all(r['saved_per_query'] == (it['rounds'][0]['seconds'] - r['seconds']) / $1 for r in it['rounds'][1:])"
}

section 'A real list of words'

# One in ten of the questions is among them.
step=10
[ -z "${TAMIS_SANITIZED:-}" ] || step=40
[ -z "${TAMIS_LONG:-}" ] || step=1
awk -v "step=$step" 'NR % step == 0' /usr/share/dict/american-english | LC_ALL=C sort -u >words
awk '{ print NR % 10 ? $0 "zz" : $0 }' words | sort -R --random-source=words >asked
sort -u asked | LC_ALL=C sort | LC_ALL=C comm -12 - words | wc -l | read -r found
n=$(wc -l <asked)

sqlite3 words.db 'CREATE TABLE words (word TEXT PRIMARY KEY) WITHOUT ROWID' \
    '.mode tabs' '.import words words'
check "sqlite3 has them all" test "$(sqlite3 words.db 'SELECT count(*) FROM words')" = "$(wc -l <words)"
mkdir env
(printf 'VERSION=3\nformat=print\ntype=btree\nmapsize=104857600\nHEADER=END\n'
    awk '{ print " " $0 "\n 1" }' words; echo DATA=END) >words.dump
mdb_load -f words.dump env

promise "What a filter costs, by the formula of 'tamis plan'"
model="all(abs(m['cost'] - m['build_cost'] * it['keys'] - m['lookups'] *
    (m['probe_cost'] + (m['member_share'] + (1 - m['member_share']) * r['fpr']) * m['store_cost']))
    < 1e-3 * m['cost'] for r in it['rounds'][1:] for m in [r['model']])"
for store in words.db env; do
    exits 0 "${guard[@]}" --json -k bloom -k fuse -k aqf -k acf "$store" asked
    is_silent
    adds_up "$n" "$found" "it['keys'] == $(wc -l <words)" \
        "[r['filter'] for r in it['rounds']] == ['none', 'bloom', 'fuse', 'aqf', 'acf']" \
        "all(r['reads'] * 5 < it['rounds'][0]['reads'] for r in it['rounds'][1:])" \
        "all(r['adapted'] > 0 and r['no_room'] == 0 for r in it['rounds'][3:])" \
        "$model"
done

# What they find is what the filter lets pass: exactly what query prints.
"$tamis" build -k bloom -p 0.02 -o words.tamis words
exits 0 "${guard[@]}" --json --filter words.tamis words.db asked
"$tamis" query -c words.tamis asked | read -r passed
adds_up "$n" "$found" "it['rounds'][1]['stopped'] == $n - $passed"
exits 0 "${guard[@]}" words.db asked
check "a kind is chosen, and judged" has_line "$said/out" '^[a-z0-9]+ is (not )?worth its [0-9]+ bytes'
prints "words.db: SQLite, table words, column word, $(wc -l <words) keys; $n queries, $found found"

promise 'Kinds that adapt make each mistake once'
# Others make it all the time.
awk '{ print $0 "/" }' words | head -n 900 >absent
for _ in 1 2 3 4; do cat absent; done >again
m=$(wc -l <absent)
exits 1 "${guard[@]}" --json -k bloom -k aqf -p 0.1 words.db again
adds_up $((4 * m)) 0 "it['rounds'][1]['in_vain'] % 4 == 0" "it['rounds'][1]['in_vain'] > 0" \
    "0 < it['rounds'][2]['adapted'] <= it['rounds'][2]['in_vain'] < it['rounds'][1]['in_vain'] / 2"

promise 'The cache behind the filter has room for all, or forgets what it is asked for next'
exits 1 "${guard[@]}" --json --cache 1e6 -k fuse words.db again
json_holds "hits" "it['rounds'][0]['reads'] == $m" "it['rounds'][0]['cache_hits'] == 3 * $m" \
    "it['rounds'][1]['cache_hits'] == 3 * it['rounds'][1]['reads']"
exits 1 "${guard[@]}" --json --cache $((m - 1)) -k fuse words.db again
json_holds "no hits" "it['rounds'][0]['reads'] == 4 * $m" "it['rounds'][0]['cache_hits'] == 0"
exits 0 "${guard[@]}" --cache 10 words.db asked
prints " cached "

promise 'Where all is found, a filter only costs'
# A price of memory can make it cost too much.
exits 0 "${guard[@]}" -k bloom words.db words
prints "bloom is not worth its"
prints "It has nothing to stop: all that is asked for is there."
exits 0 "${guard[@]}" -k bloom --memory-cost 1000d words.db asked
prints "bloom is not worth its"
exits 0 "${guard[@]}" -k bloom --queries 1e12 --json words.db asked
json_holds "building is shared" "it['rounds'][1]['model']['lookups'] == 1e12"

section 'Keys are bytes'

sqlite3 odd.db "CREATE TABLE t (id INTEGER, name TEXT COLLATE NOCASE, any, b BLOB, f REAL);
    CREATE UNIQUE INDEX i ON t (id); CREATE INDEX n ON t (name); CREATE INDEX a ON t (any);
    CREATE INDEX b ON t (b); CREATE INDEX f ON t (f); CREATE VIEW v AS SELECT name FROM t;
    INSERT INTO t VALUES (7, 'Abc', 7, x'00ff0a', 1.5), (-3, 'aBC', '8', 'text', 2), (NULL, NULL, NULL, NULL, NULL)"
# finds COLUMN KEY...: exactly these, of all that are asked for.
finds()
{
    local column=$1 all=('7' '07' ' 7' '7.0' '+7' '-3' '-03' 'Abc' 'aBC' 'abc' '8' '08' 'text' '1.5' '1.50' '2.0' '' 'NULL' $'\xff')

    shift
    printf '%s\0' "${all[@]}" $'x\ny' >asked.z
    exits 0 "${guard[@]}" -z --json -k hashset --column "$column" odd.db asked.z
    json_holds "$column: $*" "it['rounds'][0]['found'] == it['rounds'][1]['reads'] == $#"
}
finds id 7 -3
finds name Abc aBC
finds any 7 8
finds b text
finds f 1.5 2.0
exits 0 "${guard[@]}" --json --table v odd.db <(echo Abc)
printf 'a,"A b\nc"\n' >quoted.csv
sqlite3 quoted.db "CREATE TABLE t (k PRIMARY KEY); INSERT INTO t VALUES ('A b' || char(10) || 'c')"
exits 0 "${guard[@]}" --csv --field 2 quoted.db quoted.csv
exits 1 "${guard[@]}" --field 2 --delim , quoted.db quoted.csv
sqlite3 -cmd 'PRAGMA encoding = "UTF-16"' wide.db "CREATE TABLE t (k PRIMARY KEY); INSERT INTO t VALUES ('caf' || char(233))"
printf 'caf\303\251' | gzip >cafe.gz
exits 0 "${guard[@]}" wide.db - <cafe.gz

promise 'LMDB: databases with names, keys with several values, a file by itself'
mkdir several
for name in one two; do
    printf 'VERSION=3\nformat=print\ntype=btree\ndatabase=%s\ndupsort=1\nHEADER=END\n %s\n 1\n %s\n 2\nDATA=END\n' \
        "$name" "$name" "$name" | mdb_load several
done
exits 2 "${guard[@]}" several asked
says "several databases; choose one with --db: one, two"
exits 2 "${guard[@]}" --db three several asked
says "has no database 'three'; choose from one, two"
exits 0 "${guard[@]}" --json --db two several <(echo two)
json_holds "a key once" "it['keys'] == 1" "it['of'] == 'database two'"
mdb_load -n -f words.dump alone.mdb
exits 0 "${guard[@]}" -k bloom alone.mdb asked
prints "$n queries, $found found"
printf 'VERSION=3\nformat=bytevalue\ntype=btree\nintegerkey=1\nHEADER=END\n 0700000000000000\n 31\n 0001000000000000\n 31\nDATA=END\n' |
    mdb_load -n numbers.mdb
if [ "$(printf '\1\0' | od -An -tu2 | tr -d ' ')" = 1 ]; then
    printf '7\n07\n256\n8\n-7\n' >numbers
    exits 0 "${guard[@]}" --json -k hashset numbers.mdb numbers
    adds_up 5 2
fi
printf '%0600d\n\n' 1 >long.keys # longer than a key of LMDB may be, and empty
exits 1 "${guard[@]}" env long.keys

section 'Queries of any form'

: >nothing
exits 1 "${guard[@]}" words.db nothing
exits 1 "${guard[@]}" env - </dev/null
prints "0 queries"
head -n 1 words | tr -d '\n' | "${guard[@]}" words.db - >"$said/out"
prints "1 queries, 1 found"
head -c 3000000 /dev/zero | tr '\0' x >huge
exits 1 "${guard[@]}" words.db huge
sqlite3 empty.db 'CREATE TABLE t (k PRIMARY KEY)'
exits 1 "${guard[@]}" --json -k bloom -k fuse -k aqf empty.db asked
adds_up "$n" 0
exits 0 "${guard[@]}" -k bloom -k bloom --filter words.tamis --filter words.tamis words.db asked
check_not "nothing to complain of" has_line "$said/out" inf
sqlite3 bare.db "CREATE TABLE t (k); INSERT INTO t VALUES ('a'), ('a')"
exits 0 "${guard[@]}" bare.db <(echo a)
says "has no index"
if [ -e /dev/full ]; then
    exits 3 bash -c '"$@" >/dev/full' - "${guard[@]}" words.db asked
fi

section 'Stores and filters that will not do'

exits 3 "${guard[@]}" no-such.db asked
exits 3 "${guard[@]}" words.db no-such-file
exits 4 "${guard[@]}" words asked
says "neither an SQLite file nor an LMDB store"
exits 4 "${guard[@]}" nothing asked
exits 4 "${guard[@]}" . asked
says "no LMDB store"
exits 2 "${guard[@]}" /dev/null asked
(head -c 16 words.db; head -c 100000 words.tamis) >secret.db
exits 4 "${guard[@]}" secret.db asked
says "damaged, cut or encrypted"
head -c 8192 words.db >cut.db
exits 4 "${guard[@]}" cut.db asked
head -c 20000 env/data.mdb >cut.mdb
exits 4 "${guard[@]}" cut.mdb asked
says "is cut: it should have"
cp words.db damaged.db
printf 'damage' | dd of=damaged.db bs=1 seek=4096 conv=notrunc status=none
exits 4 "${guard[@]}" damaged.db asked
cp words.db held.db
(echo 'BEGIN EXCLUSIVE; SELECT 1;'; until [ -e release ]; do sleep 0.02; done) | sqlite3 held.db >locked &
until [ -s locked ]; do sleep 0.02; done
exits 3 "${guard[@]}" held.db asked
says "held.db is locked by another program"
: >release
wait
cp words.db logged.db
sqlite3 logged.db 'PRAGMA journal_mode = WAL' >mode
mkdir logged.db-wal
exits 3 "${guard[@]}" logged.db asked
says "its write-ahead log needs a folder that may be written to"
without_library 'SQLite is not installed: try the package' libsqlite3.so{,.0} -- "${guard[@]}" words.db asked
without_library 'LMDB is not installed: try the package' liblmdb.so{,.0} -- "${guard[@]}" env asked
exits 2 "${guard[@]}" --table x words.db asked
says "has no table 'x'; choose from words"
exits 2 "${guard[@]}" --column x words.db asked
says "has no column 'x'; choose from word"
sqlite3 two.db 'CREATE TABLE a (k); CREATE TABLE b (k)'
exits 2 "${guard[@]}" two.db asked
says "choose one with --table: a, b"
exits 2 "${guard[@]}" --db x words.db asked
exits 2 "${guard[@]}" --table x env asked
exits 2 "${guard[@]}" words.db
exits 2 "${guard[@]}" words.db asked asked
for kind in bitmap window map cascade; do
    exits 2 "${guard[@]}" -k "$kind" words.db asked
done
exits 2 "${guard[@]}" --cache 0 words.db asked
exits 4 "${guard[@]}" --filter words.db words.db asked
head -n 100 words | "$tamis" build -k fuse -o other.tamis
exits 4 "${guard[@]}" --filter other.tamis words.db asked
says "which is in the store; it is damaged, or was made of other keys"
seq 100 | "$tamis" build -k bitmap -o numbers.tamis
exits 2 "${guard[@]}" --filter numbers.tamis words.db asked
says "takes raw keys"
sqlite3 ids.db "CREATE TABLE t (id INTEGER PRIMARY KEY); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO t SELECT i FROM n"
exits 0 "${guard[@]}" --json --filter numbers.tamis ids.db <(seq 91 110)
adds_up 20 10 "it['rounds'][1]['in_vain'] == 0"

section 'URLs'

sqlite3 urls.db "CREATE TABLE urls (url TEXT PRIMARY KEY);
    INSERT INTO urls VALUES ('evil.com/'), ('example.com/ads/'), ('example.org/a/b.html?x=1'),
        ('http://whole.net:8080/a'), ('10.0.0.1/')"
printf '%s\n' 'HTTP://WWW.Evil.COM:80/any?thing#here' 'evil.com' 'http://user@a.b.c.evil.com/' \
    'https://www.example.com/x/../ads/1.html' 'http://example.com/%61ds/' 'example.org/a/./b.html?x=1' \
    'http://whole.net:8080/a#b' 'http://0xa.1/x' 'http://evil.com\@good.com/' >bad
printf '%s\n' 'http://notevil.com/' 'http://com/' 'https://example.com/' 'http://example.com/ads' \
    'http://example.org/a/b.html' 'https://whole.net:8080/a' 'http://1.10.0.0.1/' 'http://[::1]/' \
    'http://evil.com.good.com/' 'http://good.com/?evil.com/' >good
exits 0 "${guard[@]}" --urls --json -k hashset urls.db bad
is_silent
json_holds "all are found" "all(r['found'] == it['queries'] for r in it['rounds'])" \
    "it['rounds'][1]['reads'] == it['queries'] < it['rounds'][0]['reads']"
exits 1 "${guard[@]}" --urls --json -k hashset urls.db good
json_holds "none is" "it['rounds'][1]['stopped'] == it['queries']" \
    "it['rounds'][0]['lookups'] == it['rounds'][0]['reads'] == it['rounds'][1]['lookups']"
says "1 of 10 queries are no URLs"
sqlite3 urls.db "INSERT INTO urls VALUES ('http://Not.Normal/')"
exits 1 "${guard[@]}" --urls urls.db good
says "1 of 6 keys of the store are found by no URL, such as 'http://Not.Normal/'"
head -c 1000000 /dev/zero | tr '\0' '%' >percents
(printf 'http://a.b.c.d.e.evil.com/'; cat percents) >hostile
exits 0 "${guard[@]}" --urls --json urls.db hostile
exits 1 "${guard[@]}" --urls urls.db percents

promise 'URLs have the form that a browser gives them'
# Each URL, its last part the number of its line, has the form that is in the store on that line.
# Where RFC 3986 wants more than browsers do, that is added: octets are coded if they have to be,
# and only then.
node=$(command -v node || command -v nodejs)
if [ -n "$node" ]; then
    cat >browser.mjs <<'JS'
import { writeFileSync } from "node:fs";

let seed = 7;
const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
const one = (...all) => all[random(all.length)];
const several = (most, of) => Array.from({ length: random(most + 1) }, of).join("");
const host = () => one("example.com", "EXAMPLE.Com", "a.B.c", "%65xample.com", "xn--mnchen-3ya.de", "127.1",
    "0x7F.0.0.1", "0300.0250.1", "3232235777", "1.2.3.4", "[::1]", "[2001:DB8:0:0::A]", "[1:0:0:2:0:0:0:3]",
    "256.0.0.1", "1.2.3.08", "a.1", "[1::2::3]", "[::g]");
const port = () => one("", "", "", ":", ":80", ":443", ":0443", ":21", ":8080", ":65535", ":65536", ":8x");
const step = () => one("/", "\\", "/.", "/..", "/%2e", "/%2E.", "/...", "/a", "/B~c", "/%7Ed", "/%41", "/%2f", "/%C3%a9",
    "/\u00e9", "/ x", "/%", "/%4", "/%zz", "/%%41", "/\"<>", "/`{}", "/|[]", "/!$&()*+,;=:@", "/\t", "/\n", "/\x01");
const word = () => one("&a=1", "/../", "%3d", "%7e", "?", "\u20ac", "\\", "%", " ", "<>", "#x", "#");
const make = (i) => one("http", "HTTPS", "ftp", "wS", "Wss") + ":" + one("//", "//", "/", "\\/", "///") +
    one("", "", "user@", "a:b@c@") + host() + port() + several(5, step) + `/${i}` +
    one("", "?" + several(4, word) + i) + one("", "#", "#end");
const octet = (code) => "%" + code.toString(16).toUpperCase().padStart(2, "0");
const strict = (text) => text.replace(/%([0-9a-f]{2})|[%"<>`{}|^[\]\\ ]/gi, (sign, hex) => {
    const c = hex ? String.fromCharCode(parseInt(hex, 16)) : sign;
    return hex ? (/[\w\-.~]/.test(c) ? c : sign.toUpperCase()) : octet(c.charCodeAt(0));
});
const good = [], forms = [], bad = [];
for (let i = 0; i < Number(process.argv[2]); i++) {
    const url = make(i);
    if (!URL.canParse(url)) {
        bad.push(url);
        continue;
    }
    const it = new URL(url);
    it.hash = it.username = it.password = "";
    const start = `${it.protocol}//${it.host}`;
    good.push(url);
    forms.push(start + strict(it.href.slice(start.length)));
}
writeFileSync("good.urls", good.map((url) => url + "\0").join(""));
writeFileSync("bad.urls", bad.map((url) => url + "\0").join(""));
writeFileSync("forms", forms.map((form) => form + "\n").join(""));
JS
    exits 0 "$node" browser.mjs $((30000 / step))
    sqlite3 forms.db 'CREATE TABLE forms (url TEXT PRIMARY KEY) WITHOUT ROWID' '.mode tabs' '.import forms forms'
    for file in good bad; do
        tr -dc '\0' <$file.urls | wc -c | read -r lines
        check "there are $file ones" test "$lines" -gt 10
        exits "$([ $file = bad ]; echo $((1 - $?)))" "${guard[@]}" --urls -z --json -k hashset forms.db $file.urls
        json_holds "$file URLs" "it['queries'] == $lines" \
            "it['rounds'][0]['found'] == ($lines if '$file' == 'good' else 0)"
        [ $file = good ] || says "$lines of $lines queries are no URLs"
    done
else
    skip "node is not installed: URLs were not compared with those of a browser"
fi
