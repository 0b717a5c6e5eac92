/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gen_corpus.c - writes the hand-made part of the seed corpus: gen_corpus FOLDER
 *
 * Real frames, options, plans, messages and argument blocks, so that a mutation starts close to what
 * the code under test accepts. What the fuzzer found beside them lies in the same folders under the
 * names libFuzzer gave it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "daemon/common/ipc.h"
#include "daemon/common/plan.h"
#include "fuzz/frame_fuzz.h"
#include "support/rawpeer.h"

static const char *root;

/* An input in the making. */
static struct buf {
	size_t len;
	uint8_t b[1 << 17];
} out;

static void put8(uint32_t v)
{
	out.b[out.len++] = (uint8_t)v;
}

static void put16(uint32_t v)
{
	put8(v >> 8);
	put8(v);
}

static void put_octets(const void *octets, size_t len)
{
	memcpy(out.b + out.len, octets, len);
	out.len += len;
}

static void save(const char *target, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", root, target);
	if (mkdir(path, 0755) && errno != EEXIST)
		abort();
	snprintf(path, sizeof(path), "%s/%s/%s", root, target, name);
	FILE *f = fopen(path, "wb");

	if (!f || (out.len && fwrite(out.b, out.len, 1, f) != 1) || fclose(f))
		abort();
	out.len = 0;
}

/* --- fuzz_udp: steps ------------------------------------------------------------------------- */

/* A datagram of @len octets as payload of IP; without checksum. */
static void udp_step(uint16_t frag, uint8_t id, uint8_t from, uint8_t len)
{
	uint8_t b[256] = { 0x0f, 0xa0, 0, 53, 0, 100, 0, 0 };

	put8(0);
	put8(0);
	put16(frag);
	put8(id);
	put8(len);
	put_octets(b + from, len);
}

static void udp(void)
{
	static const uint8_t quote[] = { 3,  3, 0,    0, 0,  0,  0,    0,    0x45, 0,  0, 36,
					 0,  1, 0x40, 0, 64, 17, 0,    0,    10,   0,  0, 1,
					 10, 0, 0,    2, 0,  53, 0x0f, 0xa0, 0,    16, 0, 0 };

	udp_step(0x4000, 0, 0, 100 & 0x3f);
	save("udp", "short");
	udp_step(0x2000, 1, 0, 56);
	udp_step(7, 1, 56, 44);
	put16(0x0400);
	save("udp", "two-fragments");
	udp_step(7, 1, 56, 44);
	udp_step(0x2000, 1, 0, 56);
	udp_step(0x2006, 1, 0, 16);
	save("udp", "overlap");
	put16(0x0800); /* connect socket 0, send, be refused */
	put16(0x0500);
	put16(40);
	put8(0);
	put16(0x0300);
	put16(0x4000);
	put8(0);
	put8(sizeof(quote));
	put_octets(quote, sizeof(quote));
	put16(0x0400);
	save("udp", "refused");
	put16(0x0902);
	put16(0x0500);
	put16(40000);
	put8(0x0b);
	put16(0x0700);
	put16(31000);
	put16(0x0b00);
	save("udp", "group-long-close");
}

/* --- fuzz_frame: steps ------------------------------------------------------------------------ */

static void step_raw(const struct frame *f)
{
	put8(OP_RAW);
	put16(10 + f->len);
	put_octets((uint8_t[10]){ 0 }, 10);
	put_octets(f->b, f->len);
}

static void step_time(uint32_t ms)
{
	put8(OP_TIME);
	put16(ms);
}

static void step_segment(uint32_t conn, uint8_t flags, uint8_t seq, uint8_t ack, uint16_t data_len,
			 bool moves)
{
	put8(OP_SEGMENT | conn << 6);
	put8(flags);
	put8((data_len ? 2 : 0) | (moves ? 16 : 0));
	put8(seq << 2);
	put8(ack << 2);
	put16(60000);
	if (data_len)
		put16(data_len);
}

static void step_call(uint32_t op, uint32_t conn, int len)
{
	put8(op | conn << 6);
	if (len >= 0)
		put16((uint32_t)len);
}

