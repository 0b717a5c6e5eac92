/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cost.c - what attacks cost: basic blocks of the stack that ran for each frame, never time
 *
 * Theory of operation
 *
 * The compiler calls __sanitizer_cov_trace_pc() at the start of each basic block of the stack, and of nothing
 * else. A frame's cost is how often that happened while it was taken in, with the turn of the loop behind it. The
 * measure is a segment of ordinary data, in order, with the turn that acknowledges it: an attacker's frame may
 * cost some of those, and the last of a flood must not cost more than the first ones did.
 */
#include "conformance.h"

#include <stdio.h>

enum {
	MSS = 1460,
};

static uint64_t blocks;
static struct frame f;
static uint8_t data[65536];

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

static uint64_t cost_of(const struct frame *fr)
{
	uint64_t before = blocks;

	rp_inject(&rp, fr);
	return blocks - before;
}

/* A full segment of the innocent flow and the acknowledgement of it, the dearest of ten. */
static uint64_t ordinary(void)
{
	uint64_t most = 0;

	for (int i = 0; i < 10; i++) {
		struct frame seg;

		rp_build(&other, &(struct tcp_in){ .flags = FL_ACK, .data = data, .data_len = MSS },
			 &seg);
		uint64_t one = cost_of(&seg);

		other.snd += MSS;
		rp_recv(&other, data, sizeof(data));
		rp_drop_out(&rp);
		most = one > most ? one : most;
	}
	return most;
}

static void said(const char *what, uint64_t most, uint64_t sum, uint32_t cnt, uint64_t unit)
{
	printf("%s: %llu blocks at most, %llu on average; an ordinary segment %llu\n", what,
	       (unsigned long long)most, (unsigned long long)(sum / cnt), (unsigned long long)unit);
}

/*
 * A sender with @len octets in flight at least, in segments of the least MSS a peer may ask for: its window doubles
 * each round until it is there, and the last round is not acknowledged.
 */
static struct rp_conn in_flight(uint32_t len, uint32_t *ret_flight)
{
	static const struct rp_syn syn = {
		.mss = 48, .has_sack = true, .has_wscale = true, .wscale = 14
	};
	struct rp_conn c = accepted_with(&syn);

	for (uint32_t round = 0; round < 40; round++) {
		uint32_t before = c.rcv;
		struct seen s;

		while (rp_send(&c, data, sizeof(data)) == sizeof(data))
			;
		while (rp_expect(&c, &s))
			;
		*ret_flight = c.rcv - before;
		if (*ret_flight >= len)
			return c;
		rp_ack(&c);
		while (rp_expect(&c, &s))
			;
		*ret_flight = c.rcv - before;
		rp_wait(&rp, NS_PER_MS);
		rp_ack(&c);
	}
	fprintf(stderr, "%u octets in flight where %u were wanted\n", *ret_flight, len);
	expect(false);
	return c;
}

/*
 * One octet SACKed, one not, over all that is in flight (CVE-2019-11478): the records never split below what was
 * sent, so the walk of an acknowledgement ends where its blocks are.
 */
