# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# lab.sh - two namespaces, a veth, sluiced and a container: the place where tests meet real parts
#
#   namespace LAB_PEER               namespace LAB_NS
#   eth0 10.99.0.1/24  <-- veth -->  eth0 10.99.0.2/24, taken by sluiced; the container lives here
#
# A lab is two network namespaces named after the test and the process, so that labs never meet.
# The veth is made inside them; the host's own namespace is never touched. The container's root is
# the host's file system, read-only: whatever is installed here runs there, and no image is needed.
# It is bound in a mount namespace of the runtime's own, so nothing has to be unmounted afterwards.
#
# Both kinds of container differ in one thing. Mode "sluice" has the profile that sluicectl prints;
# mode "kernel" has the same profile with every NOTIFY turned into ALLOW and no listener.
#
# Everything a lab made is taken away by lab_close, which runs on every exit of the script, ^C
# included. Waiting is always for a condition (lab_until), never for an amount of time.
#
# A script sources this file, calls lab_open, and uses the rest. Exit 77 says that the machine lacks
# a feature, and always with a sentence.
#
# Environment: SLUICE_BUILD, the build folder (default build/release); LAB_RUNTIME, runc or crun;
# LAB_TIMEOUT, seconds a command in the container may take; LAB_KEEP=1, keep the lab's logs;
# LAB_SHARES, containers' cpu.shares, where the script itself has a priority they cannot have; SLUICE_SOAK=1, the loads
# of a test are repeated LAB_ROUNDS times.

LAB_TOP=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
SLUICE_BUILD=$(readlink -m "${SLUICE_BUILD:-$LAB_TOP/build/release}")
LAB_RUNTIME=${LAB_RUNTIME:-runc}
LAB_TIMEOUT=${LAB_TIMEOUT:-60}
# shellcheck disable=SC2034 # for the scripts that source this file
LAB_ROUNDS=${SLUICE_SOAK:+20}
LAB_ROUNDS=${LAB_ROUNDS:-1}
LAB_ADDR=10.99.0.2
LAB_PEER_ADDR=10.99.0.1
LAB_PREFIX=10.99.0.0/24
LAB_WHAT= # what the script is at, for the sentence of a failure
LAB_DIR=
LAB_HOST= # the namespace of lab_host, where there is one
LAB_MIDDLE= # that of lab_relay
LAB_RELAY=  # the process
LAB_SLUICED=
# shellcheck disable=SC2034 # for the scripts that source this file
LAB_READY_MS=
LAB_MODE=kernel
LAB_TAKES=()      # sluiced's flags for the namespace; lab_open's is its own
LAB_BINDS=()      # SOURCE:DESTINATION of more read-only binds for the next container
LAB_CONTAINERS=() # names, as given to lab_start
LAB_PIDS=()       # helpers in the peer's namespace

lab_say() {
	printf '==> %s\n' "$*"
}

lab_skip() {
	printf '%s: skipped: %s\n' "${0##*/}" "$*" >&2
	exit 77
}

# lab_fail SENTENCE - the test's own verdict, with the last words of the daemon and the containers
lab_fail() {
	local log
	printf '%s: FAILED: %s%s\n' "${0##*/}" "${LAB_WHAT:+$LAB_WHAT: }" "$*" >&2
	for log in "${LAB_DIR:-/nonexistent}"/*.log; do
		[[ -s $log ]] || continue
		printf '%s\n' "--- last lines of ${log##*/}:" >&2
		tail -n 20 "$log" >&2
	done
	exit 1
}

# lab_equal WANT GOT WHAT
lab_equal() {
	[[ $1 == "$2" ]] || lab_fail "$3: wanted '$1', got '$2'"
}

# lab_until SECONDS WHAT COMMAND... - polls until the command succeeds; the test fails when it never does
lab_until() {
	lab_await "$1" "${@:3}" || lab_fail "waited $1 s in vain for: $2"
}

# lab_await SECONDS COMMAND... - the same, but returns 1 when time is up
lab_await() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || return 1
		sleep 0.02
	done
}

