#!/usr/bin/env bash
# Collections: many named filters in one file.
. "$(dirname "$0")/check.sh"

seq 1000 >low
seq 1001 2000 >high
exits 0 "$tamis" build -k blocked -o low.tamis low
exits 0 "$tamis" build -k fuse -o high.tamis high
exits 0 "$tamis" build -k cqf -n 3000 -o twice.tamis low low

section 'What is put in comes out'

exits 0 "$tamis" collection add all.tms low.tamis high.tamis twice.tamis
is_silent
exits 0 "$tamis" collection list all.tms
prints_exactly 'high\nlow\ntwice\n'
exits 0 "$tamis" query all.tms:low low
same "$said/out" low
exits 0 "$tamis" query --map all.tms:high high
same "$said/out" high
exits 1 "$tamis" query -e 5000000 all.tms:high
exits 0 "$tamis" count all.tms:twice <<<7
prints_exactly '2\t7\n'
exits 0 "$tamis" verify all.tms:low all.tms
prints_exactly 'all.tms:low: ok\nall.tms: ok\n'
exits 0 "$tamis" info all.tms:low
prints 'file      all.tms:low'
prints 'holds     1000 keys'
exits 0 "$tamis" info --json all.tms:low low.tamis
json_holds "the same filter" "it[0]['plan'] == it[1]['plan']"
exits 0 "$tamis" list all.tms:twice
cp "$said/out" listed
exits 0 "$tamis" list twice.tamis
same "$said/out" listed
exits 0 "$tamis" merge -o both.tamis all.tms:low low.tamis
exits 0 "$tamis" query both.tamis low
same "$said/out" low
exits 0 "$tamis" collection list --json all.tms
json_holds "with what it is" "[x['kind'] for x in it] == ['fuse', 'blocked', 'cqf']"

section 'Changes'

exits 0 "$tamis" collection add --name a:b all.tms high.tamis
exits 0 "$tamis" query -c all.tms:a:b high
prints_exactly '1000\n'
exits 0 "$tamis" collection remove all.tms low twice
exits 0 "$tamis" collection list all.tms
prints_exactly 'a:b\nhigh\n'
exits 1 "$tamis" collection remove all.tms low high
says "all.tms: there is no filter called 'low'"
exits 0 "$tamis" collection list all.tms
prints_exactly 'a:b\n'
before=$(stat -c %s all.tms)
exits 0 "$tamis" collection compact all.tms
is_silent
check "it is smaller" test "$(stat -c %s all.tms)" -lt "$before"
exits 0 "$tamis" query -c all.tms:a:b high
prints_exactly '1000\n'
exits 0 "$tamis" collection add other.tms all.tms:a:b
exits 0 "$tamis" collection list other.tms
prints_exactly 'a:b\n'
exits 0 "$tamis" collection remove other.tms a:b
exits 1 "$tamis" collection list other.tms
prints_nothing

mkdir folder
cp low.tamis high.tamis folder
touch folder/readme
exits 0 "$tamis" collection add folder.tms folder
exits 0 "$tamis" collection list folder.tms
prints_exactly 'high\nlow\n'
mkdir bare
exits 0 "$tamis" collection add bare.tms bare
says "bare has no files that end with .tamis"

promise 'Two at a time wait for each other'
for i in 1 2 3 4 5 6; do
    "$tamis" collection add --name "$i" crowd.tms low.tamis 2>/dev/null &
done
wait
exits 0 "$tamis" collection add --name 7 crowd.tms low.tamis
for i in 1 2 3 4 5 6; do
    "$tamis" collection add --name "again $i" crowd.tms low.tamis &
done
wait
exits 0 "$tamis" collection list crowd.tms
check "none is lost" test "$(grep -c again "$said/out")" = 6

promise 'A file whose name looks like a filter of a collection is that file'
cp low.tamis all.tms:x
exits 0 "$tamis" query -c all.tms:x low
prints_exactly '1000\n'

section 'Mistakes'

exits 2 "$tamis" collection
exits 2 "$tamis" collection remov all.tms low
says "'remov' is none of add, remove, list and compact."
says "remove"
exits 2 "$tamis" collection add
exits 2 "$tamis" collection add all.tms
exits 2 "$tamis" collection list
exits 2 "$tamis" collection list all.tms all.tms
exits 2 "$tamis" collection compact all.tms x
exits 2 "$tamis" collection add --name x all.tms low.tamis high.tamis
exits 2 "$tamis" collection list --name x all.tms
exits 2 "$tamis" collection add --json all.tms low.tamis
exits 2 "$tamis" collection add --name "$(printf 'a\nb')" all.tms low.tamis
says "without control characters"
exits 2 "$tamis" collection add --name '' all.tms low.tamis
exits 2 "$tamis" collection add all.tms low.tamis folder
says "two files would be called 'low'"
exits 3 "$tamis" collection add all.tms nowhere.tamis
exits 3 "$tamis" collection remove nowhere.tms x
exits 3 "$tamis" collection compact nowhere.tms
exits 3 "$tamis" collection list nowhere.tms
check_not "nothing was made" test -e nowhere.tms
exits 4 "$tamis" collection add low.tamis high.tamis
says "low.tamis is no collection of filters"
exits 4 "$tamis" collection list low.tamis
exits 4 "$tamis" query low.tamis:x </dev/null
says "low.tamis is no collection of filters"
exits 3 "$tamis" query all.tms:nobody </dev/null
says "all.tms:nobody: there is no filter of that name; 'tamis collection list all.tms' shows them"
exits 2 "$tamis" query all.tms </dev/null
says "all.tms is a collection of filters; name one of them as all.tms:NAME"
exits 2 "$tamis" info all.tms
exits 4 "$tamis" collection list low
exits 3 "$tamis" query no.tms:x </dev/null
for change in add remove adapt; do
    exits 2 "$tamis" $change all.tms:a:b low
    says "all.tms:a:b: filters in a collection are not changed but replaced; change a file, and "
    exits 3 "$tamis" $change . low
    says "cannot read .: it is a directory; name the file of a filter"
done
exits 2 "$tamis" build -o all.tms:new low
says "all.tms:new: filters in a collection are not changed but replaced; change a file, and "

section 'Damage'

place_of()
{
    "$python" - "$1" "$2" <<'END'
import sys
data, name = open(sys.argv[1], "rb").read(), sys.argv[2].encode()
at = data.rindex(bytes([len(name)]) + name)
print(int.from_bytes(data[at - 16:at - 8], "little"))
END
}

exits 0 "$tamis" collection add hurt.tms low.tamis high.tamis twice.tamis
at=$(place_of hurt.tms low)
printf X | dd of=hurt.tms bs=1 seek=$((at + 300)) conv=notrunc status=none
exits 4 "$tamis" verify hurt.tms
prints "hurt.tms:low: checksum of a block differs in MiB 0, bytes $((at + 256)) to "
says "hurt.tms is damaged"
exits 4 "$tamis" verify hurt.tms:low
exits 0 "$tamis" verify hurt.tms:high hurt.tms:twice
exits 0 "$tamis" query hurt.tms:high high
same "$said/out" high
exits 4 "$tamis" query hurt.tms:low low
exits 4 "$tamis" verify --json hurt.tms
json_holds "the name is told" "it[0]['faults'][0]['filter'] == 'low' and not it[0]['ok']"
exits 0 "$tamis" collection add hurt.tms low.tamis
exits 0 "$tamis" verify hurt.tms
head -c 5000 hurt.tms >cut.tms
exits 4 "$tamis" verify cut.tms
prints "cut.tms: the header does not fit the file, or is damaged"
exits 4 "$tamis" query cut.tms:low low
