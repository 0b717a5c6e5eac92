# SPDX-License-Identifier: Apache-2.0
# results.jq - from samples (case, side, figure; tab-separated) to the results of tests/bench/run
def median: sort | if length == 0 then null else .[length / 2 | floor] end;
def round3: if . == null then null else . * 1000 | round / 1000 end;

def unit: {
	"redis-set-c50": "requests/s", "redis-get-c50": "requests/s", "rr-p50": "us",
	"connect-rate": "connections/s", "accept-rate": "connections/s", "idle-rss": "MiB",
	"syn-flood-kept": "share",
	"ready-time": "ms"
}[.] // "Gbit/s";

# The kernel sends in bulk in one way only: its figure stands beside all three of ours.
def kernel_case: if startswith("bulk-out-") then "bulk-out" else . end;
def ratio($value; $kernel):
	if $value == null or $kernel == null then null
	elif unit == "us" then $kernel / $value
	else $value / $kernel end;

# What the first landing owes: a share of the kernel, or of another case, or a limit.
def floors($at): [
	(["bulk-out-hw-gso", 0.5], ["bulk-in", 0.4], ["nginx-10m-c5", 0.5], ["redis-set-c50", 0.4],
		["redis-get-c50", 0.4]
		| { name: .[0], got: $at[.[0]].ratio, want: .[1], text: "of the kernel" }),
	(["bulk-out-sw-gso", 0.35, "bare-sendmmsg"], ["bulk-out-sw-gso", 1, "bulk-out-none"],
		["bulk-out-none", 0.3, "bare-send"]
		| { name: .[0], want: .[1], text: "of \(.[2])",
			got: (if $at[.[0]].value and $at[.[2]].value
				then $at[.[0]].value / $at[.[2]].value else null end) }),
	(["idle-rss", 12, "MiB"], ["ready-time", 100, "ms"]
		| { name: .[0], got: $at[.[0]].value, want: .[1], text: .[2], limit: true })
] | map(select(.got != null));
def below: if .limit then .got >= .want elif .want == 1 then .got <= 1 else .got < .want end;
def words: if .limit then "< \(.want) \(.text)" elif .want == 1 then "> \(.text[3:])"
	else "\(.want) \(.text)" end;

[inputs | split("\t") | { name: .[0], side: .[1], figure: (.[2] | tonumber) }] as $samples
| def figures($name; $side): [$samples[] | select(.name == $name and .side == $side) | .figure];
  [$cases | split(" ")[] | . as $name
	| (figures($name; "value") | median) as $value
	| (figures($name | kernel_case; "kernel") | median) as $kernel
	| select($value != null)
	| { name: $name, value: $value, unit: ($name | unit), kernel: $kernel,
		ratio: ($name | ratio($value; $kernel) | round3) }]
| . as $rows
| floors($rows | map({ key: .name, value: . }) | from_entries) as $floors
| {
	machine: $machine,
	cases: [$rows[] | . as $row
		| . + { floor: ([$floors[] | select(.name == $row.name) | words] | join(", ")
			| if . == "" then null else . end) }],
	below: [$floors[] | select(below)
		| "below its floor: \(.name) is \(.got | round3), the floor is \(words)"]
}
