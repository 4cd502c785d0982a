#!/usr/bin/env bash
# tamis digest: what Squid writes is read, what is written Squid uses.
. "$(dirname "$0")/../../../tests/cli/check.sh"
export LC_ALL=C

# Of a second reader that shares no code: `bits DIGEST URLS` prints the URLs that the digest has.
cat >reader.py <<'PYTHON'
import hashlib, struct, sys

data = open(sys.argv[1], "rb").read()
version, required, capacity, count, deletes, size, per_entry, hashes = struct.unpack(">HHIIIIBB", data[:22])
mask = data[128:]
assert (version, required, hashes, size) == (5, 3, 4, len(mask)) and not any(data[22:128])
assert size == (capacity * per_entry + 7) // 8
for url in open(sys.argv[2], "rb").read().splitlines():
    words = struct.unpack(">4I", hashlib.md5(b"\1" + url).digest())
    if all(mask[w % (8 * size) // 8] >> w % (8 * size) % 8 & 1 for w in words):
        sys.stdout.buffer.write(url + b"\n")
PYTHON
bits()
{
    "$python" -I -S reader.py "$1" "$2"
}

section 'Recorded from Squid'

squid=$tests/digest/squid.digest
urls=$tests/digest/squid.urls
exits 0 "$tamis" digest ask -c --from "$urls" "$squid"
prints_exactly "$(wc -l <"$urls")\\t$squid\\n"
exits 0 "$tamis" digest write --capacity 72 -o mine.digest "$urls"
is_silent
same mine.digest "$squid"
exits 0 "$tamis" digest info "$squid"
prints 'holds      71 entries, made for 72; 0 deleted since'
prints 'fill       55.56 %'

section 'Writing and asking'

# urls FIRST LAST
urls()
{
    seq -f 'https://example.org/%.0f' "$1" "$2"
}

urls 1 3000 >first
urls 2001 5000 >second
sort -u first second >all
exits 0 "$tamis" digest write -o sun.digest first
exits 0 "$tamis" digest write -o moon.digest --bits-per-entry 8 second
exits 0 "$tamis" digest write -o star.digest --capacity 100000 --bits-per-entry 11 second first second
for peer in sun moon star; do
    bits $peer.digest all >$peer.has
done
same star.has all
check 'the first are in the first' test -z "$(comm -23 <(sort first) sun.has)"
promise 'The whole answer, from those of each peer'
awk -F '\t' '{ sub(".*/", "", FILENAME); sub("has", "digest", FILENAME)
    at[$0] = at[$0] "\t" FILENAME } END { for (url in at) print url at[url] }' \
    sun.has moon.has | sort >expected
exits 0 "$tamis" digest ask --from all sun.digest moon.digest
same <(sort "$said/out") expected
exits 0 "$tamis" digest ask sun.digest moon.digest -j 3 <all
same <(sort "$said/out") expected
urls 9001 12000 >absent
for peer in sun moon; do
    bits $peer.digest absent
done | sort -u | comm -13 - <(sort absent) >expected
exits 0 "$tamis" digest ask -v --from absent sun.digest moon.digest
same <(sort "$said/out") expected
exits 0 "$tamis" digest ask --json --from absent sun.digest moon.digest
json_holds 'counts' 'it["urls"] == 3000' "it['nowhere'] == $(wc -l <expected)" \
    "[p['may_have'] for p in it['peers']] == [$(bits sun.digest absent | wc -l), $(bits moon.digest absent | wc -l)]"
head -n 1 expected | exits 1 "$tamis" digest ask sun.digest moon.digest
prints_nothing
exits 1 "$tamis" digest ask sun.digest </dev/null

promise 'URLs out of a log, with repeats and other methods'
# With a line end missing; what comes twice counts once; other methods are other entries.
awk '{ print 1700000000 + NR, 5, "127.0.0.1", "TCP_MISS/200", 99, "GET", $0, "-" }' first >access.log
exits 0 "$tamis" digest write --fields-by blanks --field 7 -o log.digest access.log
same log.digest sun.digest
printf '%s' "$(cat first first)" | exits 0 "$tamis" digest write -o - -
same "$said/out" sun.digest
exits 0 "$tamis" digest write --method HEAD --capacity 30000 -o head.digest first
exits 0 "$tamis" digest ask -c --method HEAD --from first head.digest
prints_exactly '3000\thead.digest\n'
"$tamis" digest ask -c --from first head.digest >"$said/out"
check 'GET and HEAD are not the same' test "$(cut -f 1 "$said/out")" -lt 300
printf 'a\nb\0c\0' | exits 0 "$tamis" digest write --null -o null.digest
printf 'c\0a\nb\0' | exits 0 "$tamis" digest ask --null null.digest
prints_exactly 'c\tnull.digest\0a\nb\tnull.digest\0'
exits 0 "$tamis" digest write -o none.digest /dev/null
exits 1 "$tamis" digest ask none.digest <first
exits 0 "$tamis" digest info --json none.digest
json_holds 'nothing in it' 'it[0]["count"] == it[0]["estimated"] == it[0]["fill"] == 0'

section 'Estimates'

exits 0 "$tamis" digest info --json sun.digest moon.digest
json_holds 'estimates, within 5 standard errors' \
    'all(abs(d["estimated"] - 3000) < 5 * d["error"] for d in it)' 'it[1]["capacity"] == 3000' \
    'it[0]["rate"] == it[0]["fill"] ** 4 and it[0]["usable"]'
exits 0 "$tamis" digest write -o other.digest second
exits 1 "$tamis" digest compare sun.digest other.digest
prints 'similarity 0.'
exits 1 "$tamis" digest compare --json sun.digest other.digest
json_holds '1000 of 5000 are in both' 'abs(it["either"] - 5000) < 5 * 60' \
    'abs(it["both"] - 1000) < 5 * 90' 'abs(it["similarity"] - 0.2) < 0.1' 'not it["same"]'
exits 0 "$tamis" digest compare sun.digest log.digest
prints 'similarity 1.000, all bits are the same'
exits 2 "$tamis" digest compare sun.digest moon.digest
says 'masks of one size'
exits 0 "$tamis" digest write --capacity 1000 -o full.digest first
says 'Squid uses no digest above 65 %'
exits 0 "$tamis" digest write --capacity 1 -o one.digest first
exits 0 "$tamis" digest info one.digest
prints 'all bits are set'
exits 1 "$tamis" digest compare --json one.digest none.digest
json_holds 'no estimate' 'it["either"] is None'

section 'What is no digest'

printf 'HTTP/1.1 200 Cache Digest OK\r\nServer: squid\r\n\r\n' | cat - sun.digest >with.headers
exits 0 "$tamis" digest compare sun.digest - <with.headers
printf 'HTTP/1.1 404 Not Found\r\n\r\nno' >gone
exits 4 "$tamis" digest info gone
says 'status 404'
printf 'HTTP/1.1 200 OK\r\nServer' >cut.headers
exits 4 "$tamis" digest info cut.headers
says 'cut short'
echo 'This cache is currently building its digest.' >building
exits 4 "$tamis" digest info building
says 'no cache digest'
head -c 300 /dev/zero | tr '\0' x >letters
exits 4 "$tamis" digest info letters
says 'get it again later'
# broken OFFSET BYTES WHY: these bytes of the header are others.
broken()
{
    cp sun.digest bad.digest
    printf "$2" | dd of=bad.digest bs=1 seek="$1" conv=notrunc status=none
    exits 4 "$tamis" digest ask -c --from first bad.digest
    says "$3"
}
broken 0 '\0\2' 'no cache digest of version 5'
broken 2 '\0\6' 'no cache digest of version 5'
broken 4 '\0\0\0\0' 'is not that of 0 entries'
broken 4 '\377\377\377\377' 'is not that of 4294967295 entries'
broken 4 '\0\1' 'is damaged'
broken 16 '\0\0\0\0' 'a mask of 0 bytes'
broken 16 '\377\377\377\377' 'a mask of 4294967295 bytes'
broken 20 '\0' 'with 0 bits each'
broken 21 '\0' '0 hash functions'
broken 21 '\5' '5 hash functions'
promise 'A mask of 256 MiB that is announced and does not come'
broken 4 '\3\63\63\62' 'is damaged'
cp sun.digest bad.digest
printf '\3\63\63\62' | dd of=bad.digest bs=1 seek=4 conv=notrunc status=none
printf '\17\377\377\377' | dd of=bad.digest bs=1 seek=16 conv=notrunc status=none
printf '\12' | dd of=bad.digest bs=1 seek=20 conv=notrunc status=none
exits 4 "$tamis" digest info bad.digest
for size in 0 127 1000; do
    head -c $size sun.digest >short.digest
    exits 4 "$tamis" digest info short.digest
done
cat sun.digest sun.digest >long.digest
exits 4 "$tamis" digest info long.digest
exits 3 "$tamis" digest info missing
exits 3 "$tamis" digest info .
exits 3 "$tamis" digest write -o missing/x.digest first
exits 3 "$tamis" digest write -o new.digest missing
check 'nothing is left' test ! -e new.digest
cp sun.digest kept.digest
exits 3 "$tamis" digest write -o kept.digest first missing
same kept.digest sun.digest
[ ! -w /dev/full ] || exits 3 bash -c "'$tamis' digest write -o - first >/dev/full"
exits 5 "$tamis" digest write --capacity 4e9 -o new.digest first
says '2^31 bits'

if [ -z "${TAMIS_SANITIZED:-}" ]; then
    exits 2 "$tamis" digest
    exits 2 "$tamis" digest wirte first
    says 'write'
    exits 2 "$tamis" digest write first
    says '-o'
    exits 2 "$tamis" digest info
    exits 2 "$tamis" digest info -v sun.digest
    exits 2 "$tamis" digest info --field 2 sun.digest
    exits 2 "$tamis" digest write --json -o new.digest first
    exits 2 "$tamis" digest compare sun.digest
    exits 2 "$tamis" digest compare sun.digest sun.digest sun.digest
    exits 2 "$tamis" digest ask -v -c sun.digest
    exits 2 "$tamis" digest ask - <first
    says 'only once'
    exits 2 "$tamis" digest ask --method get sun.digest
    exits 2 "$tamis" digest write --capacity 0 -o new.digest first
    cp first kept
    exits 2 "$tamis" digest write -o kept kept
    says 'kept is both an INPUT and the FILE to save to'
    same kept first
    exits 2 "$tamis" digest write --bits-per-entry 256 -o new.digest first
fi

section 'A Squid that runs'

# It takes some seconds until a Squid has made a digest.
[ -n "${TAMIS_LONG:-}" ] || exit 0
PATH=$PATH:/usr/sbin
command -v squid >/dev/null || { skip "squid is not installed"; exit 0; }

# An origin, and a peer of which a digest is served: both answer all requests, and say who they are.
cat >server.py <<'PYTHON'
import http.server, os, sys

class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def do_GET(self):
        body, kind = sys.argv[1].encode(), "text/plain"
        if self.path.endswith("/store_digest"):
            body, kind = open("peer.digest", "rb").read(), "application/cache-digest"
            open("served", "w").close()
        self.send_response(200)
        self.send_header("Cache-Control", "max-age=3600")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
with open("port.new", "w") as file:
    print(server.server_port, file=file)
os.rename("port.new", sys.argv[1] + ".port")
server.serve_forever()
PYTHON
running=()
stop()
{
    kill "${running[@]}" 2>/dev/null
    wait
    finish
}
trap 'status=$?; (exit $status); stop' EXIT

# wait_for COMMAND...: until it succeeds, for at most half a minute.
wait_for()
{
    for ((i = 0; i < 300; i++)); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    failed "nothing came of: $*"
}

serve()
{
    "$python" server.py "$1" &
    running+=($!)
    wait_for test -s "$1.port"
}

# start_squid NAME LINE...: with these lines in its configuration; it listens at $proxy.
start_squid()
{
    local name=$1

    shift
    proxy=127.0.0.1:$("$python" -I -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
    mkdir "$name"
    # It does not run as root.
    [ "$(id -u)" -ne 0 ] || { chmod 711 "$said" "$work"; chown proxy "$name"; }
    { printf '%s\n' "http_port $proxy" "visible_hostname $name" "pid_filename $work/$name/pid" \
        "cache_log $work/$name/cache.log" "access_log stdio:$work/$name/access.log" \
        "coredump_dir $work/$name" "cache_dir ufs $work/$name/cache 10 1 1" 'cache_mem 8 MB' \
        'http_access allow all' 'pinger_enable off' 'shutdown_lifetime 0 seconds' "$@"; } >"$name.conf"
    squid -z -N -f "$work/$name.conf" >/dev/null 2>&1
    squid -N -f "$work/$name.conf" >/dev/null 2>&1 &
    running+=($!)
    wait_for curl -sf -o /dev/null -x "$proxy" "http://127.0.0.1:$(cat origin.port)/first"
}

get()
{
    sed 's/.*/url = "&"\noutput = \/dev\/null/' "$1" | curl -s -x "$proxy" -K -
}

# has_entries N: Squid's digest is of so many.
has_entries()
{
    curl -sf "http://$proxy/squid-internal-periodic/store_digest" >live.digest &&
        "$tamis" digest info live.digest | grep -q "^holds *$1 entries"
}

serve origin
origin=http://127.0.0.1:$(cat origin.port)
start_squid one 'digest_rebuild_period 1 second' 'digest_rewrite_period 1 second'
find /usr/share/doc -type f | grep '^[-a-zA-Z0-9_./]*$' | sort | head -n 500 | sed "s|^|$origin|" >fetched
get fetched
# Its icons are in it too, and the URL of start_squid.
awk -v at="http://one:${proxy#*:}" '!/^#/ && NF > 3 { print at "/squid-internal-static/icons/" $3 }' \
    /usr/share/squid/mime.conf | sort -u >icons
{ cat fetched icons; echo "$origin/first"; } | sort -u >known
wait_for has_entries "$(wc -l <known)"
exits 0 "$tamis" digest ask -c --from known live.digest
prints_exactly "$(wc -l <known)\tlive.digest\n"
exits 0 "$tamis" digest info --json live.digest
exits 0 "$tamis" digest write --capacity "$(json 'it[0]["capacity"]')" -o mine.digest known
same mine.digest live.digest
exits 0 "$tamis" digest compare mine.digest live.digest

promise 'A Squid asks a sibling for what our digest says that it has'
# And nobody else.
serve peer
# No larger: Squids with bug 5510 lose what follows the first 128 bytes of a mask.
head -n 64 fetched >has
"$tamis" digest write -o peer.digest --bits-per-entry 16 has
check 'the mask has 128 bytes' test "$(stat -c %s peer.digest)" -eq 256
# The origin is near, and would be preferred for that.
start_squid two "cache_peer 127.0.0.1 sibling $(cat peer.port) 0 no-query" 'minimum_direct_rtt 0' \
    'minimum_direct_hops 0'
wait_for test -e served
sleep 1
get fetched
# Squid logs a request after its answer.
has_logged() { [ "$(grep -c "$origin/usr/share/doc" two/access.log)" -eq 500 ]; }
wait_for has_logged
awk '$7 ~ "/usr/share/doc" { print $7, $9 }' two/access.log >routes
"$tamis" digest ask --from fetched peer.digest | cut -f 1 >asked
check 'it has these, and few others seem to be there' test "$(wc -l <asked)" -lt 80
sed -n 's, CD_SIBLING_HIT/.*,,p' routes | sort >siblings
same siblings <(sort asked)
check 'others come from the origin' test "$(grep -c HIER_DIRECT routes)" -eq $((500 - $(wc -l <asked)))
