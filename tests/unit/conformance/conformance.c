/* SPDX-License-Identifier: Apache-2.0 */
/* conformance.c - the fixture of the raw-packet tests; see conformance.h */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/vwire.h"

struct rawpeer rp;
ns_sock listener;
struct rp_conn other;
struct rp_config conf_config;

static uint64_t counters[512];

void conf_fail(const char *file, int line, const char *what)
{
	const char *folder = getenv("SLUICE_TEST_OUT");
	const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.%d.pcap", folder ? folder : ".", base, line);
	if (rp.ring)
		pcapring_write(rp.ring, path);
	ck_abort_msg("%s:%d: %s (frames in %s)", base, line, what, path);
	abort();
}

void snap(void)
{
	for (uint32_t i = 0; i < ns_stack_stat_cnt() && i < 512; i++)
		counters[i] = ns_stack_stat(rp.stack, i);
}

uint64_t moved(const char *name)
{
	uint32_t i;

	if (stat_find(name, &i))
		return ns_stack_stat(rp.stack, i) - counters[i];
	fprintf(stderr, "no counter is called %s\n", name);
	abort();
}

uint64_t drops(void)
{
	uint64_t sum = 0;

	for (uint32_t i = DROP_NONE + 1; i < DROP_COUNT; i++)
		sum += moved(drop_name((enum drop)i));
	return sum;
}

void expect_nothing(const char *file, int line)
{
	struct seen s;
	char what[160];

	if (!rp.out_cnt)
		return;
	rp_take(&rp, &s);
	snprintf(what, sizeof(what),
		 "nothing sent, but there was kind %d flags %#x seq %u ack %u len %u type %u",
		 (int)s.kind, s.flags, s.seq, s.ack, s.data_len, s.icmp_type);
	conf_fail(file, line, what);
}

bool dropped_silently(const struct frame *f, const char *name)
{
	uint64_t sum = drops(), one = moved(name);

	rp_drop_out(&rp);
	rp_inject(&rp, f);
	if (drops() == sum + 1 && moved(name) == one + 1 && !rp.out_cnt)
		return true;
	fprintf(stderr, "%s moved by %d, all drops by %d, %u frames came out\n", name,
		(int)(moved(name) - one), (int)(drops() - sum), rp.out_cnt);
	for (uint32_t i = DROP_NONE + 1; i < DROP_COUNT; i++)
		if (moved(drop_name((enum drop)i)))
			fprintf(stderr, "  %s %d\n", drop_name((enum drop)i),
				(int)moved(drop_name((enum drop)i)));
	return false;
}

bool expect_tcp(struct rp_conn *c, uint8_t flags, struct seen *s)
{
	struct seen mine;

	if (!s)
		s = &mine;
	if (!rp_expect(c, s)) {
		fprintf(stderr, "no segment of this connection came out\n");
		return false;
	}
	if ((s->flags & (0xff & ~FL_PSH)) == flags)
		return true;
	fprintf(stderr, "flags %#x where %#x were expected\n", s->flags, flags);
	return false;
}

struct rp_conn accepted_with(const struct rp_syn *syn)
{
	struct rp_conn c;

	expect(rp_accepted(&rp, listener, PORT, syn, &c));
	rp_drop_out(&rp);
	snap();
	return c;
}

struct rp_conn accepted(void)
{
	return accepted_with(&(struct rp_syn){ 0 });
}

struct find {
	const struct rp_conn *c;
	const char *state;
};

static void find_row(void *ctx, const struct ns_sock_row *row)
{
	struct find *f = ctx;

	if (row->remote.port == f->c->way.sport && row->local.port == f->c->way.dport)
		f->state = row->state;
}

const char *state_of(const struct rp_conn *c)
{
	struct find f = { c, "CLOSED" };

	ns_stack_sockets(rp.stack, find_row, &f);
	return f.state;
}

