#!/usr/bin/env bash
# tamis kmers: what a few lines of awk, and jellyfish, count.
. "$(dirname "$0")/../../../tests/cli/check.sh"

promise 'Sequences with repeats, unknown letters and small letters; in many lines, in one, in reads'
awk 'BEGIN { srand(3)
    for (i = 0; i < 300; i++) unit = unit substr("ACGT", int(rand() * 4) + 1, 1)
    for (i = 0; i < 6000; i++) s = s substr("ACGTacgt", int(rand() * 8) + 1, 1)
    print unit s "NN" unit "RYK" substr(s, 1, 2000) unit }' >sequence
(echo '>first N>N'; fold -w 61 sequence; echo '>second'; echo; tail -c 900 sequence; echo '>empty') >lines.fa
(echo '>first'; cat sequence; echo '>second'; tail -c 900 sequence; echo '>empty') >whole.fa
awk '{ for (i = 1; i < length; i += 77) {
           r = substr($0, i, 100)
           q = substr("@+>" sprintf("%0100d", i), 1, length(r))
           print "@read " i "\n" r "\n+\n" q } }' sequence >reads.fq

# words K FILE: of FASTA, FASTQ or lines, each with its count, sorted.
words()
{
    awk -v k="$1" '
        function take(s) {
            s = toupper(s)
            for (i = 1; i + k - 1 <= length(s); i++) {
                w = substr(s, i, k)
                if (w !~ /[^ACGT]/) n[w]++
            }
        }
        /^>/ && !fastq { take(s); s = ""; next }
        NR == 1 && /^@/ { fastq = 1 }
        fastq { if (NR % 4 == 2) take($0); next }
        { s = s $0 }
        END { take(s); for (w in n) print n[w] "\t" w }' "$2" | sort
}

for k in 1 2 7 31 32; do
    for input in lines.fa whole.fa reads.fq; do
        words "$k" "$input" >expected
        exits 0 "$tamis" kmers -k "$k" -o words.tamis "$input"
        is_silent
        cut -f2 expected >given
        exits 0 "$tamis" count words.tamis given
        check "k $k, $input: counts are right" diff <(sort "$said/out") expected
        exits 0 "$tamis" kmers -k "$k" --print "$input"
        check "k $k, $input: words are right" diff <(sort "$said/out" | uniq -c |
            awk '{ print $1 "\t" $2 }' | sort) expected
    done
done
exits 0 "$tamis" kmers -k 31 -o a.tamis lines.fa
exits 0 "$tamis" kmers -k 31 -o b.tamis whole.fa
same a.tamis b.tamis
sed 's/$/\r/' lines.fa | gzip | "$tamis" kmers -k 31 -o b.tamis 2>"$said/err"
[ -s "$said/err" ] || same a.tamis b.tamis # it may have been built without zlib
exits 0 "$tamis" kmers -k 31 -o both.tamis lines.fa reads.fq
cat <(words 31 lines.fa) <(words 31 reads.fq) |
    awk '{ n[$2] += $1 } END { for (w in n) print n[w] "\t" w }' | sort >expected
exits 0 "$tamis" count both.tamis <(cut -f2 expected)
check "two inputs add up" diff <(sort "$said/out") expected

promise 'A word and its reverse complement are one, whichever is asked for in canonical form'
printf '>x\nGATTACA\n>y\nTGTAATC\n>z\nACGT\n' >strands.fa
exits 0 "$tamis" kmers -k 7 --canonical --print strands.fa
prints_exactly 'GATTACA\nGATTACA\n'
exits 0 "$tamis" kmers -k 7 --canonical -o strands.tamis strands.fa
echo tgtaatc | "$tamis" kmers -k 7 --canonical --print | "$tamis" count strands.tamis >counts
check "plain lines are sequences" diff counts - <<<$'2\tGATTACA'
exits 0 "$tamis" kmers -k 2 --print <<<$'ACG\nTT'
prints_exactly 'AC\nCG\nTT\n'

if command -v jellyfish >/dev/null; then
    for input in lines.fa reads.fq; do
        for canonical in '' -C; do
            # shellcheck disable=SC2086
            jellyfish count -m 21 -s 1M $canonical -o jelly "$input" && jellyfish dump -ct jelly |
                awk '{ print $2 "\t" $1 }' | sort >expected
            # shellcheck disable=SC2086
            exits 0 "$tamis" kmers -k 21 ${canonical:+--canonical} -o words.tamis "$input"
            exits 0 "$tamis" count words.tamis <(cut -f2 expected)
            check "$input $canonical: jellyfish counts the same" diff <(sort "$said/out") expected
            exits 0 "$tamis" list words.tamis
            check "and as many words" test "$(wc -l <"$said/out")" -eq "$(wc -l <expected)"
        done
    done
else
    skip "jellyfish is not installed"
fi

promise 'What is wrong is said, and nothing is saved'
rm -f none.tamis
exits 1 "$tamis" kmers -k 31 -o none.tamis <<<$'>short\nACGT'
says "no word of 31 letters"
exits 1 "$tamis" kmers -k 3 -o none.tamis </dev/null
exits 1 "$tamis" kmers -k 3 --print <<<$'>n\nNNNACNGT'
exits 2 "$tamis" kmers -k 3 -o none.tamis <<<'1 2 3'
says "standard input, line 1: not FASTA"
exits 2 "$tamis" kmers -k 3 -o none.tamis <<<$'@r\nACGT\n+\nIIIII'
says "line 4: there are more qualities than bases"
exits 2 "$tamis" kmers -k 3 -o none.tamis <<<$'@r\nACGT\n+\nII'
says "the last record is cut off"
exits 2 "$tamis" kmers -k 3 -o none.tamis <<<$'@r\nACGT'
says "the last record is cut off"
exits 2 "$tamis" kmers -k 3 -o none.tamis <<<$'@r\nACGT\n+\nIIII\nACGT'
says "line 5: a record of FASTQ begins with @"
exits 3 "$tamis" kmers -k 3 -o none.tamis missing
check_not "nothing was saved" test -e none.tamis
exits 2 "$tamis" kmers -o none.tamis lines.fa
says "give -k K"
exits 2 "$tamis" kmers -k 0 -o none.tamis lines.fa
exits 2 "$tamis" kmers -k 33 -o none.tamis lines.fa
exits 2 "$tamis" kmers -k 3 lines.fa
exits 2 "$tamis" kmers -k 3 --print -o none.tamis lines.fa
exits 5 "$tamis" kmers -k 3 -p 1e-19 -o none.tamis lines.fa
printf '@r\n\n+\n\n@s\nACG\n+x\nIII\n' >odd.fq
exits 0 "$tamis" kmers -k 3 --print odd.fq
prints_exactly 'ACG\n'
head -c 3000 /dev/urandom | tr -d '>@A-Za-z' >noise
exits 2 "$tamis" kmers -k 3 -o none.tamis noise
(echo '>x'; head -c 100000 /dev/urandom) >noise.fa
"$tamis" kmers -k 2 --print noise.fa >words 2>"$said/err"
check_not "words have bases only" grep -qv '^[ACGT][ACGT]$' words
