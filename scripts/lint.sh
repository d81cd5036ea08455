# Sourced by ./dev: format and static checks.

source_files() { git ls-files --cached --others --exclude-standard -- 'src/*.cpp' 'src/*.h' 'include/*.h' 'tests/*.cpp' 'tests/*.h' 'bench/*.cpp' 'bench/*.h'; }

format() {
    setup_packages lint
    if [ "${1:-}" = --check ]; then
        local file bad=0
        for file in $(source_files); do
            clang-format-14 --dry-run --Werror "$file" 2>/dev/null || { echo "not formatted: $file"; bad=$((bad + 1)); }
        done
        [ "$bad" = 0 ] || die "$bad files are not formatted: run ./dev format"
    else
        source_files | xargs -r clang-format-14 -i
    fi
}

# Sources changed since the last commit on the main branch, or in the last commit when nothing else is.
changed_sources() {
    local base
    base=$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD)
    [ "$base" != "$(git rev-parse HEAD)" ] || base=$(git rev-parse -q --verify HEAD~1 || echo HEAD)
    { git diff --name-only --diff-filter=d "$base" -- 'src/*.cpp'; git ls-files --others --exclude-standard -- 'src/*.cpp'; } | sort -u
}

lint() {
    setup_build test lint
    say "includes and file lengths"
    python3 scripts/check_tree.py || die "the tree's rules are broken"
    say "format"
    format --check
    say "clang-tidy"
    build_preset release help >/dev/null
    local files
    if [ "${1:-}" = --all ]; then files=$(git ls-files 'src/*.cpp'); else files=$(changed_sources | head -n "${FIRN_TIDY_FILES:-40}"); fi
    [ -n "$files" ] || { echo "no source changed"; return; }
    # protobuf's generated headers and the like have to be there before a tool reads the sources
    echo "$files" | xargs -P "$(jobs)" -n 1 clang-tidy-14 -p build/release --quiet --extra-arg=-Wno-unknown-warning-option --warnings-as-errors='*' 2>.deps/tidy.err ||
        { grep -v 'warnings generated' .deps/tidy.err >&2; die "clang-tidy found something"; }
    echo "$(echo "$files" | wc -l) files looked at"
}
