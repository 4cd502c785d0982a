#!/usr/bin/env bash
# consumers.sh SOURCE BUILD: an installed tamis serves programs outside its tree, by pkg-config and
# by CMake, shared and static; so does the source tree added to another project. Then it goes.
. "$(dirname "$0")/scratch.sh"
version=$(sed -n 's/^#define TAMIS_VERSION "\(.*\)"/\1/p' "$source/include/tamis.h")

# Runs a consumer and expects the version from it.
run()
{
    local said
    said=$("$@") || fail "status $? from: $*"
    [ "$said" = "$version" ] || fail "version '$said', not '$version', from: $*"
    echo "ok: ${*#"$scratch"/}"
}

uses_shared()
{
    readelf -d "$1" | grep 'NEEDED.*libtamis\.so\.0' >/dev/null
}

# ---- The installed files -------------------------------------------------------------------------

DESTDIR=$scratch/root cmake --install "$build" --prefix /opt/tamis --strip >"$scratch/log"
prefix=$scratch/root/opt/tamis
lib=$(dirname "$(find "$prefix" -name libtamis.a)")

for file in bin/tamis share/man/man1/tamis.1 share/man/man3/tamis.3 \
    share/bash-completion/completions/tamis share/zsh/site-functions/_tamis \
    share/fish/vendor_completions.d/tamis.fish; do
    [ -s "$prefix/$file" ] || fail "$file is missing"
done
for name in $("$prefix/bin/tamis" help --names); do
    [ -s "$prefix/share/man/man1/tamis-$name.1" ] || fail "no manual page for tamis $name"
done
diff <(ls "$source/include") <(ls "$prefix/include") || fail "these headers are not installed"
[ "$(readlink "$lib/libtamis.so")" = libtamis.so.0 ] || fail "libtamis.so is not libtamis.so.0"
for file in "$prefix/bin/tamis" "$lib/libtamis.so" "$lib/libtamis.a"; do
    ! readelf -S "$file" | grep -F .debug_ >/dev/null || fail "$file is not stripped"
done
grep -rlF -e "$source" -e "$scratch" "$lib/cmake" "$lib/pkgconfig" && fail "a path of this machine"

# ---- pkg-config ----------------------------------------------------------------------------------

export PKG_CONFIG_PATH=$lib/pkgconfig
cp "$source/tests/install/consumer.c" "$scratch"
cd "$scratch"
[ "$(pkg-config --modversion tamis)" = "$version" ] || fail "version in tamis.pc"

read -ra flags < <(pkg-config --cflags --libs tamis)
"$cc" -std=c11 -Wall -Wextra -Werror consumer.c "${flags[@]}" -o shared
uses_shared "$scratch/shared" || fail "pkg-config: not linked to libtamis.so.0"
run env LD_LIBRARY_PATH="$lib" "$scratch/shared"

read -ra flags < <(pkg-config --static --cflags --libs tamis)
"$cc" -std=c11 -Wall -Wextra -Werror -static consumer.c "${flags[@]}" -o static
run "$scratch/static"

# ---- Examples ------------------------------------------------------------------------------------

# Each says at its top how it is compiled, with which packages.
for example in "$source"/examples/*.c; do
    name=$(basename "$example" .c)
    packages=$(sed -n 's/.*pkg-config --cflags --libs \([a-z0-9 ]*\)).*/\1/p' "$example" | head -n 1)
    read -ra packages <<<"$packages"
    if ! pkg-config --exists "${packages[@]}"; then
        echo "SKIPPED: example $name needs ${packages[*]}"
        continue
    fi
    read -ra flags < <(pkg-config --cflags --libs "${packages[@]}")
    "$cc" -std=c11 -Wall -Wextra -Werror "$example" "${flags[@]}" -pthread -lm -o "$name"
    words=()
    [ "$name" != guard ] || words=("$source/demo/text.txt" sieve)
    [ "$name" != similar ] || words=("$source/README.md" "$source/demo/text.txt")
    env LD_LIBRARY_PATH="$lib" "./$name" "${words[@]}" >"$scratch/log" || fail "status $? from example $name"
    echo "ok: example $name"
done

# ---- CMake ---------------------------------------------------------------------------------------

cmake_consumer()
{
    local folder=$1 name=$2
    shift 2
    mkdir "$scratch/$name"
    cp "$source/tests/install/$folder/CMakeLists.txt" "$source/tests/install/consumer.c" \
        "$scratch/$name"
    { cmake -S "$scratch/$name" -B "$scratch/$name/build" "$@" &&
        cmake --build "$scratch/$name/build" --target consumer -j2; } >"$scratch/log" 2>&1 ||
        { cat "$scratch/log" >&2; fail "$name does not build"; }
    run "$scratch/$name/build/consumer"
}

cmake_consumer package cmake-shared -DCMAKE_PREFIX_PATH="$prefix" -DLINKAGE=shared
uses_shared "$scratch/cmake-shared/build/consumer" || fail "find_package: not shared"
cmake_consumer package cmake-static -DCMAKE_PREFIX_PATH="$prefix" -DLINKAGE=static
! uses_shared "$scratch/cmake-static/build/consumer" || fail "find_package: not static"
cmake_consumer package cmake-default -DCMAKE_PREFIX_PATH="$prefix" -DLINKAGE=
# The whole library is compiled once more: in a long run.
[ -z "${TAMIS_LONG:-}" ] || cmake_consumer subproject cmake-subproject -DTAMIS_SOURCE="$source"

# ---- Gone again ----------------------------------------------------------------------------------

touch "$prefix/bin/other"
DESTDIR=$scratch/root "$source/tools/uninstall" "$build" --prefix /opt/tamis >"$scratch/log"
[ "$(find "$prefix" ! -type d)" = "$prefix/bin/other" ] || fail "uninstall left or took too much"
[ -z "$(find "$prefix" -mindepth 1 -name tamis)" ] || fail "uninstall left folders"
