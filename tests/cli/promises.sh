#!/usr/bin/env bash
# The assertions of these scripts: what holds counts, and what fails is named with what came.
. "$(dirname "$0")/check.sh"

# report TEXT: a script of these assertions runs, and ends with an exit code of its own.
cp "$tests/check.sh" .
report()
{
    printf '. ./check.sh\n%s\n' "$1" >some.sh
    bash some.sh "$tamis" >report
}

section 'What holds'
report "
exits 0 printf '%s\\n' '{\"a\": 1}' '[x'
prints '\"a\": 1}
[x'
prints_exactly '{\"a\": 1}\n[x\n'
check lines has_lines \"\$said/out\" 2
check line has_line \"\$said/out\" '^.[ax]\$'
check_not part has_line \"\$said/out\" '^x'
is_silent
exits 0 printf 'a\\0b'
prints_exactly 'a\\0b'
prints b
exits 0 echo '[1, {\"b\": \"2\"}]'
prints_json
json_is two 'it[1][\"b\"]' 2
json_holds both 'it[0] == 1' 'len(it) == 2'
echo here >one && echo here >two
same one two
echo here | same /dev/stdin one
differ one <(echo there)
(json_is 'in a subshell' 'it[0]' 1; [ \$failures -eq 0 ]) || failed 'a subshell'
"
check "each is counted" has_lines report 1
check "and none has failed" has_text report '17 checks, 0 failed'

section 'What fails'
# fails ASSERTION ROW...: it says so, in these rows.
fails()
{
    check_not "$1 fails" report "
section 'A section'
promise 'A promise'
exits 0 printf '%s\n' '{\"a\": 1}'
$1"
    check "$1: names" has_line report '^FAILED cli\.some, A section: A promise: '
    check "$1: what was run" has_line report '^    ran     printf %s\\\\n '
    check "$1: what came" has_text report '    printed {"a": 1}'
    shift
    for row; do
        check "'$row' is told" has_text report "$row"
    done
    check "one has failed" has_line report '^[12] checks, 1 failed$'
}
fails "check 'is three' test 2 -eq 3" 'A promise: is three' '    wanted  success of test 2 -eq 3'
fails "check_not 'is not two' test 2 -eq 2" '    wanted  failure of test 2 -eq 2'
fails "prints b" "    wanted  with 'b'"
fails "prints_exactly '{\"a\": 1}'" "    wanted  '{\"a\": 1}'"
fails "prints_exactly '{\"a\": 1}\\n\\0'"
fails "prints_nothing" "    wanted  nothing"
fails "says b" "standard error"
fails "json_is one 'it[\"a\"]' 2" 'A promise: one' '    wanted  it["a"] is 2' '    came    1'
fails "json_holds one 'it[\"b\"] == 2'" "    came    KeyError: 'b'"
fails "echo a >one; echo b >two; same one two" '    wanted  one is two' '    came    one two differ: byte 1, line 1'
fails "touch a; same a nowhere" '    wanted  a is nowhere'
fails "touch a; differ a a" '    wanted  a is not a'
fails "touch a; differ a nowhere" 'nowhere: No such file'

check_not "another exit code fails" report "exits 0 bash -c 'echo two >&2; exit 2'"
check "both codes are told" has_text report $'exit code\n    ran     bash -c echo\\ two\\ \\>\\&2\\;\\ exit\\ 2 \n    wanted  0\n    came    2\n    said    two'
check_not "an error that is no message fails" report "exits 2 bash -c 'echo two >&2; exit 2'"
check "what a message is, is told" has_text report "    wanted  one line that starts with 'tamis: '"
check_not "no assertion is a failure" report :

section 'Kinds'
report 'kinds_that remove; check some true'
check "without KIND, several" has_line report '^cqf$'
KIND='fuse cuckoo' report 'kinds_that remove; check some true'
check "with KIND, these" test "$(cat report)" = $'cuckoo\n1 checks, 0 failed'
