# Sourced by ./dev: builds under sanitizers, and fuzzing.

# What sanitized programs need to know. Reports go to files, since the tests expect some statements to fail and keep
# standard error to themselves. Arrow's library is not built with sanitizers: containers that it fills look overflown.
sanitizer_environment() {
    local reports=$1 symbolizer
    symbolizer=$(command -v llvm-symbolizer-14 || true)
    rm -rf "$reports"
    mkdir -p "$reports"
    export FIRN_TEST_SECONDS=300
    export ASAN_OPTIONS=detect_container_overflow=0:detect_stack_use_after_return=1:strict_string_checks=1:log_path=$reports/asan
    export UBSAN_OPTIONS=print_stacktrace=1:log_path=$reports/ubsan
    export LSAN_OPTIONS=suppressions=$PWD/tests/sanitize/leak.txt:print_suppressions=0
    [ -z "$symbolizer" ] || export ASAN_SYMBOLIZER_PATH=$symbolizer TSAN_SYMBOLIZER_PATH=$symbolizer UBSAN_SYMBOLIZER_PATH=$symbolizer
    export TSAN_OPTIONS=suppressions=$PWD/tests/sanitize/thread.txt:halt_on_error=1:second_deadlock_stack=1:log_path=$reports/tsan
}

# Prints what the sanitizers reported, and fails if they did.
no_reports() {
    local reports=$1 found
    found=$(find "$reports" -type f | sort)
    [ -n "$found" ] || return 0
    # shellcheck disable=SC2086
    head -v -n 40 $(echo "$found" | head -n 5) >&2
    die "sanitizers reported $(echo "$found" | wc -l) times: see $reports"
}

# sanitize PRESET [short]: unit tests and queries; the short form is a part of them that fits into every full test run.
sanitize() {
    local preset=$1 form=${2:-long} reports=$PWD/build/$1/reports failed=0 firn=build/$1/firn set=() targets=all tests=.
    case $preset in
        asan) ;;
        tsan)
            set=(--set max_threads=4)
            if [ "$form" = short ]; then # the rooms with threads
                targets="firn test_base test_storage test_iceberg test_exec test_session"
                tests="unit_(base|storage|iceberg|exec|session)$"
            fi ;;
        *) die "sanitize asan or tsan, not '$preset'" ;;
    esac
    setup_for_preset "$preset"
    build_preset "$preset" "$targets"
    sanitizer_environment "$reports"
    ulimit -s 65536 2>/dev/null || true # frames that are not optimised are large, and some tests nest deeply
    say "unit tests under $preset"
    ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(jobs)" -R "$tests" || failed=1
    say "queries under $preset"
    python3 tests/sql/run.py --firn "$firn" "${set[@]}" || failed=1
    if [ "$form" = long ]; then
        python3 tests/differential/run.py --firn "$firn" --short || failed=1
        python3 tests/conformance/ratchet.py --firn "$firn" || failed=1
    else
        python3 tests/differential/run.py --firn "$firn" --short --every 6 || failed=1
    fi
    no_reports "$reports"
    [ "$failed" = 0 ] || die "tests failed under $preset"
}

fuzz_targets() {
    local file
    for file in tests/fuzz/*_fuzzer.cpp; do
        [ -e "$file" ] && basename "$file" _fuzzer.cpp
    done
    return 0
}

# fuzz_one PROGRAM TARGET SECONDS: new inputs go to build/fuzz/TARGET/corpus, crashing ones to build/fuzz/TARGET.
fuzz_one() {
    local program=$1 target=$2 seconds=$3 work=build/fuzz/$2 seeds=()
    mkdir -p "$work/corpus" "$work/seeds"
    python3 tests/fuzz/seeds.py "$target" "$work/seeds"
    [ -d "tests/fuzz/corpus/$target" ] && seeds+=("tests/fuzz/corpus/$target")
    say "fuzzing $target for $seconds seconds"
    "$program" "$work/corpus" "$work/seeds" "${seeds[@]}" -max_total_time="$seconds" \
        -timeout=30 -rss_limit_mb=2048 -malloc_limit_mb=1024 -print_funcs=0 -artifact_prefix="$work/" \
        2>"$work/log" || { tail -n 60 "$work/log" >&2; die "fuzz target $target found something: see $work"; }
    grep -E '^Done [0-9]+ runs' "$work/log"
}

# fuzz_all PRESET SECONDS [TARGET...]: each target in turn; none named: all.
fuzz_all() {
    local preset=$1 seconds=$2 targets=("${@:3}") target
    # shellcheck disable=SC2207
    [ ${#targets[@]} -gt 0 ] || targets=($(fuzz_targets))
    for target in "${targets[@]}"; do
        [ -e "tests/fuzz/${target}_fuzzer.cpp" ] || die "no fuzz target '$target'; there are: $(fuzz_targets | tr '\n' ' ')"
    done
    setup_for_preset fuzz
    build_preset "$preset" "${targets[*]/%/_fuzzer}"
    export UBSAN_OPTIONS=print_stacktrace=1 LSAN_OPTIONS=suppressions=$PWD/tests/sanitize/leak.txt:print_suppressions=0
    export ASAN_OPTIONS=detect_container_overflow=0:detect_stack_use_after_return=1
    for target in "${targets[@]}"; do
        fuzz_one "$(preset_folder "$preset")/tests/fuzz/${target}_fuzzer" "$target" "$seconds"
    done
}

# fuzz [TARGET...] [SECONDS]
fuzz() {
    local seconds=60 targets=()
    while [ $# -gt 0 ]; do
        case $1 in
            [0-9]*) seconds=$1 ;;
            *) targets+=("$1") ;;
        esac
        shift
    done
    fuzz_all fuzz "$seconds" "${targets[@]}"
}
