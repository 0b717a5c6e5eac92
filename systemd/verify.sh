#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# verify.sh FOLDER - the configured units there are understood by systemd without a word
#
# Exit 77 when systemd-analyze is not installed. What it says about units of the host that ours are
# ordered after is not our business: a line counts when it names one of ours.
set -eu

command -v systemd-analyze >/dev/null || {
	echo "systemd-analyze is not installed" >&2
	exit 77
}
status=0
said=$(systemd-analyze verify --man=no "$1/sluiced@.service" "$1/sluice.slice" 2>&1) || status=$?
printf '%s\n' "$said"
case $said in
*sluice*)
	echo "verify.sh: FAILED: systemd-analyze finds fault with our units" >&2
	exit 1
	;;
esac
# Without a word about ours a failure is the host's, such as a container without units at all.
[ "$status" -eq 0 ] || echo "systemd-analyze ended with $status because of other units"
# For the reader: how much the directives take away, and what is left and why it must be.
systemd-analyze security --offline=true "$1/sluiced@.service" 2>/dev/null | tail -n 1 || true
