# SPDX-License-Identifier: Apache-2.0
# config.jq - the config.json of a lab's container; lab_bundle in lab.sh passes the arguments;
# the command comes on standard input, each word ended by U+001E (jq cannot read a zero byte)
def tmpfs($at): { destination: $at, type: "tmpfs", source: "tmpfs", options: ["nosuid", "nodev", "mode=755"] };
def bind: split(":") | { destination: .[1], type: "bind", source: .[0], options: ["bind", "ro"] };
# What docker gives a container.
def capabilities: [
	"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FSETID", "CAP_FOWNER", "CAP_SETGID", "CAP_SETUID",
	"CAP_SETPCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_KILL", "CAP_NET_RAW"
];
{
	ociVersion: "1.0.2",
	hostname: $name,
	root: { path: $rootfs, readonly: true },
	process: {
		terminal: false,
		cwd: "/tmp",
		args: (split("\u001e") | .[:-1]),
		env: ["PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"],
		rlimits: [{ type: "RLIMIT_NOFILE", hard: 16384, soft: 16384 }],
		noNewPrivileges: true,
		capabilities: {
			bounding: capabilities, effective: capabilities, permitted: capabilities
		}
	},
	mounts: ([
		{ destination: "/proc", type: "proc", source: "proc" },
		{ destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755"] },
		tmpfs("/tmp"), tmpfs("/run"), tmpfs("/var/log"), tmpfs("/var/log/nginx"),
		tmpfs("/var/lib/nginx")
	] + ($binds | split("\n") | map(select(. != "") | bind))),
	linux: {
		namespaces: [
			{ type: "pid" }, { type: "mount" }, { type: "ipc" }, { type: "uts" },
			{ type: "network", path: $netns }
		],
		resources: (if $shares > 0 then { cpu: { shares: $shares } } else {} end),
		seccomp: $seccomp[0]
	}
}
