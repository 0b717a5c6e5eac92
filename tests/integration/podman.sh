#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# podman.sh - podman, unmodified, with the profile sluicectl prints: a client, a server, exec, and a pod's network
#
# Theory of operation
#
# podman keeps everything it writes below the lab's folder (storage, run files, its network's
# configuration), so nothing of a podman that may be used here is seen or touched. The container's
# root is a folder of links into /usr, bound read-only: no image is needed. In two labs,
#
#   given    --network ns:PATH: the namespace is the lab's, taken before podman is run
#   bridged  podman's own bridge network in a host's namespace: CNI makes namespace, veth and address, and
#            sluiced, started with no more than --seccomp-listener, learns the namespace from the
#            runtime's state
#
# the same things are asked: is a download whole, does a server answer at the container's own address,
# does exec work, and is what was taken given back.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=lab.sh
. "$(dirname "$0")/lab.sh"

PODMAN_NET=()        # podman's flags for the network
PODMAN_IN=()         # nsenter's flags for the network namespace that podman runs in
PODMAN_MOUNTS=       # the process whose mount namespace it is
PODMAN_POOL=10.98.0  # the bridge's own network, of which .1 is the bridge

# podman_root - /usr by bind, the rest by links, and as much of /etc as libc asks for
podman_root() {
	local link file
	mkdir -p "$LAB_DIR/podroot"/{usr,etc,proc,sys,dev,tmp,run,var/tmp}
	for link in bin sbin lib lib64; do
		ln -s "usr/$link" "$LAB_DIR/podroot/$link"
	done
	for file in passwd group nsswitch.conf alternatives; do
		cp -a "/etc/$file" "$LAB_DIR/podroot/etc/"
	done
	mkdir "$LAB_DIR/cni"
	printf '[storage]\ndriver = "vfs"\ngraphroot = "%s"\nrunroot = "%s"\n' \
		"$LAB_DIR/graph" "$LAB_DIR/podrun" >"$LAB_DIR/storage.conf"
	# The limits podman would set by itself are higher than a machine under test may allow.
	printf '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\npids_limit = 0\n[network]\nnetwork_backend = "cni"\nnetwork_config_dir = "%s"\n[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\ntmp_dir = "%s"\n' \
		"$LAB_DIR/cni" "$LAB_DIR/podtmp" >"$LAB_DIR/containers.conf"
}

# podman_mounts - the mount namespace of all podmans of this test: crun refuses machines that mount cgroup
# v2 beside v1, so the v2 half is taken away there; and the names that podman gives to network namespaces
# are on a file system that goes with it
podman_mounts() {
	local ready=$LAB_DIR/mounts.ready
	# shellcheck disable=SC2016 # the inner shell expands
	unshare --mount --propagation private bash -euc '
		if mountpoint -q /sys/fs/cgroup/unified; then
			umount /sys/fs/cgroup/unified
		fi
		mkdir "$2.given"
		touch "$2.given/netns"
		mount --bind "$1" "$2.given/netns"
		mount -t tmpfs tmpfs /run/netns
		touch "/run/netns/given"
		mount --bind "$2.given/netns" /run/netns/given
		touch "$2"
		exec sleep infinity' mounts "/run/netns/$LAB_NS" "$ready" </dev/null >"$LAB_DIR/mounts.log" 2>&1 &
	PODMAN_MOUNTS=$!
	LAB_PIDS+=("$!")
	disown "$!"
	lab_until 5 "podman's mount namespace is there" test -e "$ready"
}

# podman_do COMMAND...
podman_do() {
	CONTAINERS_STORAGE_CONF=$LAB_DIR/storage.conf CONTAINERS_CONF=$LAB_DIR/containers.conf \
		timeout --foreground --signal=KILL "$LAB_TIMEOUT" \
		nsenter "--mount=/proc/$PODMAN_MOUNTS/ns/mnt" "${PODMAN_IN[@]}" \
		podman --runtime "$LAB_RUNTIME" "$@" </dev/null
}

# podman_run [FLAG...] -- COMMAND...
podman_run() {
	local -a flags=()
	while [[ $1 != -- ]]; do
		flags+=("$1")
		shift
	done
	podman_do run --security-opt "seccomp=$LAB_DIR/profile.json" "${PODMAN_NET[@]}" \
		--volume /usr:/usr:ro --volume "$LAB_DIR/share:/share:ro" "${flags[@]}" \
		--rootfs "$LAB_DIR/podroot" "${@:2}"
}