/* An IPv6 frame from the peer, hop limit 255; the target makes lengths and checksums right. */
static void step_ip6(uint8_t next, const uint8_t *body, uint32_t len, bool is_to_group)
{
	uint8_t h[54] = { [12] = 0x86, [13] = 0xdd, [14] = 0x60, [20] = next, [21] = 255 };
	static const uint8_t peer[16] = { 0x20, 1, 0x0d, 0xb8, [15] = 1 };
	static const uint8_t group[16] = { 0xff, 2, [11] = 1, [12] = 0xff, [15] = 2 };

	memcpy(h + 22, peer, 16);
	if (is_to_group)
		memcpy(h + 38, group, 16);
	put8(OP_FIXED);
	put16(sizeof(h) + len);
	put_octets(h, sizeof(h));
	put_octets(body, len);
}

static void frames_of_ip6(void)
{
	static const uint8_t target[16] = { 0x20, 1, 0x0d, 0xb8, [15] = 2 };
	static const uint8_t syn[24] = { 0x12, 0x34, 0, 81, 0, 0, 0, 9, 0, 0, 0, 0,
					 0x60, 2,    8, 0,  0, 0, 0, 0, 2, 4, 5, 0xa0 };
	static const uint8_t chain[64] = { 43, 0, 1,  4, 0, 0, 0, 0, 60, 0, 0, 0, 0, 0, 0, 0,
					   44, 0, 30, 4, 0, 0, 0, 0, 6,  0, 0, 0, 1, 2, 3, 4 };
	uint8_t m[128] = { 135 };

	put8(0);
	memcpy(m + 8, target, 16);
	memcpy(m + 24, "\1\1\2\0\0\0\0\2", 8);
	step_ip6(58, m, 32, true);
	step_ip6(6, syn, sizeof(syn), false);
	step_ip6(58, (const uint8_t[12]){ 128, 0, 0, 0, 1, 2, 3, 4, 'p', 'i', 'n', 'g' }, 12,
		 false);
	step_ip6(0, chain, sizeof(chain), false);
	step_time(1000);
	m[0] = 136;
	m[4] = 0x60;
	m[24] = 2;
	step_ip6(58, m, 32, false);
	memset(m, 0, sizeof(m)); /* packet too big about a segment to port 4660 */
	m[0] = 2;
	m[6] = 5;
	m[8] = 0x60;
	m[14] = 6;
	memcpy(m + 16, target, 16);
	m[32] = 0x20;
	m[33] = 1;
	m[34] = 0x0d;
	m[35] = 0xb8;
	m[47] = 1;
	memcpy(m + 48, "\0\121\22\64\0\0\0\1", 8);
	step_ip6(58, m, 68, false);
	step_ip6(254, m, 40, false);
	step_ip6(43, (const uint8_t[8]){ 6, 0, 0, 1 }, 8, false);
	save("frame", "ip6");
}

/* Octets @off to @off + @len of an echo request, behind a fragment header. */
static void step_frag6(uint8_t id, uint16_t off, uint16_t len, bool more)
{
	uint8_t m[8 + 128] = { 58, 0, (uint8_t)(off >> 8), (uint8_t)(off | more), [7] = id };

	memset(m + 8, 'f', len);
	if (off == 0)
		memcpy(m + 8, (const uint8_t[8]){ 128, 0, 0x21, 0x43, 1, 2, 3, 4 }, 8);
	step_ip6(44, m, 8u + len, false);
}

static void frames_in_fragments_of_ip6(void)
{
	put8(0);
	step_frag6(1, 48, 24, false); /* the last comes first */
	step_frag6(1, 0, 48, true);
	step_frag6(2, 0, 48, true); /* an overlap */
	step_frag6(2, 40, 24, true);
	step_frag6(2, 64, 24, false);
	step_frag6(3, 0, 16, false);     /* atomic */
	step_frag6(4, 0xfff8, 8, false); /* too long */
	step_frag6(5, 0, 48, true);
	step_frag6(5, 0, 48, true); /* twice */
	step_time(0x8000 | 61);     /* too late */
	step_frag6(5, 48, 8, false);
	save("frame", "frag6");
}

