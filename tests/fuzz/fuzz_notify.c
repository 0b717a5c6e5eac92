/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_notify.c - decoders of trapped calls' arguments over a memory that the container chose */
#include <errno.h>
#include <limits.h>
#include <sys/socket.h>

#include "daemon/agent/agent_args.h"
#include "daemon/agent/agent_group.h"
#include "fuzz/fuzz.h"

enum {
	BASE = 0x10000, /* address of the first octet */
	MEM_MAX = 4096,
};

struct memory {
	uint8_t octets[MEM_MAX];
	size_t len;
	uint32_t reads;
	bool is_wild; /* changes between two reads, as another thread would */
};

static int mem_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct memory *m = ctx;

	must_hold(++m->reads < 5000);
	if (addr < BASE || addr - BASE > m->len || len > m->len - (addr - BASE))
		return -EFAULT;
	memcpy(buf, m->octets + (addr - BASE), len);
	if (m->is_wild)
		for (size_t i = 0; i < m->len; i++)
			m->octets[i] = (uint8_t)(m->octets[i] * 5 + 1);
	return 0;
}

static int mem_write(void *ctx, uint64_t addr, const void *buf, size_t len)
{
	struct memory *m = ctx;

	if (addr < BASE || addr - BASE > m->len || len > m->len - (addr - BASE))
		return -EFAULT;
	memcpy(m->octets + (addr - BASE), buf, len);
	return 0;
}

/* Mostly addresses that are there, sometimes any. */
static uint64_t pointer(struct input *in)
{
	uint8_t how = input_u8(in);

	if (how < 0xe0)
		return BASE + how * 4u;
	return (uint64_t)input_u32(in) << 32 | input_u32(in);
}

/* The value of an option that names a group, set, and its beginning, for a filter that is to be told. */
static void group_value(struct input *in, const struct args_mem *mem, uint64_t p)
{
	static const int names[] = { 20, 21, 29, 32, 35, 36, 37, 38, 39,
				     40, 41, 42, 43, 44, 45, 46, 47, 48 };
	static uint8_t val[GROUP_VALUE_MAX], told[GROUP_VALUE_MAX];
	static struct ipc_dgram_filter f;
	uint8_t how = input_u8(in);
	int level = how & 1 ? 41 : 0, name = names[(how >> 1) % NS_ARRAY_LEN(names)];
	uint32_t max = how & 0x80 ? UINT32_MAX : input_u16(in);
	const struct group_opt *o = group_opt_find(AF_INET6, level, name);
	const struct filter_opt *fo = filter_opt_find(AF_INET6, level, name);
	struct ipc_dgram_group g = { .sock = 1 };
	int len = args_opt_in(mem, p, input_u16(in), val, sizeof(val)), r;

	must_hold(!o || !fo);
	if (len < 0)
		return;
	if (o) {
		r = group_opt_parse(o, val, (size_t)len, &g);
		must_hold(r == 0 || r == -EINVAL || r == -EADDRNOTAVAIL);
		must_hold(g.what < IPC_GROUP_WHAT_COUNT);
	}
	if (fo) {
		f = (struct ipc_dgram_filter){ .sock = 1 };
		r = filter_opt_parse(fo, val, (size_t)len, max, &f);
		must_hold(r == 0 || r == -EINVAL || r == -EADDRNOTAVAIL || r == -ENOBUFS);
		must_hold(f.cnt <= NS_FILTER_MAX && f.cnt <= max);
		must_hold(filter_opt_sources(fo, f.source, f.cnt, told) <=
			  sizeof(told) - fo->head_len);
	}
}

static void one(struct input *in, const struct args_mem *mem)
{
	uint8_t op = input_u8(in), buf[256], room[ARGS_SOCKADDR_MAX + 64];
	int family = op & 8 ? AF_INET6 : AF_INET, r;
	struct args_addr a;
	struct args_msg msg;
	struct args_tx tx;
	struct ns_endpoint ep = { ns_addr_v4(0x0a000001), 80 };
	uint64_t p = pointer(in), q = pointer(in);

	if ((op & 0x87) == 0x87) {
		group_value(in, mem, p);
		return;
	}
	switch (op & 7) {
	case 0:
	case 1:
		r = args_addr_in(mem, family,
				 op & 1    ? ARGS_BIND
				 : op & 64 ? ARGS_SEND
				 : op & 32 ? ARGS_CONNECT_DGRAM
					   : ARGS_CONNECT,
				 p, q, &a);
		must_hold(r == 0 || r == -EFAULT || r == -EINVAL || r == -EAFNOSUPPORT ||
			  r == -ENODEV);
		break;
	case 2:
		r = args_addr_out(mem, family, &ep, p, q);
		must_hold(r == 0 || r == -EFAULT || r == -EINVAL);
		break;
	case 3:
		r = args_opt_in(mem, p, input_u32(in), buf, input_u8(in));
		must_hold(r >= 0 || r == -EFAULT || r == -EINVAL);
		break;
	case 4:
		r = args_opt_len_in(mem, p);
		must_hold(r >= 0 || r == -EFAULT || r == -EINVAL);
		if (r >= 0)
			(void)!args_opt_out(mem, q, p, r, room, input_u8(in) % sizeof(room));
		break;
	case 5:
		r = args_msg_in(mem, p, &msg);
		must_hold(r == 0 || r == -EFAULT || r == -EMSGSIZE || r == -EINVAL);
		if (!r) {
			must_hold(msg.iov_cnt <= 1024);
			r = args_gather(mem, msg.iov, msg.iov_cnt, buf, sizeof(buf));
			must_hold(r >= -4095 && r <= (int)sizeof(buf));
			r = args_scatter(mem, msg.iov, msg.iov_cnt, room, sizeof(room));
			must_hold(r >= -4095 && r <= (int)sizeof(room));
			(void)!args_msg_out(mem, p, 16, msg.control_len, 0);
			(void)!args_name_out(mem, family, &ep, msg.name, msg.name_len);
		}
		break;
	case 6:
		if (q - BASE < sizeof(buf) && !mem->read(mem->ctx, p, buf, (size_t)(q - BASE))) {
			r = args_control_in(buf, (size_t)(q - BASE),
					    (enum args_rules)(op >> 5 & 3) % 3, &tx);
			must_hold(r == 0 || r == -EINVAL);
			must_hold(r < 0 ||
				  (tx.ttl >= -1 && tx.ttl <= 255 && tx.tos >= -1 && tx.tos <= 255));
		}
		break;
	default:
		r = args_gather(mem, p, input_u16(in) % 1025, buf, input_u8(in));
		must_hold(r >= -4095 && r <= 255);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct memory m;
	struct args_mem mem = { &m, mem_read, mem_write };
	struct input in = { data, size };
	size_t len;

	memset(&m, 0, sizeof(m));
	m.is_wild = input_u8(&in) & 1;
	const uint8_t *octets = input_take(&in, input_u16(&in) % MEM_MAX, &len);

	m.len = len;
	memcpy(m.octets, octets, len);
	for (int n = 0; n < 32 && in.left; n++) {
		m.reads = 0;
		one(&in, &mem);
	}
	return 0;
}