# lab_open NAME - makes the namespaces and the veth, and arranges for their removal
lab_open() {
	[[ $EUID -eq 0 ]] || lab_skip "namespaces and containers need root"
	command -v "$LAB_RUNTIME" >/dev/null || lab_skip "$LAB_RUNTIME is not installed"
	unshare --net --mount true 2>/dev/null || lab_skip "this kernel or container gives no new namespaces"
	LAB_ID=sl-$1-$$
	LAB_NS=$LAB_ID-c
	LAB_PEER=$LAB_ID-p
	LAB_TAKES=(--netns "/run/netns/$LAB_NS")
	trap lab_close EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	LAB_DIR=$(mktemp -d "/tmp/$LAB_ID.XXXXXX")
	mkdir "$LAB_DIR/rootfs" "$LAB_DIR/state" "$LAB_DIR/share"
	# The hard limit of some machines is lower than what a runtime would ask for.
	ulimit -n "$(($(ulimit -Hn) < 16384 ? $(ulimit -Hn) : 16384))"
	ip netns add "$LAB_NS"
	ip netns add "$LAB_PEER"
	ip -n "$LAB_NS" link set lo up
	ip -n "$LAB_PEER" link set lo up
	lab_wire
}

# lab_wire - the veth, its addresses, and cubic as the kernel's congestion control on both sides.
# New namespaces inherit the host's choice and may not change it by sysctl; routes may.
lab_wire() {
	ip -n "$LAB_NS" link add eth0 type veth peer name eth0 netns "$LAB_PEER"
	lab_addresses
}

lab_addresses() {
	ip -n "$LAB_NS" addr add "$LAB_ADDR/24" dev eth0
	ip -n "$LAB_PEER" addr add "$LAB_PEER_ADDR/24" dev eth0
	ip -n "$LAB_NS" link set eth0 up
	ip -n "$LAB_PEER" link set eth0 up
	ip -n "$LAB_NS" route replace "$LAB_PREFIX" dev eth0 proto kernel scope link src "$LAB_ADDR" congctl cubic
	ip -n "$LAB_PEER" route replace "$LAB_PREFIX" dev eth0 proto kernel scope link src "$LAB_PEER_ADDR" congctl cubic
	ip -n "$LAB_NS" route add default via "$LAB_PEER_ADDR"
	lab_until 5 "the veth has no carrier" lab_wire_up
}

# lab_host - puts a third namespace between the two, where the host's bridge is and sluiced will run:
#
#   peer eth0 -- veth -- br0 -- tap0 (for sluiced --tap tap0)      LAB_NS eth0 -- veth -- nothing
lab_host() {
	LAB_HOST=$LAB_ID-h
	ip netns add "$LAB_HOST"
	ip -n "$LAB_NS" link del eth0
	ip -n "$LAB_HOST" link set lo up
	ip -n "$LAB_HOST" link add br0 type bridge
	ip -n "$LAB_HOST" tuntap add dev tap0 mode tap
	ip -n "$LAB_HOST" link add to-peer type veth peer name eth0 netns "$LAB_PEER"
	ip -n "$LAB_HOST" link add nothing type veth peer name eth0 netns "$LAB_NS"
	ip -n "$LAB_HOST" link set tap0 master br0
	ip -n "$LAB_HOST" link set to-peer master br0
	for device in br0 tap0 to-peer nothing; do
		ip -n "$LAB_HOST" link set "$device" up
	done
	lab_addresses
}

# lab_relay - puts bench-relay between the two, in a namespace of its own; lab_relay_start runs it
#
#   LAB_NS eth0 -- veth -- c [bench-relay] p -- veth -- eth0 LAB_PEER
#
# Segmentation is off at both ends: the relay loses segments, not super-frames.
lab_relay() {
	LAB_MIDDLE=$LAB_ID-m
	ip netns add "$LAB_MIDDLE"
	ip -n "$LAB_NS" link del eth0
	ip -n "$LAB_MIDDLE" link add c type veth peer name eth0 netns "$LAB_NS"
	ip -n "$LAB_MIDDLE" link add p type veth peer name eth0 netns "$LAB_PEER"
	ip netns exec "$LAB_MIDDLE" sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	for space in "$LAB_NS" "$LAB_PEER"; do # no connection learns from the one before
		ip netns exec "$space" sysctl -qw net.ipv4.tcp_no_metrics_save=1
	done
	ip -n "$LAB_MIDDLE" link set c up
	ip -n "$LAB_MIDDLE" link set p up
	ip netns exec "$LAB_NS" ethtool -K eth0 tso off gso off gro off
	ip netns exec "$LAB_PEER" ethtool -K eth0 tso off gso off gro off
	lab_addresses
}

# lab_relay_start [--from-peer] KEY=VALUE... - the relay with these faults for what the container (the peer) sends,
# in place of the one before; see tests/bench/relay.c
lab_relay_start() {
	local -a links=(c p)
	if [[ $1 == --from-peer ]]; then
		links=(p c)
		shift
	fi
	lab_relay_stop
	ip netns exec "$LAB_MIDDLE" "$SLUICE_BUILD/bench-relay" "${links[@]}" "$@" >"$LAB_DIR/relay.log" 2>&1 </dev/null &
	LAB_RELAY=$!
}