static void frames_of_the_wire(void)
{
	static const uint8_t nobody[6];
	static struct frame f;
	struct way w = rp_way(1000, 80);
	struct opts o = { 0 };

	put8(0);
	frame_arp(&f, &w, 1, nobody);
	step_raw(&f);
	frame_icmp(&f, &w, 8, 0, 7, "ping", 4);
	step_raw(&f);
	opts_mss(&o, 1460);
	opts_sack_ok(&o);
	opts_ts(&o, 1, 0);
	opts_wscale(&o, 7);
	frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_SYN, .seq = 9, .wnd = 64000, .opts = &o });
	step_raw(&f);
	frame_tcp(&f, &w, &(struct tcp_in){ .flags = FL_ACK, .seq = 10, .ack = 5 });
	step_raw(&f);
	frame_ip4(&f, &w, &(struct ip4_in){ .proto = 17 }, "12345678", 8);
	step_raw(&f);
	save("frame", "wire");

	put8(0);
	frame_ip4(&f, &w, &(struct ip4_in){ .frag = 0x2000, .id = 5 }, "fragment", 8);
	step_raw(&f);
	frame_ip4(&f, &w,
		  &(struct ip4_in){
			  .proto = 1, .opt = (uint8_t[]){ 7, 7, 4, 0, 0, 0, 0, 0 }, .opt_len = 8 },
		  "\10\0\0\0\0\0\0\0", 8);
	put8(OP_FIXED);
	put16(f.len);
	put_octets(f.b, f.len);
	save("frame", "ip_options");

	/* an ICMP error about the first connection */
	static struct frame quoted;
	struct way back = w;

	put8(0);
	back.src = w.dst;
	back.dst = w.src;
	back.sport = 80;
	back.dport = 100;
	frame_tcp(&quoted, &back, &(struct tcp_in){ .flags = FL_ACK, .data = "x", .data_len = 1 });
	frame_icmp(&f, &w, 3, 4, 576, quoted.b + ETH_LEN, 28);
	step_call(OP_SEND, 0, 3000);
	step_raw(&f);
	step_time(1000);
	save("frame", "icmp_error");
}

static void frames_of_a_connection(void)
{
	put8(1);
	for (uint32_t i = 0; i < 4; i++) {
		step_segment(i, FL_ACK | FL_PSH, 0, 0, 100, true);
		step_call(OP_READ, i, 1000);
		step_call(OP_SEND, i, 20000);
		step_segment(i, FL_ACK, 0, 0, 0, false);
	}
	step_time(300);
	for (uint32_t i = 0; i < 4; i++)
		step_segment(i, FL_ACK | FL_FIN, 0, 0, 0, true);
	for (uint32_t i = 0; i < 4; i++)
		step_call(i & 1 ? OP_CLOSE : OP_SHUTDOWN, i, -1);
	step_time(5000);
	save("frame", "connections");

	put8(0);
	step_segment(0, FL_ACK, 30, 0, 1000, false);
	step_segment(0, FL_ACK, 20, 0, 10, false);
	step_segment(0, FL_ACK, 0, 0, 20, true);
	step_segment(0, FL_RST, 5, 0, 0, false);
	step_segment(0, FL_SYN, 0, 0, 0, false);
	step_segment(0, FL_ACK, 0, 9, 0, false);
	step_segment(1, FL_RST, 0, 0, 0, false);
	step_segment(2, FL_ACK | FL_URG, 0, 0, 3, true);
	save("frame", "blind");

	put8(2);
	step_call(OP_SEND, 0, 30000);
	for (int i = 0; i < 4; i++) { /* SACK blocks near what is in flight */
		put8(OP_SEGMENT);
		put8(FL_ACK);
		put8(1);
		put8(0);
		put8(0);
		put16(60000);
		put8(12);
		put_octets((uint8_t[]){ 1, 1, 5, 10, 0, 0, 0, (uint8_t)i, 0, 0, 9, 0 }, 12);
	}
	step_time(2000);
	step_time(0x8000 | 60);
	save("frame", "loss");

	put8(0);
	put8(OP_XMIT_ERR);
	put8(1);
	step_call(OP_SEND, 0, 60000);
	put8(OP_XMIT_ERR);
	put8(0);
	put8(OP_XMIT_ERR);
	put8(2);
	step_call(OP_SEND, 1, 60000);
	step_time(1000);
	put8(OP_XMIT_ERR);
	put8(0);
	step_call(OP_CONNECT, 3, 99);
	step_time(0x8000 | 100);
	step_call(OP_ABORT, 0, -1);
	save("frame", "driver");
}

