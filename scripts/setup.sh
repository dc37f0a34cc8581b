#!/usr/bin/env bash
# Installs what linkperf needs on Debian and Ubuntu, and is quick and quiet when nothing is missing. It never touches
# drivers, CUDA or NCCL: those are the machine's.
#
#   scripts/setup.sh [--check] [build|test|lint|plot ...]      all groups by default
#
# build: what make needs; test: make test; lint: make lint; plot: make plot and scripts/plot.py.
# --check only says what is missing, and exits 1 then. Otherwise 1 means that something could not be installed.
set -u

# group, package, and the test that it, or something as good from elsewhere, is there; a package may be in several groups
table() {
    cat <<'END'
build gcc                program gcc
build libc6-dev          header  stdio.h
build make               program make
build pkg-config         program pkg-config
build openmpi-bin        program mpirun
build libopenmpi-dev     program mpicc
build libhwloc-dev       library hwloc
build libjansson-dev     library jansson
build libyaml-dev        library yaml-0.1
build libsmartcols-dev   library smartcols
build util-linux         program lscpu
test  libcmocka-dev      library cmocka
test  bats               program bats
test  procps             program pgrep
test  python3            program python3
test  python3-matplotlib module  matplotlib
lint  clang-format       program clang-format
lint  cppcheck           program cppcheck
lint  shellcheck         program shellcheck
plot  python3-matplotlib module  matplotlib
END
}

program() {
    case $1 in
    gcc) command -v "${CC:-gcc}" || command -v gcc ;;
    mpicc) command -v "${MPICC:-mpicc}" ;;
    *) command -v "$1" ;;
    esac >/dev/null 2>&1
}

library() {
    if program pkg-config; then pkg-config --exists "$1"; else false; fi
}

header() {
    ! program gcc || echo "#include <$1>" | gcc -E - >/dev/null 2>&1
}

# As scripts/plot.py does: of the system's python where the first on the PATH (pyenv, conda) has none.
module() {
    local python
    for python in python3 /usr/bin/python3; do
        "$python" -c "import $1" </dev/null >/dev/null 2>&1 && return
    done
    return 1
}

# The packages of $groups that are missing, one a line, each once. Nothing can be said of libraries before pkg-config is
# there; then what dpkg says must do.
missing() {
    local group package kind what
    table | while read -r group package kind what; do
        case " $groups " in *" $group "*) ;; *) continue ;; esac
        "$kind" "$what" && continue
        if [ "$kind" = library ] && ! program pkg-config && dpkg -s "$package" >/dev/null 2>&1; then
            continue
        fi
        echo "$package"
    done | awk '!seen[$0]++'
}

# The words of stdin in one line.
line() {
    tr '\n' ' ' | sed 's/ $//'
}

cannot() { # PACKAGES WHY
    echo "setup.sh: cannot install $1: $2" >&2
}

groups=""
check=no
for arg in "$@"; do
    case $arg in
    --check) check=yes ;;
    build | test | lint | plot) groups="$groups $arg" ;;
    *)
        echo "usage: scripts/setup.sh [--check] [build|test|lint|plot ...]" >&2
        exit 2
        ;;
    esac
done
[ -n "$groups" ] || groups="build test lint plot"

wanted=$(missing | line)
[ -n "$wanted" ] || exit 0
if [ $check = yes ]; then
    echo "missing: $wanted; install that or run scripts/setup.sh" >&2
    exit 1
fi

if ! program apt-get; then
    cannot "$wanted" "there is no apt-get here; install these or their like with this system's own tools"
    exit 1
fi
as_root=()
if [ "$(id -u)" != 0 ]; then
    as_root=(sudo -n)
    if ! program sudo; then
        cannot "$wanted" "not root, and there is no sudo: ask an administrator for: apt-get install $wanted"
        exit 1
    elif ! sudo -n true 2>/dev/null; then
        cannot "$wanted" "not root, and sudo wants a password: sudo apt-get install $wanted"
        exit 1
    fi
fi

echo "setup.sh: installing $wanted" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" </dev/null >"$log" 2>&1
}

apt update || echo "setup.sh: apt-get update failed, going on with the lists that are there: $(grep -m 1 '^[EW]:' "$log")" >&2
known=()
for package in $wanted; do
    if [ -n "$(apt-cache madison "$package" 2>/dev/null)" ]; then
        known+=("$package")
    else
        cannot "$package" "apt knows no such package"
    fi
done
if [ ${#known[@]} -gt 0 ] && ! apt install --no-install-recommends "${known[@]}"; then
    for package in "${known[@]}"; do # one that cannot be had does not stop the others
        apt install --no-install-recommends "$package" || cannot "$package" "$(grep -m 1 '^E:' "$log" || tail -n 1 "$log")"
    done
fi

wanted=$(missing | line)
[ -n "$wanted" ] || exit 0
echo "setup.sh: still missing: $wanted" >&2
exit 1
