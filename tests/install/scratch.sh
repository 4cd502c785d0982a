# scratch.sh: what scripts of this folder begin with. Their arguments are SOURCE and BUILD.
set -euo pipefail

source=$1
build=$2
cc=${CC:-cc}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail()
{
    echo "$(basename "$0"): $*" >&2
    exit 1
}
