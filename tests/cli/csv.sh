#!/usr/bin/env bash
# Columns: several that make one key, by blanks, and of CSV as another reader sees them.
. "$(dirname "$0")/check.sh"

# key_of TEXT OPTION...: the only key of TEXT, read with these options, is the line $key.
key_of()
{
    local text=$1

    shift
    printf "$text" >input
    exits 0 "$tamis" build "$@" -k hashset -o f.tamis input
    printf "$key\\0" >line
    exits 0 "$tamis" query -zc f.tamis line
    prints_exactly '1\n'
}

section 'Several columns'

key='a\tc' key_of 'a\tb\tc\n' --field 1,3
key='c\ta' key_of 'a\tb\tc\n' --field 3,1
key='a\ta' key_of 'a\tb\tc\n' --field 1,1
key='\tc' key_of '\tb\tc\n' --field 1,3
key='b:c' key_of 'a:b:c:d\n' --field 2,3 --delim :
cut -f 1,3 <<<$'x\ty\tz' | exits 0 "$tamis" build -k hashset -o f.tamis
exits 0 "$tamis" query --field 1,3 f.tamis <<<$'x\tother\tz'
prints_exactly 'x\tother\tz\n'
exits 1 "$tamis" query --field 1,3 f.tamis <<<$'x\tz\ty\nx\tz'
says "1 of 2 lines have no field 3"
exits 1 "$tamis" query --field 1,3 f.tamis <<<$'xz\t\t'
printf '1\t2\t3\n1\t9\t3\n2\t2\t3\n' >table
exits 0 "$tamis" dedup --field 1,3 table
prints_exactly '1\t2\t3\n2\t2\t3\n'
exits 0 "$tamis" build --field 1,2 --values-field 3 -o f.tamis <<<$'a\tb\t7\nc\td\t8'
exits 0 "$tamis" get f.tamis <<<$'a\tb'
prints_exactly 'a\tb\t7\n'
for wrong in '' , 1, ,1 1,,2 0,1 1,0 1,4294967296 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17; do
    exits 2 "$tamis" query "--field=$wrong" f.tamis table
    says "--field '$wrong' is not"
done
exits 1 "$tamis" query --field 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 f.tamis table

section 'Names of columns'

printf 'id\temail\n1\ta@x\n2\tb@x\n3\ta@x\n' >people
tail -n +2 people | exits 0 "$tamis" build --field 2 -k hashset -o expected.tamis
exits 0 "$tamis" build -f email -k hashset -o f.tamis people
same f.tamis expected.tamis
exits 0 "$tamis" build -f email -k hashset -o f.tamis people people
exits 0 "$tamis" query -f email f.tamis people people
check "the header comes once" test "$(grep -c email "$said/out")" -eq 1
exits 1 "$tamis" query -vf email f.tamis people
prints_exactly 'id\temail\n'
exits 0 "$tamis" query -cf email f.tamis people
prints_exactly '3\n'
exits 0 "$tamis" query -nf email f.tamis people
prints_exactly '2:1\ta@x\n3:2\tb@x\n4:3\ta@x\n'
for threads in 1 3; do
    exits 0 "$tamis" dedup -j $threads --stats=json -f email people people
    prints_exactly 'id\temail\n1\ta@x\n2\tb@x\n'
    says '"lines": 6'
done
exits 0 "$tamis" dedup --exact=lines -f email,1 people
prints_exactly 'id\temail\n1\ta@x\n2\tb@x\n3\ta@x\n'
printf '"mail, first",n\r\n"a,b",7\r\n' >dos.csv
exits 0 "$tamis" build --csv -f n --values-field n -o f.tamis dos.csv
exits 0 "$tamis" get f.tamis <<<7
prints_exactly '7\t7\n'
printf ' name   size \nfew 3\n' | exits 0 "$tamis" dedup --fields-by blanks -f size
prints_exactly ' name   size \nfew 3\n'
exits 2 "$tamis" dedup -f emial people
says "people: no column of its first line is called 'emial'"
exits 2 "$tamis" dedup -f email people table
says "table: its first line has other columns"
exits 1 "$tamis" query -f email f.tamis /dev/null
printf 'k\tv\na\t1\nb\tx\n' | exits 2 "$tamis" build -f k --values-field v -o none.tamis
says "standard input, line 3: field 2"

section 'Blanks'

key='b' key_of 'a b\n' --field 2 --fields-by blanks
key='b' key_of '  a \t  b  \n' --field 2 --fields-by blanks
key='a' key_of '\ta' --field 1 --fields-by blanks
key='b a' key_of 'a\t\tb\n' --field 2,1 --fields-by blanks
printf 'one\n\n  \n a  b \nc\td\n' >input
exits 0 "$tamis" build --field 2 --fields-by blanks -k hashset -o f.tamis input
says "3 of 5 lines have no field 2"
awk '{ print $2 }' input | sed '/^$/d' >wanted
exits 0 "$tamis" query -c f.tamis wanted
prints_exactly '2\n'
exits 2 "$tamis" query --fields-by blanks f.tamis input
says "--field"
exits 2 "$tamis" query --field 1 --fields-by blanks --delim , f.tamis input
exits 2 "$tamis" query --field 1 --fields-by spaces f.tamis input
says "delim, blanks or csv"

