#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suites.sh - CPython's own tests of sockets: each ends over sluice as it does over the kernel
#
# They are not ours, so they ask what we did not think of. suites.py has the few that may end otherwise, each with
# its reason. A test that ended otherwise is run once more by itself: some measure time.
#
#   suites.sh NAME...	runs these, as unittest names them, in place of the quick ones
#
# The others take minutes, nearly all of it waiting: test.test_socket, test.test_ssl.ThreadedTests, test.test_asyncio.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

NAMES=(test.test_select test.test_httplib test.test_httpservers test.test_telnetlib test.test_asynchat
	test.test_ssl.BasicSocketTests test.test_ssl.SimpleBackgroundTests
	test.test_socket.BasicTCPTest test.test_socket.BasicUDPTest test.test_socket.NonBlockingTCPTests
	test.test_socket.RecvmsgTCPTest test.test_socket.SendmsgTCPTest test.test_socket.SendmsgUDP6Test
	test.test_socket.RecvmsgRFC3542AncillaryUDP6Test test.test_socket.FileObjectClassTestCase
	test.test_socket.InterruptedSendTimeoutTest test.test_socket.InterruptedRecvTimeoutTest
	test.test_socket.SendfileUsingSendfileTest)
(($# == 0)) || NAMES=("$@")

# suite FILE NAME...
suite() {
	local file=$LAB_DIR/$1 status=0
	shift
	lab_run suite bash -c 'cd /tmp; HOME=/tmp exec /usr/bin/python3 /tmp/tests/integration/suites.py "$@"' \
		suite "$@" >"$file" 2>"$file.log" || status=$?
	[[ $(tail -n 1 "$file") == "done" ]] ||
		lab_fail "the tests ended with status $status after: $(tail -n 1 "$file")"
}

differ() {
	/usr/bin/python3 "$LAB_TOP/tests/integration/suites.py" --compare "$LAB_DIR/kernel" "$LAB_DIR/$1"
}

lab_open suites
[[ -e /usr/lib/python3.11/test/test_socket.py ]] || lab_skip "libpython3.11-testsuite is not installed"
LAB_TIMEOUT=100
suite kernel "${NAMES[@]}"
# shellcheck disable=SC2119 # the arguments are names of tests
lab_sluiced
suite sluice "${NAMES[@]}"
differ sluice >"$LAB_DIR/other"
if [[ -s $LAB_DIR/other ]]; then
	mapfile -t again < <(cut -d ' ' -f 1 "$LAB_DIR/other")
	lab_say "once more: ${again[*]}"
	suite again "${again[@]}"
	(cat "$LAB_DIR/sluice" "$LAB_DIR/again") >"$LAB_DIR/last" # the later line counts
	differ last >"$LAB_DIR/other"
fi
[[ ! -s $LAB_DIR/other ]] || lab_fail "over the kernel and over sluice: $(<"$LAB_DIR/other")"
lab_sluiced_stop
printf '%s tests of CPython, each as over the kernel\n' "$(($(wc -l <"$LAB_DIR/kernel") - 1))"
