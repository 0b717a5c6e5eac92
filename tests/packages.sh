# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# packages.sh - the Debian packages sluice needs, and their installation; sourced by quickstart and check
#
# Three lists, by what needs them. packages_need asks dpkg, and apt is run only for what is missing:
# where everything is there, neither root nor a network is needed.

# shellcheck disable=SC2034 # read by the scripts that source this file
PACKAGES_BUILD=(gcc libc6-dev linux-libc-dev cmake ninja-build pkg-config libnl-3-dev
	libnl-route-3-dev libseccomp-dev libcap-dev libevent-dev libsystemd-dev libjson-c-dev check)
# shellcheck disable=SC2034
PACKAGES_RUN=(runc crun iproute2 util-linux mount procps jq nginx-core apache2-utils curl)
# shellcheck disable=SC2034
PACKAGES_TEST=(clang libclang-rt-14-dev clang-format shellcheck binutils python3
	redis-server redis-tools busybox-static bind9-dnsutils dnsmasq-base iperf3 haproxy memcached
	netcat-openbsd socat perl iputils-ping
	iputils-tracepath ethtool nftables systemd podman containernetworking-plugins
	libpython3.11-testsuite)

packages_die() {
	printf '%s: %s\n' "${0##*/}" "$1" >&2
	exit 1
}

# packages_missing NAME... - prints those of the names that dpkg does not call installed
packages_missing() {
	local name
	for name; do
		[[ $(dpkg-query -W -f='${db:Status-Status} ' "$name" 2>/dev/null) == *"installed "* ]] ||
			printf '%s\n' "$name"
	done
}

# packages_need NAME... - installs what is missing, or says in one sentence why it cannot
#
# Services of the packages (nginx, redis) must not start on the host: while apt runs, a policy file
# says so, unless the machine has a policy of its own.
packages_need() {
	local -a missing
	local policy=/usr/sbin/policy-rc.d made_policy=false status=0
	command -v dpkg-query >/dev/null || packages_die "this script installs Debian packages, and there is no dpkg here; install by hand: $*"
	mapfile -t missing < <(packages_missing "$@")
	((${#missing[@]})) || return 0
	[[ $EUID -eq 0 ]] || packages_die "packages are missing and only root can install them: run 'apt-get install ${missing[*]}' as root"
	printf '==> installing %s\n' "${missing[*]}"
	if [[ ! -e $policy ]]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod 755 "$policy"
		made_policy=true
	fi
	packages_install "${missing[@]}" || status=$?
	! $made_policy || rm -f "$policy"
	((status == 0)) || packages_die "apt could not install ${missing[*]}: its last lines above say why; with no network, install them by hand"
	mapfile -t missing < <(packages_missing "$@")
	((${#missing[@]} == 0)) || packages_die "apt ended well but ${missing[*]} is still missing"
}

# The package index of a fresh machine is empty or too old: fetched only when the first try fails.
packages_install() {
	local -a apt=(apt-get -y -q -o DPkg::Lock::Timeout=120 -o Acquire::Retries=2)
	export DEBIAN_FRONTEND=noninteractive
	if ! "${apt[@]}" install --no-install-recommends "$@" </dev/null >/dev/null 2>&1; then
		"${apt[@]}" update </dev/null >/dev/null || return 1
		"${apt[@]}" install --no-install-recommends "$@" </dev/null || return 1
	fi
}
