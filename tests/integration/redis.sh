#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# redis.sh - Debian's redis-server: set and get, a pipeline, its benchmark
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

cli() {
	lab_peer redis-cli -h "$LAB_ADDR" "$@"
}

lab_open redis
lab_sluiced "$@"
lab_start redis redis-server --port 6379 --bind 0.0.0.0 --protected-mode no --save "" \
	--appendonly no --dir /tmp
lab_answers 6379
lab_equal PONG "$(cli ping)" "ping"

# A value of 4 MiB goes in and comes out as it was.
sha=$(lab_file value $((4 << 20)))
lab_equal OK "$(cli -x set big <"$LAB_DIR/share/value")" "set of 4 MiB"
lab_equal "$sha" "$(cli --no-raw --raw get big | head -c $((4 << 20)) | lab_sha)" "SHA-256 of 4 MiB"

# 20000 commands in one write; each is answered, in order.
for ((i = 0; i < 20000; i++)); do
	printf 'SET key:%d %d\r\n' "$i" "$i"
done >"$LAB_DIR/commands"
lab_equal "errors: 0, replies: 20000" "$(cli --pipe <"$LAB_DIR/commands" | tail -n 1)" "pipeline"
lab_equal 19999 "$(cli get key:19999)" "the last of the pipeline"

lab_peer redis-benchmark -h "$LAB_ADDR" -c 50 -n 20000 -t ping_inline,set,get,lrange_100 --csv \
	>"$LAB_DIR/benchmark" 2>&1 || lab_fail "redis-benchmark failed: $(tail -n 2 "$LAB_DIR/benchmark")"
lab_peer redis-benchmark -h "$LAB_ADDR" -c 10 -P 16 -n 50000 -t set,get --csv >>"$LAB_DIR/benchmark" 2>&1 ||
	lab_fail "redis-benchmark -P 16 failed: $(tail -n 2 "$LAB_DIR/benchmark")"
if grep -qi error "$LAB_DIR/benchmark"; then
	lab_fail "redis-benchmark saw errors: $(grep -i -m 1 error "$LAB_DIR/benchmark")"
fi

# The same over the container's own 127.0.0.1, which never leaves it.
lab_exec redis redis-cli ping >"$LAB_DIR/inside" || lab_fail "redis-cli in the container failed"
lab_equal PONG "$(<"$LAB_DIR/inside")" "ping over 127.0.0.1"
lab_stop redis
lab_sluiced_stop
