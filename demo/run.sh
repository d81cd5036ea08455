#!/usr/bin/env bash
# Asks the table in demo/trips the question in demo/trips.sql. usage: demo/run.sh [FIRN]
set -euo pipefail
cd "$(dirname "$0")/.."
firn=${1:-build/release/firn}
echo
echo "\$ $firn local < demo/trips.sql"
sed 's/^/    /' demo/trips.sql
echo
"$firn" local --print-profile-events <demo/trips.sql 2>.deps/demo.events || { cat .deps/demo.events >&2; exit 1; }
counter() { sed -n "s/.*\b$1: \([0-9]*\).*/\1/p" .deps/demo.events | tail -n 1; }
all=$("$firn" local -q "SELECT uniqExact(_path) FROM icebergLocal('demo/trips')" 2>/dev/null) || all="its"
echo "$(counter EngineFileLikeReadFiles) of $all data files opened: the table is partitioned by month, and the filter names two months."
echo
echo "Ask more:  $firn local -q \"DESCRIBE icebergLocal('demo/trips')\""
