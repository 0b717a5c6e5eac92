#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tap.sh - frames through a TAP device on a bridge, both ways, by hash
#
# The bridge and the TAP device live in a third namespace, which plays the host: sluiced runs there.
# The container's own interface leads nowhere, so what arrives came through the TAP device.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

[[ -c /dev/net/tun ]] || lab_skip "this machine has no /dev/net/tun"
lab_open tap
lab_host
lab_sluiced --tap tap0 "$@"
sha=$(lab_file 10m.bin $((10 << 20)))
lab_peer_start http /usr/bin/python3 "$LAB_TOP/tests/integration/http_peer.py" 8000 "$LAB_DIR/share"
lab_peer_listens 8000
lab_nginx web
lab_equal "$sha" "$(lab_peer curl -sf --max-time 30 "http://$LAB_ADDR/10m.bin" | lab_sha)" \
	"SHA-256 out through the TAP device"
lab_equal "$sha" "$(lab_exec web curl -sf --max-time 30 "http://$LAB_PEER_ADDR:8000/10m.bin" | lab_sha)" \
	"SHA-256 in through the TAP device"
lab_stop web
lab_sluiced_stop