/* Octets as they are: a step whose arguments are one each. */
#define STEP(...)                                                                                  \
	put_octets((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* RFC 7413: our cookie is asked for, comes back with octets, and the handshake ends; then the same as a client. */
static void frames_of_fast_open(void)
{
	put8(0x80);
	put8(0x10);
	STEP(OP_SYN_MORE, 0, 0, 3, 1);
	STEP(OP_FINISH, 0);
	STEP(OP_SYN_MORE, 2, 0, 3, 2 | 4, 100);
	STEP(OP_ACCEPT);
	step_call(OP_SEND, 0, 500);
	STEP(OP_FINISH, 2);
	STEP(OP_SYN_MORE, 5, 0, 3, 3 | 4, 9);
	STEP(OP_OPEN | 1 << 6, 2, 9);
	STEP(OP_ANSWER | 1 << 6, 8, 0);
	STEP(OP_OPEN | 1 << 6, 2 | 0x20, 9);
	STEP(OP_ANSWER | 1 << 6, 8 | 16, 0);
	step_segment(1, FL_ACK | FL_PSH, 0, 0, 100, true);
	STEP(OP_OPEN | 2 << 6, 1 | 2 | 0x20, 7);
	step_time(1500);
	save("frame", "fastopen");
}

/* RFC 9768: both directions marked, and each algorithm with its answer. */
static void frames_of_ecn(void)
{
	for (uint32_t cc = 0; cc < 3; cc++) {
		put8(0x80);
		put8(3 | cc << 2);
		step_call(OP_SEND, 0, 20000);
		for (uint32_t i = 0; i < 4; i++) {
			STEP(OP_SEGMENT, FL_ACK | (i & 1 ? FL_ECE : FL_CWR), 32 | 2 | 16, 0, 0, 200,
			     0, 0, 100, 3);
			STEP(OP_SEGMENT, FL_ACK, 1 | 64, 0, 0, 200, 0, 12, 1, 172, 11, 0, 0,
			     (uint8_t)(i + 1), 0, 0, 99, 0, 0, 1);
		}
		step_time(1000);
		save("frame", (const char *[]){ "accecn", "accecn-reno", "accecn-bbr" }[cc]);
	}
}

static void frames_of_datagrams(void)
{
	put8(0x80);
	put8(0xc0);
	for (uint8_t sock = 0; sock < 4; sock++) {
		STEP(OP_TALK, 0 << 2 | sock, NS_IP_RECVERR, 4);
		STEP(OP_TALK, 1 << 2 | sock, 4 | (sock & 1));      /* join */
		STEP(OP_TALK, 3 << 2 | sock, sock & 1, 0, 0, 100); /* send to the peer */
		STEP(OP_ICMP, sock & 1 ? 1 : 3, sock & 1 ? 4 : 3, 0);
		STEP(OP_TALK, 3 << 2 | sock, 4 | (sock & 1), 2, 0, 50, 1,
		     0); /* pieces to the group */
		STEP(OP_TALK, 3 << 2 | sock, 2 | (sock & 1) | 32, 1, 0,
		     70); /* gathered, to ourselves */
		STEP(OP_TALK, 5 << 2 | sock);
		STEP(OP_HEAR, sock, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8);
		STEP(OP_TALK, 6 << 2 | sock);
	}
	STEP(OP_HEAR, 8, 0, 2, 1, 2);
	STEP(OP_ICMP, 2, 0, 2, 5, 0);
	save("frame", "datagrams");
}

/* Filters of both families, and queries of all kinds about them. */
static void frames_of_filters(void)
{
	put8(0x80);
	put8(0xc0);
	for (uint8_t v6 = 0; v6 < 2; v6++) {
		uint8_t group = 0x24 | v6, one = v6, other = v6 | 0x40;

		/* the calls of source filters: 61 << 2 | socket */
		STEP(OP_TALK, 61 << 2 | 1, group, 0x80 | NS_GROUP_JOIN_SOURCE << 3 | one);
		STEP(OP_TIME, 0, 0);
		STEP(OP_TALK, 61 << 2 | 1, group, 0x80 | NS_GROUP_JOIN_SOURCE << 3 | other, 7);
		STEP(OP_HEAR, 0x40, 4 | v6, 10, 2, 125, 0);     /* all */
		STEP(OP_HEAR, 0x40, 6 | v6, 10, 2, 125, 0);     /* the group */
		STEP(OP_HEAR, 0x40, 6 | v6, 10, 3, 0x8f, 3);    /* sources of it */
		STEP(OP_HEAR, 0x40, 0x16 | v6, 10, 3, 20, 100); /* others */
		STEP(OP_TIME, 4, 0);
		STEP(OP_TALK, 61 << 2 | 1, 0x80 | group, 7, v6 ? 64 : 10); /* EXCLUDE */
		STEP(OP_TALK, 61 << 2 | 1, group, 0xff & one, 240);
		STEP(OP_HEAR, 0x40, 6 | v6, 0, 2, 125, 90);
		STEP(OP_TIME, 4, 0);
		STEP(OP_TALK, 61 << 2 | 1, 0x80 | group, one, 1);
		STEP(OP_HEAR, v6 ? 8 : 0xb, 0, 2, 1, 2);
		STEP(OP_HEAR, 0x40, v6, 10, 0, 0, 0); /* of an old router */
		STEP(OP_TALK, 61 << 2 | 1, group, 0x80 | NS_GROUP_BLOCK_SOURCE << 3 | other, 9);
		STEP(OP_HEAR, 0x40, 0xe | v6, 10, 0, 0, 4); /* more than there are */
		STEP(OP_TIME, 0x81, 0);
		STEP(OP_TALK, 61 << 2 | 1, group, 0x80 | NS_GROUP_LEAVE << 3);
		STEP(OP_TALK, 61 << 2 | 1, 0x80 | group, 0xff & one, 5);
	}
	STEP(OP_TIME, 4, 0);
	save("frame", "filters");
}

static void frames_of_marks(void)
{
	put8(0);
	STEP(OP_CALL, 0, 1, 2, 0); /* more follow */
	STEP(OP_CALL, 0, 2, 2, 0); /* end of record */
	STEP(OP_CALL, 0, 4, 2, 0); /* urgent */
	STEP(OP_SEGMENT, FL_ACK | FL_URG | FL_PSH, 2 | 4 | 16, 0, 0, 200, 0, 0, 100, 0, 50);
	STEP(OP_CALL, 1);
	step_call(OP_READ, 0, 1000);
	STEP(OP_CALL, 4, 3);
	STEP(OP_SYN, 6, 0, 3);
	STEP(OP_FINISH, 0);
	STEP(OP_CALL, 3);
	save("frame", "marks");
}

/* --- the others ------------------------------------------------------------------------------- */

static void options(void)
{
	struct opts o = { 0 };
	const uint32_t blocks[4][2] = { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 } };

	opts_mss(&o, 1460);
	opts_sack_ok(&o);
	opts_ts(&o, 1, 2);
	opts_wscale(&o, 7);
	put_octets(o.b, o.len);
	save("tcp_opt", "syn");
	o.len = 0;
	opts_ts(&o, 0xffffffff, 0x80000000);
	opts_sack(&o, blocks, 3);
	put_octets(o.b, o.len < 40 ? o.len : 40);
	save("tcp_opt", "sack");
	o.len = 0;
	opts_sack(&o, blocks, 4);
	put_octets(o.b, o.len);
	save("tcp_opt", "sack4");
	put_octets((uint8_t[]){ 253, 4, 0, 0, 2, 3, 9, 0, 8, 10, 1, 1 }, 12);
	save("tcp_opt", "broken");
	put_octets((uint8_t[]){ 1, 3, 3, 255, 0, 9 }, 6);
	save("tcp_opt", "scale");
}

static void wires(void)
{
	static const char *const names[] = { "clean", "loss", "bits", "foul" };

	for (uint32_t i = 0; i < 4; i++) {
		put8(i == 3 ? 1 : 2 * i);
		for (uint32_t n = 0; n < 120; n++) {
			put8(i == 0 ? 0 : i == 1 ? (n % 9 ? 0 : 130) : n % 7 ? 0 : 200);
			if (i >= 2 && n % 7 == 0) {
				put16(n * 3);
				put8(1u << n % 8);
			}
		}
		save("two_stack", names[i]);
	}
}

/* Long inputs of fuzz_two_stack with what its last octet of choices has. */
static void wires_with_more(void)
{
	static const struct {
		const char *name;
		uint8_t extra, style;
	} rows[] = {
		{ "accecn", 1 | 4 | 0x10, 0 },   { "ecn", 2 | 4 | 0x10, 0x15 },
		{ "one-ecn", 3 | 4 | 0x10, 0 },  { "bbr", 1 | 4 | 0x10, 0x0a },
		{ "fastopen", 8 | 0x80 | 1, 0 }, { "urgent", 0x10, 0x70 },
	};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put8(0x80 | (rows[i].style & 0x0f ? 0x70 : 0));
		put8(0x80 | (i & 1));
		put8(0x80);
		put8(rows[i].extra);
		if (rows[i].extra & 0x10)
			put8(rows[i].style);
		for (uint32_t n = 0; n < 100; n++)
			put8(n % 11 == 10 ? 130 : n % 5 ? 0 : 32 + n % 64);
		save("two_stack", rows[i].name);
	}
}