# lab_relay_stop - afterwards relay.log says what it did
lab_relay_stop() {
	[[ -n $LAB_RELAY ]] || return 0
	kill -TERM "$LAB_RELAY"
	wait "$LAB_RELAY" || lab_fail "the relay ended with status $?"
	LAB_RELAY=
}

lab_wire_up() {
	[[ $(ip -n "$LAB_NS" -br link show eth0) == *LOWER_UP* ]]
}

# lab_close - takes everything away; safe to call twice, and at any point of lab_open
lab_close() {
	local status=$? pid name
	trap '' INT TERM HUP
	set +e
	for pid in "${LAB_PIDS[@]}" $LAB_RELAY; do
		kill -KILL "$pid" 2>/dev/null
	done
	for name in "${LAB_CONTAINERS[@]}"; do
		lab_oci delete --force "$name" >/dev/null 2>&1
	done
	LAB_PIDS=()
	LAB_CONTAINERS=()
	lab_sluiced_end >/dev/null
	if [[ -n ${LAB_NS:-} ]]; then
		ip netns del "$LAB_NS" 2>/dev/null
		ip netns del "$LAB_PEER" 2>/dev/null
		[[ -z $LAB_HOST ]] || ip netns del "$LAB_HOST" 2>/dev/null
		[[ -z $LAB_MIDDLE ]] || ip netns del "$LAB_MIDDLE" 2>/dev/null
	fi
	lab_close_dir
	trap - EXIT INT TERM HUP
	exit "$status"
}

# The folder rootfs is where the host's root is bound, in other mount namespaces only. Should it ever
# be bound here, rmdir fails and nothing below it is touched.
lab_close_dir() {
	[[ -n $LAB_DIR && -d $LAB_DIR ]] || return 0
	if [[ -n ${LAB_KEEP:-} ]]; then
		printf 'kept: %s\n' "$LAB_DIR"
		return 0
	fi
	if [[ ! -d $LAB_DIR/rootfs ]] || rmdir "$LAB_DIR/rootfs"; then
		rm -rf --one-file-system "$LAB_DIR"
	fi
	LAB_DIR=
}

# lab_keep - leaves the lab up when the script ends; lab_adopt DIR in another script takes it over
lab_keep() {
	declare -p LAB_ID LAB_NS LAB_PEER LAB_HOST LAB_MIDDLE LAB_RELAY LAB_DIR LAB_SLUICED LAB_RUNTIME LAB_TAKES LAB_CONTAINERS LAB_PIDS \
		SLUICE_BUILD >"$LAB_DIR/lab.env"
	trap - EXIT INT TERM HUP
}

lab_adopt() {
	[[ -s $1/lab.env ]] || lab_fail "$1 is no lab that was kept"
	# shellcheck disable=SC1090 # written by lab_keep; declare would make locals of them here
	. <(sed 's/^declare \(-[-a]*\) //' "$1/lab.env")
	trap lab_close EXIT
}

# --- the daemon ---------------------------------------------------------------------------------

# lab_sluiced [FLAG...] - starts sluiced on the lab's namespace and returns when it says READY=1;
# LAB_READY_MS is the time that took
lab_sluiced() {
	[[ -x $SLUICE_BUILD/sluiced ]] || lab_fail "$SLUICE_BUILD/sluiced is not built"
	rm -f "$LAB_DIR/ready" "$LAB_DIR/seccomp.sock"
	printf '%s\n' "--- sluiced $*" >>"$LAB_DIR/sluiced.log"
	${LAB_HOST:+ip netns exec "$LAB_HOST"} "$SLUICE_BUILD/lab-start" "$LAB_DIR/ready" "$SLUICE_BUILD/sluiced" --id "$LAB_ID" \
		"${LAB_TAKES[@]}" --seccomp-listener "$LAB_DIR/seccomp.sock" \
		--state-dir "$LAB_DIR/state" "$@" >>"$LAB_DIR/sluiced.log" 2>&1 </dev/null &
	LAB_SLUICED=$!
	if ! lab_await 10 lab_sluiced_settled || [[ ! -s $LAB_DIR/ready ]]; then
		lab_fail "sluiced $* did not become ready"
	fi
	# shellcheck disable=SC2034
	LAB_READY_MS=$(<"$LAB_DIR/ready")
	LAB_MODE=sluice
}

lab_sluiced_settled() {
	[[ -s $LAB_DIR/ready ]] || ! kill -0 "$LAB_SLUICED"
}

