#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nginx.sh - Debian's nginx: a file by its hash, keepalive, a reload under way
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

fetch() {
	lab_peer curl -sf --max-time 20 "http://$LAB_ADDR/$1" | lab_sha
}

# requests COUNT OPTION... - ab, all of whose requests must succeed
requests() {
	local count=$1 report
	shift
	report=$(lab_peer ab -q -n "$count" "$@") || lab_fail "ab ended without a result"
	grep -q "^Complete requests: *$count\$" <<<"$report" || lab_fail "not all of $count requests came back"
	grep -q '^Failed requests: *0$' <<<"$report" || lab_fail "some of $count requests failed"
}

workers() {
	lab_exec web pgrep -f '^nginx: worker process$' | sort
}

reloaded() {
	[[ -n $(workers) && -z $(comm -12 <(workers) <(printf '%s\n' "$before")) ]]
}

lab_open nginx
lab_sluiced "$@"
sha=$(lab_file 10m.bin $((10 << 20)))
small=$(lab_file small.bin 1400)
lab_nginx web
lab_equal "$sha" "$(fetch 10m.bin)" "SHA-256 of 10 MiB"
lab_equal "$small" "$(fetch small.bin)" "SHA-256 of 1400 bytes"
for ((round = 0; round < LAB_ROUNDS; round++)); do
	requests 40 -c 8 "http://$LAB_ADDR/10m.bin"
	requests 2000 -c 20 "http://$LAB_ADDR/small.bin"
	requests 5000 -k -c 20 "http://$LAB_ADDR/small.bin"
done

# A download that is under way when nginx reloads ends on the old worker.
before=$(workers)
lab_peer curl -sf --max-time 30 --limit-rate 5M "http://$LAB_ADDR/10m.bin" >"$LAB_DIR/slow" &
slow=$!
lab_until 10 "the slow download has begun" test -s "$LAB_DIR/slow"
lab_exec web nginx -s reload 2>/dev/null || lab_fail "nginx -s reload failed"
wait "$slow" || lab_fail "the download under way did not outlive the reload"
lab_equal "$sha" "$(lab_sha <"$LAB_DIR/slow")" "SHA-256 across the reload"
lab_until 10 "new workers have taken over" reloaded
lab_equal "$small" "$(fetch small.bin)" "SHA-256 after the reload"
lab_stop web
lab_sluiced_stop
