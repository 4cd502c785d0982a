#!/usr/bin/env bash
# Packets, flows and addresses of captures, against a reader that shares no code with tamis.
. "$(dirname "$0")/../../../tests/cli/check.sh"

needs gen
"$tamis" gen --packets 1 >one.pcap
"$tamis" flows one.pcap >/dev/null 2>"$said/err" || ! grep -q 'built without libpcap\|is not installed' "$said/err" || exit 77

all=(--csv --by "flow,source,destination,port" -n 3000)

# like_exact CAPTURE OPTIONS OF packets.py -- OPTIONS: every line of every list is the same.
like_exact()
{
    local capture=$1 theirs=()

    shift
    while [ "$1" != -- ]; do
        theirs+=("$1")
        shift
    done
    shift
    python3 "$tests/packets.py" count "$capture" "${theirs[@]}" >expected
    exits 0 "$tamis" flows "${all[@]}" "$@" "$capture"
    is_silent
    same "$said/out" expected
}

section 'Every packet, flow, address and port'

cat >list <<'END'
# prefixes within others, addresses, and what does not come
198.18.0.0/20
198.18.4.0/24   ; inside of it
198.18.4.9/24
  198.19.1.57

2001:db8:0:1::/64 # all clients
2001:db8::2500
10.0.0.0/8
END
"$tamis" gen --packets 2000 --flows 1000 --seed 3 >some.pcap
like_exact some.pcap --window 1000000 --block list -- --window 1ms --block list
cp "$said/out" some.csv
check "there is something of each kind" test "$(awk -F , '$3 > 0 && $1 ~ /^(ipv4|ipv6|other|truncated|fragments)$/' some.csv | wc -l)" = 5
check "of the list, some is there" test "$(grep -c ^blocked, some.csv)" -ge 4
like_exact some.pcap --bytes --both-ways -- --bytes --both-ways --hash keyed
"$tamis" gen --packets 300 --seed 3 >few.pcap
python3 "$tests/packets.py" odd few.pcap >odd.pcap
like_exact odd.pcap --window 3000000000 --block list -- --window 3s --block list
check "odd packets are truncated, stray, late" test "$(awk -F , '$3 > 0 && $1 ~ /^(truncated|strays|late)$/' "$said/out" | wc -l)" = 3

section 'tcpdump sees the same flows'

if command -v tcpdump >/dev/null; then
    tcpdump -nn -r few.pcap 2>/dev/null | awk '$2 == "IP" && /Flags/ {
        split($3, s, "."); split(substr($5, 1, length($5) - 1), d, ".")
        printf "%s.%s.%s.%s:%s > %s.%s.%s.%s:%s tcp\n", s[1], s[2], s[3], s[4], s[5], d[1], d[2], d[3], d[4], d[5]
    }' | LC_ALL=C sort | uniq -c | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print $0 "," n }' >expected
    exits 0 "$tamis" flows "${all[@]}" few.pcap
    awk -F , '$1 == "flow" && $2 ~ /^[0-9.:]+ > [0-9.:]+ tcp$/ { print $2 "," $3 }' "$said/out" | LC_ALL=C sort >got
    same got expected
    check "there are some" test -s expected
fi

section 'Other links, other files'

links="sll2 null" files="nano pcapng" threads="2"
[ -z "${TAMIS_LONG:-}" ] || links="sll sll2 raw null loop" files="big nano pcapng" threads="1 2 7"
for format in $links; do
    python3 "$tests/packets.py" as $format few.pcap >$format.pcap
    like_exact $format.pcap --
done
exits 0 "$tamis" flows "${all[@]}" few.pcap
cp "$said/out" few.csv
for format in $files; do
    python3 "$tests/packets.py" as $format few.pcap >other
    exits 0 "$tamis" flows "${all[@]}" other
    same "$said/out" few.csv
done
exits 0 "$tamis" flows "${all[@]}" - <few.pcap
same "$said/out" few.csv
cat few.pcap | exits 0 "$tamis" flows "${all[@]}" - -j 1
same "$said/out" few.csv

promise 'Files follow each other; threads do not matter'
head -c 24 some.pcap >empty.pcap
python3 "$tests/packets.py" as nano some.pcap >nano.pcap
exits 0 "$tamis" flows --csv -n 5 some.pcap empty.pcap few.pcap
cp "$said/out" both.csv
for n in $threads; do
    exits 0 "$tamis" flows --csv -n 5 -j $n nano.pcap few.pcap
    same "$said/out" both.csv
done

section 'Bounds'

# Of many flows few are candidates: those with most packets are exact all the same.
"$tamis" gen --packets 20000 --flows 20000 >many.pcap
for options in "" --bytes; do
    # shellcheck disable=SC2086
    exits 0 "$tamis" flows --csv -n 8000 $options many.pcap
    grep '^flow,' "$said/out" >whole
    # shellcheck disable=SC2086
    exits 0 "$tamis" flows --csv $options many.pcap
    is_silent
    grep '^flow,' "$said/out" | same /dev/stdin <(head -20 whole)
done
promise 'Where bounds are far apart, they hold'
exits 0 "$tamis" flows --csv -n 1000 --error 0.1 --bytes many.pcap
says "may be missing"
check "bounds hold" awk -F , 'NR == FNR { bytes[$2] = $7; next }
    $1 == "flow" && ($7 > bytes[$2] || $8 < bytes[$2]) { exit 1 }' whole "$said/out"
exits 0 "$tamis" flows --csv --keys 100 -p 0.1 many.pcap
check "so do those of flows" awk -F , -v "n=$(wc -l <whole)" '$1 == "total" && ($7 > n || $8 < n || $7 == n) { exit 1 }' "$said/out"

