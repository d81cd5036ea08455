# Sourced by ./dev: installs what is missing, and nothing else. Every function may be called again at no cost.

# The packages of the given groups of packages/debian.txt.
listed_packages() {
    local group
    for group in "$@"; do
        sed -n "/^\[$group\]/,/^\[/p" packages/debian.txt | grep -Ev '^(\[|#|$)'
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo -E "$@"
    else die "installing packages needs root or sudo; missing packages: ${missing[*]}"
    fi
}

# Runs a command up to three times: networks have bad moments.
retry() {
    local try
    for try in 1 2 3; do
        "$@" && return 0
        [ "$try" = 3 ] || { say "that failed; trying once more in 5 seconds"; sleep 5; }
    done
    return 1
}

setup_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "no apt here: taking the packages of packages/debian.txt as installed"
        return
    fi
    local package missing=()
    for package in $(listed_packages "$@"); do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} = 0 ] && return
    say "installing ${#missing[@]} packages: ${missing[*]}"
    retry as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq || die "apt-get update failed"
    retry as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o Dpkg::Use-Pty=0 "${missing[@]}" >.deps/apt.log 2>&1 || { tail -n 20 .deps/apt.log >&2; die "apt-get install failed"; }
}

# A Python environment of its own, so that the system's stays as it is.
setup_python() {
    [ -x .deps/venv/bin/pip ] && return
    say "making a Python environment in .deps/venv"
    rm -rf .deps/venv
    python3 -m venv .deps/venv
}

# Python packages from a requirements file, once for each state of that file.
setup_requirements() {
    local file=$1 stamp
    stamp=.deps/venv/.$(echo "$file" | tr / -).$(sha256sum "$file" | cut -c1-16)
    setup_python
    [ -e "$stamp" ] && return
    say "installing Python packages: $file"
    retry .deps/venv/bin/pip install -q --only-binary=:all: -r "$file" || die "pip install -r $file failed"
    touch "$stamp"
}

# Arrow's headers and libraries into .deps/pyarrow, from the pinned wheel. FIRN_PYARROW names another copy.
setup_arrow() {
    [ -n "${FIRN_PYARROW:-}" ] && return
    local stamp
    stamp=.deps/pyarrow/.$(sha256sum packages/arrow.txt | cut -c1-16)
    [ -e "$stamp" ] && return
    setup_python
    say "downloading Arrow C++ (the pyarrow wheel, 55 MB)"
    rm -rf .deps/wheel .deps/pyarrow
    mkdir -p .deps/wheel
    retry .deps/venv/bin/pip download -q --no-deps --require-hashes --only-binary=:all: --python-version 3.11 \
        --implementation cp --abi cp311 --platform manylinux_2_28_x86_64 -d .deps/wheel -r packages/arrow.txt ||
        die "pip download of the pyarrow wheel failed"
    python3 - <<'PYTHON'
import glob, os, re, zipfile

wanted = re.compile(r"pyarrow/include/|pyarrow/libarrow\.so\.\d+$|pyarrow-.*/licenses/")
with zipfile.ZipFile(glob.glob(".deps/wheel/*.whl")[0]) as wheel:
    for name in wheel.namelist():
        if wanted.match(name):
            wheel.extract(name, ".deps")
PYTHON
    cp .deps/pyarrow-*.dist-info/licenses/LICENSE.txt .deps/pyarrow/LICENSE.txt
    rm -rf .deps/wheel .deps/pyarrow-*.dist-info
    touch "$stamp"
}

setup_build() {
    mkdir -p .deps
    setup_packages build "$@"
    setup_arrow
}