# lab_sluiced_pids - monitor, agent and worker, one a line
lab_sluiced_pids() {
	lab_tree "$LAB_SLUICED"
}

# lab_tree PID - the process and all that descend from it, one a line
lab_tree() {
	local child
	printf '%s\n' "$1"
	for child in $(pgrep -P "$1"); do
		lab_tree "$child"
	done
}

# lab_sluiced_end - SIGTERM, then, after 10 s, SIGKILL for all of them; prints the exit status
lab_sluiced_end() {
	local -a pids
	local status=0
	[[ -n $LAB_SLUICED ]] || return 0
	mapfile -t pids < <(lab_sluiced_pids)
	kill -TERM "$LAB_SLUICED" 2>/dev/null || true
	lab_await 10 lab_gone "$LAB_SLUICED" || kill -KILL "${pids[@]}" 2>/dev/null || true
	wait "$LAB_SLUICED" 2>/dev/null || status=$?
	LAB_SLUICED=
	LAB_MODE=kernel
	printf '%s\n' "$status"
}

# lab_gone PID - the process has ended, whether or not its parent has waited for it
lab_gone() {
	local state
	state=$(awk '/^State:/ { print $2 }' "/proc/$1/status" 2>/dev/null) || return 0
	[[ -z $state || $state == Z ]]
}

# lab_sluiced_stop - ends the daemon and fails unless it ended well and gave the namespace back
lab_sluiced_stop() {
	local status
	lab_sluiced_end >"$LAB_DIR/status"
	status=$(<"$LAB_DIR/status")
	[[ $status == 0 ]] || lab_fail "sluiced ended with status $status after SIGTERM"
	[[ $(ip -n "$LAB_NS" -br addr show eth0 2>/dev/null) == *"$LAB_ADDR/24"* ]] ||
		lab_fail "sluiced ended without giving eth0 and $LAB_ADDR back"
	lab_until 5 "eth0 came back without its carrier" lab_wire_up
}

# lab_ctl COMMAND - sluicectl, asking this lab's daemon
lab_ctl() {
	timeout 10 "$SLUICE_BUILD/sluicectl" --state-dir "$LAB_DIR/state" "$1" "$LAB_ID"
}

# lab_sockets - how many sockets agent and worker hold together
lab_sockets() {
	lab_ctl stats | jq '.agent.agent_sockets + .worker.worker_sockets'
}

# --- containers ---------------------------------------------------------------------------------

# lab_profile - the seccomp section of config.json for the present mode
lab_profile() {
	"$SLUICE_BUILD/sluicectl" profile --listener "$LAB_DIR/seccomp.sock" >"$LAB_DIR/profile.json" ||
		lab_fail "sluicectl profile failed"
	if [[ $LAB_MODE == sluice ]]; then
		cat "$LAB_DIR/profile.json"
	else
		jq 'del(.listenerPath, .listenerMetadata)
			| .syscalls |= map(if .action == "SCMP_ACT_NOTIFY" then .action = "SCMP_ACT_ALLOW" else . end)' \
			"$LAB_DIR/profile.json"
	fi
}

# lab_bundle NAME COMMAND... - writes $LAB_DIR/NAME/config.json
#
# What a program writes lives on tmpfs. The build, the tests and LAB_DIR/share are bound below /lab's
# place, /tmp, since they may themselves lie under a folder that a tmpfs covers.
lab_bundle() {
	local name=$1 bundle=$LAB_DIR/$1
	shift
	mkdir -p "$bundle"
	lab_profile >"$bundle/seccomp.json"
	printf '127.0.0.1 localhost\n%s %s\n' "$LAB_ADDR" "$name" >"$bundle/hosts"
	printf '%s\036' "$@" | jq -Rs --slurpfile seccomp "$bundle/seccomp.json" \
		--arg rootfs "$LAB_DIR/rootfs" --arg netns "/run/netns/$LAB_NS" --arg name "$name" \
		--argjson shares "${LAB_SHARES:-0}" \
		--arg binds "$(printf '%s\n' "$SLUICE_BUILD:/tmp/build" "$LAB_TOP/tests:/tmp/tests" \
			"$LAB_DIR/share:/tmp/share" "$bundle/hosts:/etc/hosts" "${LAB_BINDS[@]}")" \
		-f "$LAB_TOP/tests/integration/config.jq" >"$bundle/config.json"
}

