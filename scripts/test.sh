# Sourced by ./dev: the test suites. suite_NAME runs one and fails when it fails; suites lists them in the order of a full run.
# More are run by name: tsan compiles the tree a third time, storage and catalogs install and start servers.

suites="lint unit cli sql fixtures cases counts conformance differential parquet docs package sanitize fuzz"

# build/release with the tests in it.
release_build() {
    setup_build test
    build_preset release all
    firn=$PWD/build/release/firn
}

suite_unit() {
    release_build
    ctest --test-dir build/release --output-on-failure --no-tests=error -j "$(jobs)"
}
suite_cli() { release_build; python3 tests/cli/run.py --firn "$firn"; }
suite_sql() { release_build; python3 tests/sql/run.py --firn "$firn"; }
suite_fixtures() { release_build; python3 tests/fixtures/run.py --firn "$firn"; }
suite_cases() { release_build; python3 tests/cases/run_reading.py --firn "$firn"; }
suite_counts() { release_build; python3 tests/counts/run.py --firn "$firn"; }
suite_conformance() { release_build; python3 tests/conformance/ratchet.py --firn "$firn"; }
suite_differential() { release_build; python3 tests/differential/run.py --firn "$firn"; }
suite_docs() { release_build; python3 tests/docs/run.py --firn "$firn"; }
suite_lint() { lint; }

# Real catalogs: the reference REST server, Nessie, the Hive metastore (JDK 17 and 21, Maven), moto and SeaweedFS (wheels).
suite_catalogs() {
    release_build
    setup_requirements bench/requirements.txt
    .deps/venv/bin/python tests/catalogs/run.py --firn "$firn"
}

suite_parquet() {
    release_build
    local place=${FIRN_PARQUET_TESTING:-../shared/parquet-testing}
    [ -d "$place/data" ] || { say "no parquet-testing at $place: skipped"; return "$skipped_status"; }
    setup_requirements tests/requirements.txt
    .deps/venv/bin/python tests/parquet_testing/run.py --firn "$firn" "$place"
}

# Real servers: SeaweedFS (a wheel), versitygw (Go), Azurite (Node), Hadoop (a JDK and Maven). FIRN_STORAGE_PARTS picks among them.
suite_storage() {
    release_build
    setup_requirements bench/requirements.txt
    .deps/venv/bin/python tests/storage/run.py --firn "$firn" --only "${FIRN_STORAGE_PARTS:-seaweedfs,versitygw,azurite,gcs,hdfs,secrets,many,trips}"
}

suite_package() {
    release_build
    package_archive
    scripts/try_package.sh build/"$(package_name)".tar.gz
}

suite_sanitize() { sanitize asan short; }
suite_tsan() { sanitize tsan short; }
suite_fuzz() { fuzz_all asan "${FIRN_FUZZ_SECONDS:-5}"; } # the build of suite sanitize; ./dev fuzz makes one that is optimised

skipped_status=77 # of a suite that cannot run here

# Runs the named suites, all of them, and then says what came of each.
run_suites() {
    local suite status begin failed=0 skipped=0 lines=()
    for suite in "$@"; do
        declare -F "suite_$suite" >/dev/null || die "no suite '$suite'; there are: $suites"
    done
    for suite in "$@"; do
        say "suite $suite"
        begin=$SECONDS
        set +e # inside an `if`, bash would ignore set -e in the suite too
        (set -e; "suite_$suite") </dev/null
        status=$?
        set -e
        if [ "$status" = 0 ]; then
            lines+=("$(printf '%-14s passed %5d s' "$suite" $((SECONDS - begin)))")
        elif [ "$status" = "$skipped_status" ]; then
            lines+=("$(printf '%-14s skipped' "$suite")")
            skipped=$((skipped + 1))
        else
            lines+=("$(printf '%-14s FAILED %5d s' "$suite" $((SECONDS - begin)))")
            failed=$((failed + 1))
        fi
    done
    say "summary"
    printf '    %s\n' "${lines[@]}"
    echo "$(($# - failed - skipped)) suites passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}
