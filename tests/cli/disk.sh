#!/usr/bin/env bash
# Filters larger than memory: tamis build, add and remove with --memory on kinds that can resize.
. "$(dirname "$0")/check.sh"

seq 200000 >first
seq 200001 300000 >second
seq 100000 >gone
cat first second >both
sed 1,100000d both >left

for kind in $(kinds_that resize); do
    promise 'The same file as in memory, built, added to and removed from'
    exits 0 "$tamis" build -k "$kind" -n 400000 -p 1e-6 -o plain.tamis first
    exits 0 "$tamis" build -k "$kind" -n 400000 -p 1e-6 --memory 16M -o disk.tamis first
    same plain.tamis disk.tamis
    exits 0 "$tamis" add plain.tamis second
    exits 0 "$tamis" add --memory 12M disk.tamis second
    is_silent
    same plain.tamis disk.tamis
    exits 0 "$tamis" remove plain.tamis gone
    exits 0 "$tamis" remove --memory 12M disk.tamis gone
    is_silent
    same plain.tamis disk.tamis
    exits 0 "$tamis" query -c --map disk.tamis left
    prints 200000
    promise 'What is not there is passed over'
    exits 0 "$tamis" remove --memory 12M disk.tamis gone
    same plain.tamis disk.tamis
    exits 0 "$tamis" verify disk.tamis

    promise 'Full: said, and what was merged stays'
    exits 0 "$tamis" build -k "$kind" -n 1000 -p 1e-6 -o small.tamis <<<one
    exits 5 "$tamis" add --memory 12M small.tamis first
    says "full"
    exits 0 "$tamis" verify small.tamis

    exits 6 "$tamis" add --memory 1M disk.tamis second
    says "--memory is too little"
done

promise 'Other kinds say what to do'
seq 10 | exits 0 "$tamis" build -k bloom -o bloom.tamis
exits 2 "$tamis" add --memory 64M bloom.tamis first
says "without --memory"
exits 3 "$tamis" add --memory 64M nowhere.tamis first
[ -z "$(find . -name '.*.tmp.*')" ] || failed "left behind: $(find . -name '.*.tmp.*')"
