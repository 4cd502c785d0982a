#!/usr/bin/env bash
# Numbers are read strictly, and a refusal tells the range.
. "$(dirname "$0")/check.sh"

seq 100 >keys

promise 'A rate is above 0 and below 1, or a percentage'
for fpr in 0 1 1.000001 -0.1 -1 nan NaN inf -inf abc '' ' 0.1' 0.1x 0x1p-3 1e-300 1e-20 1,5 % 0% 101% 1%% 1e-1% %1 '1 %' --; do
    exits 2 "$tamis" plan --keys 100 "--fpr=$fpr"
    says "below 1"
    says "2^-64"
    exits 2 "$tamis" build "--fpr=$fpr" -k bloom -o out.tamis keys
    says "2^-64"
done
for fpr in 0.5 .25 1e-3 5.5e-20 0.01 1E-2 1% 0.1% 50% .5% 0.61 99.9999999% 0.9999999999999999; do
    exits 0 "$tamis" build --fpr "$fpr" -k hashset -n 1000 --hash raw -o out.tamis keys
done

exits 0 "$tamis" plan -n 1000 -p 0.1%
cp "$said/out" percent
exits 0 "$tamis" plan -n 1000 -p 0.001
same "$said/out" percent

promise 'A count of keys is a whole number, with a suffix or an exponent'
for n in 0 '' ' 7' '7 ' 7x -1 +7 0x10 1e 1e-3 1.5 1.2345k .5k 1kk 1ki e9 18446744073709551616 1e20 \
    18446744073709552k 99999999999999999999 nan; do
    exits 2 "$tamis" plan "--keys=$n"
    says "from 1 to 18446744073709551615"
    exits 2 "$tamis" build "-n$n" -k bloom -o out.tamis keys
done

keys_of()
{
    exits 0 "$tamis" plan --keys "$1" --json --can add
    json_is "$1 keys are $2" 'it[0]["keys"]' "$2"
}
keys_of 1 1
keys_of 1000 1000
keys_of 1e3 1000
keys_of 10k 10000
keys_of 10K 10000
keys_of 1M 1000000
keys_of 1.5M 1500000
keys_of 1.5e6 1500000
keys_of 1G 1000000000
keys_of 007 7

promise 'A limit of bytes is a number, with a suffix'
for bytes in 0 '' ' 7' 7x -1 0x10 1KB 16777216T 18446744073709551616; do
    exits 2 "$tamis" plan -n 10 "--max-bytes=$bytes"
    says "from 1 to 18446744073709551615 bytes"
done
exits 0 "$tamis" plan --max-bytes 64K --fpr 0.01 --json --can add
json_holds "no plan is over 64 KiB" 'max(p["bytes"] for p in it) <= 65536'
exits 0 "$tamis" plan --max-bytes 65536 --fpr 0.01 --json --can add
cp "$said/out" by-bytes
exits 0 "$tamis" plan --max-bytes 64k --fpr 0.01 --json --can add
same "$said/out" by-bytes

promise 'More keys than fit in any memory are refused, and more than 2^32 bits are not'
for n in 1e15 1e18 18446744073709551615; do
    exits 5 "$tamis" plan --keys "$n"
    exits 5 "$tamis" build -n "$n" -k bloom -o out.tamis keys
    says "cannot hold $([ "$n" != 1e15 ] || echo 1000000000000000)"
    exits 5 "$tamis" build -n "$n" -o out.tamis keys
done
exits 5 "$tamis" plan --keys 1e9 --fpr 1e-6 --max-bytes 1M
exits 0 "$tamis" plan --keys 5e9 --fpr 0.01 --json # over 2^32 bits
check "the bloom plan for 5e9 keys has over 2^32 bits" test \
    "$(json '[p["bytes"] for p in it if p["kind"] == "bloom"][0] * 8 > 2**32')" = True

promise 'Threads, fields, seeds, delimiters and lists are in their ranges'
for n in 0 257 '' -1 x 1e9; do
    exits 2 "$tamis" build "-j$n" -k bloom -o out.tamis keys
    says "from 1 to 256"
done
for n in 0 '' -1 4294967296; do
    exits 2 "$tamis" build "--field=$n" -k bloom -o out.tamis keys
    says "from 1 to 4294967295"
done
exits 2 "$tamis" build --field=x -k bloom -o out.tamis keys
says "no column of its first line is called 'x'"
for seed in '' -1 x 1e3 0x 0xg 18446744073709551616 0x10000000000000000; do
    exits 2 "$tamis" build "--seed=$seed" -k bloom -o out.tamis keys
    says "from 0 to 18446744073709551615"
done
for delim in '' ab $'\303\251'; do
    exits 2 "$tamis" build --field 1 "--delim=$delim" -k bloom -o out.tamis keys
    says "one byte"
done
exits 2 "$tamis" build --delim , -k bloom -o out.tamis keys
says "--field"
for list in '' ',' 'add,' ',add' nonsense add,nonsense ADD; do
    exits 2 "$tamis" plan -n 10 "--can=$list"
    says "choose from add,"
done
exits 2 "$tamis" plan -n 10 --hash md5
says "fast, keyed or raw"
exits 2 "$tamis" plan
says "--keys"
exits 2 "$tamis" plan --fpr 0.1
exits 2 "$tamis" build -k nonsense -o out.tamis keys
says "'nonsense'"