bool is_flow_alive(struct rp_conn *c)
{
	static const char in[] = "to the stack", out[] = "from the stack";
	char got[64] = "";
	struct seen s;

	rp_drop_out(&rp);
	rp_data(c, in, sizeof(in));
	if (rp_recv(c, got, sizeof(got)) != sizeof(in) || memcmp(got, in, sizeof(in)) != 0)
		return false;
	rp_wait(&rp, 250 * NS_PER_MS); /* a delayed acknowledgement has come by now */
	rp_drop_out(&rp);
	if (rp_send(c, out, sizeof(out)) != sizeof(out))
		return false;
	do {
		if (!rp_expect(c, &s))
			return false;
	} while (!s.data_len);
	rp_ack(c);
	return s.data_len == sizeof(out) && memcmp(s.data, out, sizeof(out)) == 0 &&
	       s.ack == c->snd;
}

struct rp_conn conf_in_state(const char *state)
{
	struct rp_conn c;

	if (!strcmp(state, "SYN-SENT")) {
		static uint16_t port = 2100;

		expect(rp_connect_begin(&rp, port++, &c));
		return c;
	}
	if (!strcmp(state, "SYN-RECEIVED")) {
		expect(rp_half_open(&rp, PORT, &(struct rp_syn){ 0 }, &c));
		return c;
	}
	c = accepted();
	if (!strcmp(state, "CLOSE-WAIT") || !strcmp(state, "LAST-ACK")) {
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_FIN });
		c.snd++;
	}
	if (strcmp(state, "ESTABLISHED") != 0 && strcmp(state, "CLOSE-WAIT") != 0) {
		ns_sock_shutdown_send(rp.stack, c.sock);
		rp_turn(&rp);
		rp_drop_out(&rp);
	}
	if (!strcmp(state, "CLOSING")) {
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_FIN });
		c.snd++;
		c.rcv++;
	} else if (!strcmp(state, "FIN-WAIT-2") || !strcmp(state, "TIME-WAIT")) {
		c.rcv++;
		rp_ack(&c);
	} else if (!strcmp(state, "LAST-ACK") || !strcmp(state, "FIN-WAIT-1")) {
		c.rcv++;
	}
	if (!strcmp(state, "TIME-WAIT")) {
		rp_seg(&c, &(struct tcp_in){ .flags = FL_ACK | FL_FIN });
		c.snd++;
	}
	/* "FIN-WAIT-1", "LAST-ACK", "CLOSING": our FIN is out and not acknowledged: rcv - 1 is what was */
	rp_drop_out(&rp);
	expect(!strcmp(state_of(&c), state));
	return c;
}

uint32_t conf_acked(const char *state)
{
	return !strcmp(state, "FIN-WAIT-1") || !strcmp(state, "LAST-ACK") ||
			       !strcmp(state, "CLOSING")
		       ? UINT32_MAX
		       : 0;
}

void conf_setup(void)
{
	rp_init(&rp, &conf_config);
	listener = rp_listen(&rp, PORT, 16);
	if (!rp_accepted(&rp, listener, PORT, &(struct rp_syn){ .has_ts = true, .has_sack = true },
			 &other)) {
		fprintf(stderr, "the fixture's connection was not established\n");
		abort();
	}
	rp_drop_out(&rp);
	snap();
}

void conf_setup_arp(void)
{
	struct rp_config c = conf_config;

	c.has_no_neigh = true;
	rp_init(&rp, &c);
	listener = rp_listen(&rp, PORT, 16);
	snap();
}

void conf_teardown(void)
{
	expect(is_flow_alive(&other));
	rp_done(&rp);
}

void conf_teardown_bare(void)
{
	rp_done(&rp);
}

TCase *conf_case(Suite *s, const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, conf_setup, conf_teardown);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	return tc;
}

int conf_run(Suite *s)
{
	SRunner *sr = srunner_create(s);

	srunner_run_all(sr, CK_ENV);
	int failed = srunner_ntests_failed(sr);

	srunner_free(sr);
	return failed ? 1 : 0;
}