# lab_oci ARGS... - the runtime, with the host's root bound for it. crun refuses machines that mount
# cgroup v2 beside v1; in its own mount namespace the v2 half is taken away. No runtime may hang a
# test: after LAB_TIMEOUT seconds it is killed (status 137).
lab_oci() {
	# shellcheck disable=SC2016 # the inner shell expands
	${LAB_SHARES:+chrt --other 0} timeout --foreground --signal=KILL "$LAB_TIMEOUT" unshare --mount \
		--propagation private bash -euc '
		rootfs=$1
		shift
		if [[ $1 == crun ]] && mountpoint -q /sys/fs/cgroup/unified; then
			umount /sys/fs/cgroup/unified
		fi
		mount --bind / "$rootfs"
		for part in usr etc var; do
			! mountpoint -q "/$part" || mount --bind "/$part" "$rootfs/$part"
		done
		exec "$@"' lab "$LAB_DIR/rootfs" "$LAB_RUNTIME" --root "$LAB_DIR/$LAB_RUNTIME" "$@"
}

# lab_run NAME COMMAND... - a container that runs to its end; its exit status is returned
lab_run() {
	local status=0
	lab_bundle "$@"
	LAB_CONTAINERS+=("$LAB_ID-$1")
	lab_oci run --bundle "$LAB_DIR/$1" "$LAB_ID-$1" </dev/null || status=$?
	lab_forget "$1"
	return "$status"
}

# lab_start NAME COMMAND... - a container in the background; what it prints goes to NAME.log
lab_start() {
	lab_bundle "$@"
	LAB_CONTAINERS+=("$LAB_ID-$1")
	lab_oci run --detach --pid-file "$LAB_DIR/$1.pid" --bundle "$LAB_DIR/$1" \
		"$LAB_ID-$1" </dev/null >"$LAB_DIR/$1.log" 2>&1 ||
		lab_fail "$LAB_RUNTIME could not start $1: $(tail -n 3 "$LAB_DIR/$1.log")"
}

# lab_exec NAME COMMAND... - one more program in a container that runs
lab_exec() {
	local name=$1
	shift
	lab_oci exec "$LAB_ID-$name" "$@" </dev/null
}

# lab_exec_start NAME LOG COMMAND... - the same in the background, until lab_stop
lab_exec_start() {
	local name=$1 log=$2
	shift 2
	lab_oci exec --detach "$LAB_ID-$name" "$@" </dev/null >"$LAB_DIR/$log.log" 2>&1
}

# lab_stop NAME
lab_stop() {
	lab_oci delete --force "$LAB_ID-$1" >/dev/null 2>&1 || true
	lab_forget "$1"
}

lab_forget() {
	local name
	local -a kept=()
	for name in "${LAB_CONTAINERS[@]}"; do
		[[ $name == "$LAB_ID-$1" ]] || kept+=("$name")
	done
	LAB_CONTAINERS=("${kept[@]}")
}

# --- the other side -----------------------------------------------------------------------------

# lab_peer COMMAND... - in the namespace of the kernel's own TCP
lab_peer() {
	timeout --foreground -k 5 "$LAB_TIMEOUT" ip netns exec "$LAB_PEER" "$@"
}

# lab_peer_start LOG COMMAND... - the same in the background, until lab_close
lab_peer_start() {
	local log=$LAB_DIR/$1.log
	shift
	ip netns exec "$LAB_PEER" "$@" >"$log" 2>&1 </dev/null &
	LAB_PIDS+=("$!")
	disown "$!"
}

# lab_peer_listens PORT - a kernel socket of the peer listens there
lab_peer_listens() {
	lab_until 10 "the peer listens on port $1" lab_listening "$1"
}

lab_listening() {
	[[ -n $(ip netns exec "$LAB_PEER" ss -Htln "sport = :$1") ]]
}

# lab_answers PORT - something in the container accepts on this port
lab_answers() {
	lab_until 15 "the container answers on port $1" lab_peer bash -c "exec 3<>/dev/tcp/$LAB_ADDR/$1"
}

# lab_file NAME BYTES - a file of random bytes in share/; prints its SHA-256
lab_file() {
	head -c "$2" /dev/urandom >"$LAB_DIR/share/$1"
	lab_sha <"$LAB_DIR/share/$1"
}

lab_sha() {
	sha256sum | cut -d ' ' -f 1
}

# lab_nginx NAME - Debian's nginx with Debian's site, as it is, which serves share/
lab_nginx() {
	mkdir -p "$LAB_DIR/sites"
	cp /etc/nginx/sites-available/default "$LAB_DIR/sites/default"
	LAB_BINDS=("$LAB_DIR/share:/var/www/html" "$LAB_DIR/sites:/etc/nginx/sites-enabled")
	lab_start "$1" nginx -g 'daemon off;'
	LAB_BINDS=()
	lab_answers 80
}