static struct plan_ip ip4(uint32_t host)
{
	return (struct plan_ip){ AF_INET,
				 { (uint8_t)(host >> 24), (uint8_t)(host >> 16),
				   (uint8_t)(host >> 8), (uint8_t)host } };
}

static void plans(void)
{
	char *text = NULL;
	size_t len = 0;
	struct plan p;

	plan_init(&p);
	snprintf(p.options.id, sizeof(p.options.id), "seed");
	p.options.channel_cnt = 1;
	struct plan_link *l = plan_add_link(&p);

	*l = (struct plan_link){ .name = "eth0",
				 .kind = "veth",
				 .ifindex = 2,
				 .flags = 0x1043,
				 .type = 1,
				 .mtu = 1500,
				 .mac = { 2, 0, 0, 0, 0, 1 },
				 .gso_max_size = 65536,
				 .gso_ipv4_max_size = 65536,
				 .gso_max_segs = 65535,
				 .tso_max_size = 65536,
				 .driver = PLAN_DRIVER_PACKET,
				 .gso = PLAN_GSO_HW,
				 .vnet_hdr_len = 10,
				 .has_software_gso = true };
	*plan_add_addr(&p) = (struct plan_addr){ .local = ip4(0x0a000001), .prefix_len = 24 };
	*plan_add_route(&p) = (struct plan_route){ .family = AF_INET,
						   .type = 1,
						   .protocol = 3,
						   .table = 254,
						   .gateway = ip4(0x0a0000fe) };
	*plan_add_neigh(&p) = (struct plan_neigh){ .state = 0x80,
						   .mac = { 2, 0, 0, 0, 0, 9 },
						   .addr = ip4(0x0a0000fe) };
	*plan_add_rule(&p) = (struct plan_rule){
		.family = AF_INET, .action = 1, .priority = 32766, .table = 254
	};
	if (plan_to_string(&p, &text, &len))
		fprintf(stderr, "gen_corpus: the seed plan is refused\n");
	else
		put_octets(text, len);
	save("plan", "full");
	free(text);
	plan_done(&p);
	put_octets("{\"version\":1}", 13);
	save("plan", "bare");
	put_octets("[[[[{\"version\":1e999,\"links\":[]}]]]]", 36);
	save("plan", "nested");
}

