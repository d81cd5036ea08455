# Sourced by ./dev: compiling, packaging, sanitizers, fuzzing.

setup_for_preset() {
    case $1 in
        asan | tsan | fuzz) setup_build test sanitize ;;
        *) setup_build test ;;
    esac
}

# build_preset PRESET TARGET [CMAKE OPTION...]
build_preset() {
    local preset=$1 target=$2
    shift 2
    say "building: $preset, $target ($(jobs) at once)"
    cmake --preset "$preset" ${FIRN_PYARROW:+"-DFIRN_PYARROW=$FIRN_PYARROW"} -DFIRN_TESTS=ON "$@" >.deps/cmake.log 2>&1 ||
        { cat .deps/cmake.log >&2; die "cmake --preset $preset failed"; }
    cmake --build "$(preset_folder "$preset")" --target "$target" -j "$(jobs)" || die "building $target failed"
}

preset_folder() {
    case $1 in
        fuzz) echo build/asan ;;
        *) echo "build/$1" ;;
    esac
}

# What sanitized programs need to know: Arrow's library is not built with sanitizers.
sanitizer_environment() {
    export ASAN_OPTIONS=detect_container_overflow=0:detect_stack_use_after_return=1:strict_string_checks=1
    export UBSAN_OPTIONS=print_stacktrace=1
    export LSAN_OPTIONS=suppressions=$PWD/tests/sanitize/leak.txt:print_suppressions=0
    export TSAN_OPTIONS=suppressions=$PWD/tests/sanitize/thread.txt:halt_on_error=1:second_deadlock_stack=1
}

sanitize() {
    local preset=$1
    case $preset in asan | tsan) ;; *) die "sanitize asan or tsan, not '$preset'" ;; esac
    setup_for_preset "$preset"
    build_preset "$preset" all
    sanitizer_environment
    ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(jobs)"
    if [ -x "build/$preset/firn" ]; then
        say "fixture queries under $preset"
        python3 tests/differential/run.py --firn "build/$preset/firn" --short
    fi
}

fuzz_targets() {
    local file
    for file in tests/fuzz/*_fuzzer.cpp; do
        [ -e "$file" ] && basename "$file" _fuzzer.cpp
    done
    return 0
}

# fuzz_one TARGET SECONDS: new inputs go to build/fuzz/TARGET/corpus, crashing ones to build/fuzz/TARGET.
fuzz_one() {
    local target=$1 seconds=$2 work=build/fuzz/$1 seeds=()
    [ -e "tests/fuzz/${target}_fuzzer.cpp" ] || die "no fuzz target '$target'; there are: $(fuzz_targets | tr '\n' ' ')"
    setup_for_preset fuzz
    build_preset fuzz "${target}_fuzzer"
    sanitizer_environment
    mkdir -p "$work/corpus" "$work/seeds"
    python3 tests/fuzz/seeds.py "$target" "$work/seeds"
    [ -d "tests/fuzz/corpus/$target" ] && seeds+=("tests/fuzz/corpus/$target")
    say "fuzzing $target for $seconds seconds"
    "build/asan/tests/fuzz/${target}_fuzzer" "$work/corpus" "$work/seeds" "${seeds[@]}" -max_total_time="$seconds" \
        -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=1024 -print_funcs=0 -artifact_prefix="$work/" \
        2>"$work/log" || { tail -n 60 "$work/log" >&2; die "fuzz target $target found something: see $work"; }
    grep -E '^Done [0-9]+ runs' "$work/log"
}

fuzz() {
    local seconds=60 targets=()
    while [ $# -gt 0 ]; do
        case $1 in
            [0-9]*) seconds=$1 ;;
            *) targets+=("$1") ;;
        esac
        shift
    done
    # shellcheck disable=SC2046
    [ ${#targets[@]} -gt 0 ] || set -- $(fuzz_targets)
    for target in "${targets[@]:-$@}"; do fuzz_one "$target" "$seconds"; done
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