START_TEST(sack_flood_costs_no_more_with_megabytes_in_flight)
{
	uint64_t unit = ordinary(), small_most = 0, large_most = 0, sum = 0;

	for (int is_large = 0; is_large < 2; is_large++) {
		uint64_t *most = is_large ? &large_most : &small_most;
		uint32_t flight;
		struct rp_conn c = in_flight(is_large ? 4 << 20 : 32 << 10, &flight);

		sum = 0;
		for (uint32_t i = 0; i < 4000; i++) {
			uint32_t b[4][2];
			struct opts o = { 0 };

			for (uint32_t k = 0; k < 4; k++) {
				b[k][0] = c.rcv - flight + 1 + (i * 8 + k * 2) % (flight - 2);
				b[k][1] = b[k][0] + 1;
			}
			opts_sack(&o, (const uint32_t(*)[2])b, 4);
			rp_build(&c,
				 &(struct tcp_in){ .flags = FL_ACK, .ack = -flight, .opts = &o },
				 &f);
			uint64_t one = cost_of(&f);

			sum += one;
			*most = one > *most ? one : *most;
			rp_drop_out(&rp);
		}
		ns_sock_abort(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
	said("SACK flood", large_most, sum, 4000, unit);
	expect(large_most < 2 * small_most);
	expect(sum / 4000 < 20 * unit);
}
END_TEST

START_TEST(one_octet_segments_out_of_order_cost_no_more_as_they_become_many)
{
	struct rp_conn c = accepted_with(&(struct rp_syn){ .has_sack = true });
	uint64_t unit = ordinary(), first = 0, most = 0, sum = 0;
	uint32_t cnt = 0;

	for (uint32_t off = 1; off < 60000; off += 2, cnt++) {
		/* in an order that jumps about: neither end of the list is where the next one goes */
		uint32_t at = 1 + off * 7919u % 60000u / 2 * 2;

		rp_build(&c,
			 &(struct tcp_in){ .flags = FL_ACK, .seq = at, .data = "x", .data_len = 1 },
			 &f);
		uint64_t one = cost_of(&f);

		sum += one;
		most = one > most ? one : most;
		if (cnt == 1000)
			first = most;
		rp_drop_out(&rp);
	}
	said("out of order", most, sum, cnt, unit);
	expect(most <= 2 * first);
	expect(sum / cnt < 20 * unit);
	ns_sock_abort(rp.stack, c.sock);
}
END_TEST

START_TEST(fragments_of_packets_that_never_end_cost_the_same_each)
{
	uint64_t unit = ordinary(), first = 0, most = 0, sum = 0;
	struct way w = rp_way(1, PORT);

	for (uint32_t i = 0; i < 10000; i++) {
		w.src = 0x0a000003 + i % 250; /* one ID from many sources, then the next */
		frame_ip4(&f, &w,
			  &(struct ip4_in){ .proto = 17,
					    .frag = (uint16_t)(0x2000 + i % 3 * 100),
					    .id = (uint16_t)(i / 250) },
			  data, 800);
		uint64_t one = cost_of(&f);

		sum += one;
		most = one > most ? one : most;
		if (i == 1000)
			first = most;
		rp_drop_out(&rp);
	}
	said("fragments", most, sum, 10000, unit);
	expect(most <= 2 * first);
	expect(sum / 10000 < 4 * unit);
}
END_TEST

START_TEST(claims_of_100k_neighbours_cost_the_same_each)
{
	static const uint8_t nobody[6];
	uint64_t unit = ordinary(), first = 0, most = 0, sum = 0;
	struct way w = rp_way(0, 0);

	for (uint32_t i = 0; i < 100000; i++) {
		w.src = 0x0a000100 + i;
		memcpy(w.src_mac + 2, &i, 4);
		frame_arp(&f, &w, 1, nobody);
		uint64_t one = cost_of(&f);

		sum += one;
		most = one > most ? one : most;
		if (i == 5000)
			first = most;
		rp_drop_out(&rp);
	}
	said("ARP claims", most, sum, 100000, unit);
	expect(most <= 2 * first);
	expect(sum / 100000 < 4 * unit);
}
END_TEST

/* Each SYN is one frame in and one out; with cookies there is no state, without it is dropped. */
START_TEST(syns_of_a_flood_cost_less_than_two_ordinary_segments)
{
	uint64_t unit = ordinary(), most, sum;
	struct way w = rp_way(1, PORT);

	for (int has_cookies = 1; has_cookies >= 0; has_cookies--) {
		expect(ns_stack_set_knob(rp.stack, NS_KNOB_tcp_syncookies, has_cookies) == 0);
		most = sum = 0;
		for (uint32_t i = 0; i < 100000; i++) {
			w.src = 0x0b000000 + i * 2654435761u % 0x1000000;
			w.sport = (uint16_t)(1024 + i % 60000);
			frame_tcp(&f, &w,
				  &(struct tcp_in){ .flags = FL_SYN, .seq = i, .wnd = 1000 });
			uint64_t one = cost_of(&f);

			sum += one;
			most = one > most ? one : most;
			rp_drop_out(&rp);
		}
		said(has_cookies ? "SYNs with cookies" : "SYNs without", most, sum, 100000, unit);
		expect(sum / 100000 < 2 * unit);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cost");
	TCase *tc = conf_case(s, "cost");

	tcase_add_test(tc, sack_flood_costs_no_more_with_megabytes_in_flight);
	tcase_add_test(tc, one_octet_segments_out_of_order_cost_no_more_as_they_become_many);
	tcase_add_test(tc, fragments_of_packets_that_never_end_cost_the_same_each);
	tcase_add_test(tc, claims_of_100k_neighbours_cost_the_same_each);
	tcase_add_test(tc, syns_of_a_flood_cost_less_than_two_ordinary_segments);
	return conf_run(s);
}