static void messages(void)
{
	for (uint32_t type = 1; type < IPC_TYPE_COUNT; type++) {
		static const uint8_t ways[][2] = {
			{ IPC_MONITOR, IPC_AGENT }, { IPC_MONITOR, IPC_WORKER },
			{ IPC_AGENT, IPC_WORKER },  { IPC_WORKER, IPC_AGENT },
			{ IPC_AGENT, IPC_MONITOR }, { IPC_WORKER, IPC_MONITOR }
		};
		uint32_t len = ipc_body_len((enum ipc_type)type);
		struct ipc_header h = { IPC_VERSION, (uint16_t)type, len };
		uint64_t octets[(sizeof(h) + IPC_BODY_MAX) / 8] = { 0 };
		const uint8_t *way = ways[2];
		uint32_t fds = 0;

		memcpy(octets, &h, sizeof(h));
		for (size_t i = 0; i < 6; i++)
			for (uint32_t n = 0; n < 3; n++)
				if (!ipc_check(octets, sizeof(h) + len, n,
					       (enum ipc_role)ways[i][0],
					       (enum ipc_role)ways[i][1])) {
					way = ways[i];
					fds = n;
				}
		put8(way[0]);
		put8(way[1]);
		put8(fds);
		put_octets(octets, sizeof(h) + len);
		save("ipc", ipc_type_name((enum ipc_type)type));
	}
}