section 'CSV'

key='b' key_of 'a,b,c\n' --csv --field 2
key='b,c' key_of 'a,"b,c",d\n' --csv --field 2
key='say "b"' key_of 'a,"say ""b""",d\n' --csv --field 2
key='two\nlines' key_of 'a,"two\nlines",d\n' --csv --field 2
key='two\r\nlines' key_of 'a,"two\r\nlines",d\r\n' --csv --field 2
key='last' key_of 'a,b,last\r\n' --csv --field 3
key='last' key_of 'a,b,"last"\r\n' --csv --field 3
key='' key_of 'a,"",d\n' --csv --field 2
key='"' key_of 'a,"""",d\n' --csv --field 2
key='5" disk' key_of 'a,5" disk,d\n' --csv --field 2
key='b;c' key_of 'a;"b;c";d\n' --csv --delim ';' --field 2
key='b' key_of 'a\t"b"\n' --fields-by csv --delim '\t' --field 2
promise 'Several columns are a record of their own, with quotes where it needs them'
key='a,c' key_of 'a,b,"c"\n' --csv --field 1,3
key='"x,y",z' key_of '"x,y",b,z\n' --csv --field 1,3
key='x,"y,z"' key_of 'x,b,"y,z"\n' --csv --field 1,3
key='"a ""b""","c\nd"' key_of '"a ""b""",q,"c\nd"\n' --csv --field 1,3

promise 'Output is the record as it was, and there are as many as there are records'
printf '1,"two\nlines"\n2,plain\n3,"two\nlines"\n' >input
exits 0 "$tamis" dedup --csv --field 2 input
prints_exactly '1,"two\nlines"\n2,plain\n'
exits 0 "$tamis" build --csv --field 2 --values-field 1 -o f.tamis <<<$'7,"a,b"\n"8",c'
exits 0 "$tamis" get f.tamis <<<'a,b'
prints_exactly 'a,b\t7\n'
exits 2 "$tamis" query --csv f.tamis input
says "--field"
printf '1,2\n"open,3\n4,5\n' >input
for command in "build -k bloom -o no.tamis" "query f.tamis" dedup; do
    # shellcheck disable=SC2086
    exits 3 "$tamis" $command --csv --field 1 input
    says "input: a quoted field is not closed"
done
check_not "nothing was saved" test -e no.tamis

promise 'Against another reader, on records that are cut anywhere'
python3 - <<'PYTHON'
import csv, random

random.seed(5)
csv.field_size_limit(10**7)
parts = ["a", "b", '"', ",", "\n", "\r\n", " ", "x" * 50, "é", ""]
rows = [[str(i), "".join(random.choices(parts, k=random.randrange(6))), str(i * 7)] for i in range(30000)]
rows[500][1] = '"\n,' * 100000  # longer than what is read at once
with open("rows.csv", "w", newline="") as f:
    writer = csv.writer(f, lineterminator="\r\n")
    for i, row in enumerate(rows):
        writer.writerow(row)
with open("rows.csv", newline="") as f:
    read = [row for row in csv.reader(f)]
with open("second", "w", newline="") as f:
    f.write("".join(row[1] + "\0" for row in read))
with open("both", "w", newline="") as f:
    writer = csv.writer(f, lineterminator="\0")
    for row in read:
        f.write(row[2] + ",")
        f.write('"' + row[1].replace('"', '""') + '"' if set(row[1]) & set('",\n\r') else row[1])
        f.write("\0")
PYTHON
for threads in 1 3; do
    exits 0 "$tamis" build -j "$threads" --csv --field 2 -k hashset -o rows.tamis rows.csv
    is_silent
done
exits 0 "$tamis" build -z -k hashset -o second.tamis second
same second.tamis rows.tamis
exits 0 "$tamis" build --csv --field 3,2 -k hashset -o rows.tamis rows.csv
exits 0 "$tamis" build -z -k hashset -o both.tamis both
same both.tamis rows.tamis
# shellcheck disable=SC2002
cat rows.csv | exits 0 "$tamis" query --csv --field 3,2 both.tamis
same "$said/out" rows.csv

section 'Carriage returns'

printf 'red\r\ngreen\r\n' >dos
printf 'red\ngreen\n' >unix
exits 0 "$tamis" build -k hashset -o unix.tamis unix
exits 0 "$tamis" build -k hashset -o f.tamis dos
says "--crlf"
says "dos:"
differ f.tamis unix.tamis
exits 0 "$tamis" build --crlf -k hashset -o f.tamis dos
is_silent
same f.tamis unix.tamis
exits 0 "$tamis" query --crlf unix.tamis dos unix
prints_exactly 'red\r\ngreen\r\nred\ngreen\n'
is_silent
exits 1 "$tamis" query unix.tamis dos dos
check "one warning" has_lines "$said/err" 1
exits 1 "$tamis" query --crlf unix.tamis <<<$'red\r\r'
promise 'Only where it is in the key'
printf '1\tred\r\n' >dos
exits 0 "$tamis" build --field 1 -k hashset -o f.tamis dos
is_silent
exits 0 "$tamis" build --field 2 --crlf -k hashset -o f.tamis dos
is_silent
exits 0 "$tamis" query f.tamis <<<red
