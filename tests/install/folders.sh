#!/usr/bin/env bash
# folders.sh SOURCE: the same sources, built in two folders, give the same library and the same program,
# byte for byte, with the lines that a backtrace needs.
set -euo pipefail

source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail()
{
    echo "folders: $*" >&2
    exit 1
}

made=(libtamis.a libtamis.so tamis)

# built_in FOLDER BUILD: a copy of the sources there, and what is made of them.
built_in()
{
    mkdir -p "$1"
    cp -r "$source"/{CMakeLists.txt,cmake,cli,apps,completions,demo,ext,include,man,src,bench,bindings,LICENSE} "$1"
    # A cache of compiled files would give the second folder what it made in the first.
    cmake -S "$1" -B "$2" --log-level=NOTICE -DCMAKE_C_COMPILER_LAUNCHER= >log 2>&1 &&
        cmake --build "$2" -j2 --target tamis-static tamis-shared tamis-cli >log 2>&1 || {
        cat log >&2
        fail "it does not build in $2"
    }
}

built_in short short/build
built_in a-longer/folder elsewhere
for file in "${made[@]}"; do
    cmp "short/build/$file" "elsewhere/$file" || fail "$file depends on the folder it is built in"
done
for file in "${made[@]}"; do
    ! grep -q "$scratch" "elsewhere/$file" || fail "$file names the folder it was built in"
done
echo "folders: ${made[*]} are the same in both"