static void arguments(void)
{
	struct {
		uint16_t family, port;
		uint32_t addr;
		uint64_t zero;
	} sin = { AF_INET, 0x5000, 0x0100000a, 0 };
	struct msghdr mh = { .msg_name = (void *)0x10000, .msg_namelen = 16, .msg_iovlen = 2 };
	struct iovec iov[2] = { { (void *)0x10000, 16 }, { (void *)0x10008, 8 } };
	uint64_t len16 = 16;

	mh.msg_iov = (void *)(0x10000 + 100);
	put8(0);
	put16(200);
	size_t start = out.len;

	put_octets(&sin, sizeof(sin));     /* 0x10000: pointer octet 0 */
	put_octets(&len16, sizeof(len16)); /* 0x10010: 4 */
	put_octets(&mh, sizeof(mh));       /* 0x10018: 6 */
	while (out.len < start + 100)
		put8(0);
	put_octets(iov, sizeof(iov));
	while (out.len < start + 200)
		put8(0);
	for (uint32_t op = 0; op < 8; op++) {
		put8(op);
		put8(op == 5 ? 6 : op >= 6 ? 25 : 0);
		if (op < 2) {
			put8(0xe0); /* a length given as a value */
			put_octets((uint8_t[8]){ [7] = 16 }, 8);
		} else {
			put8(4);
		}
		put16(op >= 6 ? 2 : 0);
		put16(16);
		put8(64);
	}
	save("notify", "calls");
	/* options of groups: a filter of two sources, that of IPv4 by itself, and each of the others */
	put8(0);
	put16(400);
	for (uint32_t i = 0; i < 400; i++)
		put8(i == 0 || i == 16 || i == 144 || i == 272 ? (i ? 2 : 1)
		     : i == 8 || i == 128                      ? 2
		     : i == 12 || i == 140                     ? 2
		     : i == 4 || i == 20                       ? 224
							       : 0);
	for (uint32_t i = 0; i < 36; i++) {
		put8(0x87);
		put8(0);
		put8(0);
		put8(i);
		put16(10);
		put16(i < 2 ? 400 : 264);
	}
	save("notify", "groups");
	put8(1);
	put16(64);
	for (int i = 0; i < 64; i++)
		put8((uint32_t)i);
	put_octets("\0\0\4\1\0\4\2\0\4\3\0\4\0\0\0\4\5\6\0", 19);
	save("notify", "wild");
}

static void configurations(void)
{
	static const char file[] = "\1# comment\nid = web-1\ngso\nsoftware-gso=false\n\n"
				   "network = sandbox\ntake=move\nlog-level = debug\n";
	static const char flags[] =
		"\0--id=web-1\n--netns=/run/netns/x\n--gso=false\n--take\nstrip\n"
		"--state-dir=/run/sluice\n--num-network-channels=1";

	put_octets(file, sizeof(file) - 1);
	save("config", "file");
	put_octets(flags, sizeof(flags) - 1);
	save("config", "flags");
	put_octets("\0--help", 7);
	save("config", "help");
	put_octets("\0--id\n--gso=maybe\n-x\n--", 22);
	save("config", "wrong");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	root = argv[1];
	frames_of_the_wire();
	frames_of_ip6();
	frames_in_fragments_of_ip6();
	frames_of_a_connection();
	frames_of_fast_open();
	frames_of_ecn();
	frames_of_datagrams();
	frames_of_marks();
	frames_of_filters();
	udp();
	options();
	wires();
	wires_with_more();
	plans();
	messages();
	arguments();
	configurations();
	return 0;
}