# downloads - the container as a client; the peer serves http at LAB_PEER_ADDR
downloads() {
	"$SLUICE_BUILD/sluicectl" profile --listener "$LAB_DIR/seccomp.sock" --format=docker >"$LAB_DIR/profile.json"
	podman_run --rm -- curl -sSf --max-time 20 "http://$LAB_PEER_ADDR:8000/10m.bin" \
		>"$LAB_DIR/out" 2>"$LAB_DIR/err.log" || lab_fail "podman run curl: status $?"
	lab_equal "$SHA" "$(lab_sha <"$LAB_DIR/out")" "SHA-256 of the download"
}

# serves ADDRESS - the container as a server at its own address, and a program that joins it later
serves() {
	podman_run --detach --name web -- /usr/bin/python3 -m http.server 8080 --directory /share \
		>"$LAB_DIR/web.log" 2>&1 || lab_fail "podman run --detach: status $?"
	lab_until 15 "the server answers at $1" lab_peer bash -c "exec 3<>/dev/tcp/$1/8080"
	lab_equal "$SHA" "$(lab_peer curl -sSf --max-time 20 "http://$1:8080/10m.bin" | lab_sha)" \
		"SHA-256 of what the container serves"
	podman_do exec web curl -sSf --max-time 20 "http://$1:8080/10m.bin" >"$LAB_DIR/out" 2>"$LAB_DIR/err.log" ||
		lab_fail "podman exec: status $?"
	lab_equal "$SHA" "$(lab_sha <"$LAB_DIR/out")" "SHA-256 by podman exec, over the container's own address"
	lab_equal "$1" "$(podman_do exec web /usr/bin/python3 -c "import socket
s = socket.create_connection(('$LAB_PEER_ADDR', 8000), 10)
print(s.getsockname()[0])")" "the address that podman exec's program has"
	podman_do rm --force --time 0 web >/dev/null 2>"$LAB_DIR/err.log" || lab_fail "podman rm: status $?"
}

# ended - a daemon that was given no namespace ends by itself with the container it served
ended() {
	local status=0
	lab_until 10 "sluiced ends with its container" lab_gone "$LAB_SLUICED"
	wait "$LAB_SLUICED" || status=$?
	LAB_SLUICED=
	lab_equal 0 "$status" "status of sluiced after its container has ended"
	lab_until 5 "no port is left on the bridge" no_port
}

no_port() {
	[[ -z $(ip -n "$LAB_PEER" -br link show master podman0) ]]
}

given() {
	PODMAN_NET=(--network ns:/run/netns/given)
	lab_sluiced "$@"
	LAB_WHAT="$LAB_RUNTIME, a namespace that is given"
	downloads
	serves "$LAB_ADDR"
	lab_sluiced_stop
}

# bridged - the peer's namespace is the host: podman, its bridge and sluiced are all there
bridged() {
	PODMAN_IN=("--net=/run/netns/$LAB_PEER")
	PODMAN_NET=(--network podman)
	# shellcheck disable=SC2034 # read by lab.sh
	LAB_HOST=$LAB_PEER
	LAB_PEER_ADDR=$PODMAN_POOL.1
	# shellcheck disable=SC2034
	LAB_TAKES=()
	jq -n --arg pool "$PODMAN_POOL" --arg dir "$LAB_DIR/ipam" '{
		cniVersion: "0.4.0", name: "podman",
		plugins: [{
			type: "bridge", bridge: "podman0", isGateway: true, ipMasq: false,
			ipam: { type: "host-local", dataDir: $dir, routes: [{ dst: "0.0.0.0/0" }],
				ranges: [[{ subnet: ($pool + ".0/24"), gateway: ($pool + ".1") }]] }
		}]
	}' >"$LAB_DIR/cni/87-podman.conflist"
	lab_sluiced "$@"
	LAB_WHAT="$LAB_RUNTIME, podman's own bridge"
	downloads
	ended
	lab_sluiced "$@"
	serves "$PODMAN_POOL.3"
	ended
}

command -v podman >/dev/null || lab_skip "podman is not installed"
lab_open podman
podman_root
SHA=$(lab_file 10m.bin $((10 << 20)))
lab_peer_start http /usr/bin/python3 "$LAB_TOP/tests/integration/http_peer.py" 8000 "$LAB_DIR/share"
lab_peer_listens 8000
podman_mounts
given "$@"
bridged "$@"