section 'JSON and text'

exits 0 "$tamis" flows --json -n 3 --by port --window 1ms --block list some.pcap
json_is "JSON says the same" '[it["packets"], it["flows"]["at_least"], len(it["windows"]), it["blocked_packets"], len(it["top"]["port"])]' \
    "$(awk -F , '$1 == "window" { w++ } $1 == "total" { p = $3; f = $7 } $1 == "blocked" && !$2 { b = $3 } END { printf "[%d, %d, %d, %d, 3]", p, f, w, b }' some.csv)"
exits 0 "$tamis" flows -n 3 --window 1s --block list some.pcap
prints "packets      2000"
prints "2026-01-01T00:00:00Z                 2000"
exits 1 "$tamis" flows empty.pcap
prints "packets      0"
prints "flows        0 (0 to 0)"
check_not "there is no time" has_line "$said/out" '^from|^to'
exits 1 "$tamis" flows --json empty.pcap
json_is "no packet in JSON" '[it["packets"], it["top"], it["flows"]["at_most"], "from" in it]' "[0, {'flow': []}, 0, False]"
exits 1 "$tamis" flows --csv empty.pcap
check "nor in CSV" has_line "$said/out" '^total,,0,0,0,,0,0,$'

section 'What is broken'

: >nothing
exits 4 "$tamis" flows nothing
says "nothing is no capture of packets"
prints_nothing
head -c 10 some.pcap >cut
exits 4 "$tamis" flows cut
echo "this is no capture, but it is long enough for a header" >text
exits 4 "$tamis" flows text
says "text is no capture of packets"
exits 4 "$tamis" flows - <text
says "standard input is no capture"
head -c 40000 some.pcap >cut
for options in "" --csv --json; do
    # shellcheck disable=SC2086
    exits 4 "$tamis" flows $options cut some.pcap
    says "the 364 packets before that are counted"
done
json_is "what came before and after is told" 'it["packets"]' 2364
"$tamis" flows --csv absent cut text some.pcap nothing >"$said/out" 2>"$said/err"
check "the code of the first" test $? = 3
check "a line for each" test "$(grep -c '^tamis: .*\(absent:\|cut \|text \|nothing \)' "$said/err")" = "$(wc -l <"$said/err")" -a "$(wc -l <"$said/err")" = 4
prints "total,,2364,"
gzip -k few.pcap
exits 4 "$tamis" flows few.pcap.gz
says "few.pcap.gz is compressed: unpack it first"
exits 4 "$tamis" flows some.pcap text
says "the 2000 packets before that are counted"
{ head -c 32 few.pcap; printf '\377\377\377\177'; tail -c +37 few.pcap; } >absurd
exits 4 "$tamis" flows absurd
says "absurd is damaged"
{ head -c 20 few.pcap; printf '\151\0\0\0'; tail -c +25 few.pcap; } >wifi
exits 4 "$tamis" flows wifi
says "link type 105 (IEEE802_11)"
without_library 'libpcap is not installed: try the package' libpcap.so{,.0.8,.1} -- "$tamis" flows some.pcap
exits 3 "$tamis" flows absent
exits 3 "$tamis" flows .
exits 3 bash -c "'$tamis' flows some.pcap >/dev/full"
exits 3 bash -c "'$tamis' flows --window 1s some.pcap >/dev/full"
exits 141 bash -c "trap - PIPE; '$tamis' flows -n 20000 some.pcap | true; exit \${PIPESTATUS[0]}" || true

promise 'A signal ends the reading, not the report'
mkfifo line
exec 9<>line
cat few.pcap >&9
"$tamis" flows --csv line >told 2>/dev/null &
reader=$!
# It has read all there is when it waits for more: the pipe is empty.
"$python" -c 'import fcntl, struct, termios, time
while struct.unpack("i", fcntl.ioctl(9, termios.FIONREAD, b"0000"))[0] > 0:
    time.sleep(0.005)'
sleep 0.02
kill -INT $reader
wait $reader
check "it ends by the signal" test $? = 130
check "after what it has to tell" has_line told '^total,,300,'
exec 9>&-

section 'What is refused'

exits 2 "$tamis" flows
exits 2 "$tamis" flows --by colour some.pcap
says "--by is flow, source, destination or port"
for window in 60 1x 0s 1e20s; do
    exits 2 "$tamis" flows --window $window some.pcap
done
exits 2 "$tamis" flows --hash raw some.pcap
exits 3 "$tamis" flows --block absent some.pcap
for line in 10.0.0.0/33 1.2.3 ::1/129 10.0.0.0/ 10.0.0.0/-1 example.org '1.2.3.4 5.6.7.8' 1.2.3.4/0x8; do
    printf '# one line before\n%s\n' "$line" >bad
    exits 2 "$tamis" flows --block bad some.pcap
    says "line 2: '$line' is no address or prefix"
done
printf '1.2.3.4\0\n' >bad
exits 2 "$tamis" flows --block bad some.pcap
exits 0 "$tamis" flows --block /dev/null some.pcap
prints "blocked      0 packets of 0 prefixes out of 0"
printf '0.0.0.0/0\n::/0' >world
exits 0 "$tamis" flows --csv --block world some.pcap
check "all have an address" test "$(awk -F , '$1 == "ipv4" || $1 == "ipv6" { n += $3 } $1 == "blocked" && !$2 { print $3 - n }' "$said/out")" = 0

section 'Made-up packets'

for n in 0 1 2 777; do
    check "$n packets" test "$("$tamis" gen --packets $n --seed 5 | "$tamis" flows --csv - | awk -F , '$1 == "total" { print $3 }')" = $n
done
