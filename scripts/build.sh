# Sourced by ./dev: compiling and packaging.

setup_for_preset() {
    case $1 in
        asan | tsan | fuzz) setup_build test sanitize ;;
        *) setup_build test ;;
    esac
}

# build_preset PRESET TARGETS [CMAKE OPTION...]; TARGETS are one word, with spaces between them.
build_preset() {
    local preset=$1 targets=$2
    shift 2
    say "building: $preset, $targets ($(jobs) at once)"
    cmake --preset "$preset" ${FIRN_PYARROW:+"-DFIRN_PYARROW=$FIRN_PYARROW"} -DFIRN_TESTS=ON "$@" >.deps/cmake.log 2>&1 ||
        { cat .deps/cmake.log >&2; die "cmake --preset $preset failed"; }
    # shellcheck disable=SC2086
    cmake --build "$(preset_folder "$preset")" --target $targets -j "$(jobs)" || die "building $targets failed"
}

preset_folder() {
    case $1 in
        fuzz) echo build/fuzzers ;;
        *) echo "build/$1" ;;
    esac
}

package_name() { echo "firn-$(version)-linux-x86_64"; }

# One archive with the program and every library that the C library's own package does not bring.
package_archive() {
    local name stage
    name=$(package_name)
    stage=build/package/$name
    setup_build
    build_preset release firn
    rm -rf build/package
    mkdir -p "$stage"
    cmake --install build/release --prefix "$stage" --strip >.deps/install.log || { cat .deps/install.log >&2; die "cmake --install failed"; }
    python3 scripts/licences.py "$stage"
    tar -C build/package --owner=0 --group=0 --numeric-owner --sort=name -czf "build/$name.tar.gz" "$name"
    rm -rf build/package
    say "build/$name.tar.gz: $(du -h "build/$name.tar.gz" | cut -f1)"
}
