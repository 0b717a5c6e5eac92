/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_plan - the plan's text: what is written is read, what is malformed is refused
 *
 * Theory of operation: random plans from a fixed seed go through the text and back and must be equal
 * row by row; then their text is damaged in every way that fits in a test (cut at each octet, an octet
 * changed, keys gone or doubled, numbers out of range) and must be refused or read as a sane plan,
 * never crash. Memory errors are the sanitizer build's to find.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/common/plan.h"

/* ---- random plans ---- */

struct prng {
	uint64_t state;
};

static uint32_t prng_u32(struct prng *p)
{
	p->state = p->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(p->state >> 33) ^ (uint32_t)(p->state >> 13);
}

static uint32_t prng_below(struct prng *p, uint32_t end)
{
	return prng_u32(p) % end;
}

static uint8_t random_family(struct prng *p)
{
	return prng_below(p, 2) ? AF_INET : AF_INET6;
}

static struct plan_ip random_ip(struct prng *p, uint8_t family)
{
	struct plan_ip ip = { .family = family };

	for (size_t i = 0; i < (family == AF_INET ? 4 : 16); i++)
		ip.b[i] = (uint8_t)prng_u32(p);
	return ip;
}

static struct plan_ip random_ip_or_none(struct prng *p, uint8_t family)
{
	return prng_below(p, 2) ? random_ip(p, family) : (struct plan_ip){ 0 };
}

static void random_link(struct prng *p, struct plan *plan, uint32_t i)
{
	struct plan_link *l = plan_add_link(plan);

	(void)snprintf(l->name, sizeof(l->name), "eth%u\"\\\xff", i);
	(void)snprintf(l->kind, sizeof(l->kind), "%s", prng_below(p, 2) ? "veth" : "");
	l->ifindex = i + 1;
	l->flags = prng_u32(p);
	l->type = prng_below(p, 65536);
	l->mtu = prng_u32(p) & INT32_MAX;
	for (size_t k = 0; k < 6; k++)
		l->mac[k] = (uint8_t)prng_u32(p);
	l->gso_max_size = prng_u32(p);
	l->gso_ipv4_max_size = prng_u32(p);
	l->gso_max_segs = prng_u32(p);
	l->tso_max_size = prng_u32(p);
	l->driver = (uint8_t)prng_below(p, PLAN_DRIVER_COUNT);
	l->vnet_hdr_len = l->driver == PLAN_DRIVER_NONE ? 0 : prng_below(p, 2) ? 10 : 12;
	l->gso = l->vnet_hdr_len ? (uint8_t)prng_below(p, PLAN_GSO_COUNT) : PLAN_GSO_NONE;
	l->group = prng_u32(p);
	l->rp_filter = (uint8_t)prng_below(p, 3);
	l->has_uso = prng_below(p, 2);
	l->has_software_gso = prng_below(p, 2);
	l->tun_offload = prng_u32(p);
}

static void random_addr(struct prng *p, struct plan *plan)
{
	struct plan_addr *a = plan_add_addr(plan);
	uint8_t family = random_family(p);

	a->link_idx = prng_below(p, (uint32_t)plan->link_cnt);
	a->local = random_ip(p, family);
	a->peer = random_ip_or_none(p, family);
	a->broadcast = random_ip_or_none(p, family);
	a->prefix_len = (uint8_t)prng_below(p, family == AF_INET ? 33 : 129);
	a->scope = (uint8_t)prng_u32(p);
	a->flags = prng_u32(p);
}

static void random_route(struct prng *p, struct plan *plan)
{
	struct plan_route *r = plan_add_route(plan);
	uint32_t end;

	r->family = random_family(p);
	end = r->family == AF_INET ? 33 : 129;
	r->type = (uint8_t)prng_u32(p);
	r->scope = (uint8_t)prng_u32(p);
	r->protocol = (uint8_t)prng_u32(p);
	r->tos = (uint8_t)prng_u32(p);
	r->dst_len = (uint8_t)prng_below(p, end);
	if (r->dst_len)
		r->dst = random_ip(p, r->family);
	r->from_len = (uint8_t)prng_below(p, end);
	if (r->from_len)
		r->from = random_ip(p, r->family);
	r->is_onlink = prng_below(p, 2);
	r->is_dead = prng_below(p, 2);
	r->table = prng_u32(p);
	r->metric = prng_u32(p);
	r->mtu = prng_u32(p);
	r->weight = prng_below(p, 257);
	r->link_idx = prng_below(p, 4) ? prng_below(p, (uint32_t)plan->link_cnt) : PLAN_NO_LINK;
	r->gateway = random_ip_or_none(p, random_family(p));
	r->prefsrc = random_ip_or_none(p, r->family);
}

static void random_rule(struct prng *p, struct plan *plan)
{
	struct plan_rule *r = plan_add_rule(plan);
	uint32_t end;

	r->family = random_family(p);
	end = r->family == AF_INET ? 33 : 129;
	r->action = (uint8_t)prng_u32(p);
	r->dst_len = (uint8_t)prng_below(p, end);
	r->src_len = (uint8_t)prng_below(p, end);
	r->tos = (uint8_t)prng_u32(p);
	r->ip_proto = (uint8_t)prng_u32(p);
	r->is_inverted = prng_below(p, 2);
	r->is_partial = prng_below(p, 2);
	r->has_dscp = prng_below(p, 2);
	r->dscp = (uint8_t)prng_below(p, 64);
	r->dscp_mask = (uint8_t)prng_below(p, 64);
	r->has_uid = prng_below(p, 2);
	r->uid_min = prng_u32(p);
	r->uid_max = prng_u32(p);
	r->has_suppress_group = prng_below(p, 2);
	r->suppress_group = prng_u32(p);
	r->has_suppress_len = prng_below(p, 2);
	r->suppress_len = (uint8_t)prng_below(p, end);
	r->target = prng_u32(p);
	r->sport_min = prng_below(p, 65536);
	r->sport_max = prng_below(p, 65536);
	r->dport_min = prng_below(p, 65536);
	r->dport_max = prng_below(p, 65536);
	r->priority = prng_u32(p);
	r->table = prng_u32(p);
	r->fwmark = prng_u32(p);
	r->fwmask = prng_u32(p);
	r->dst = random_ip_or_none(p, r->family);
	r->src = random_ip_or_none(p, r->family);
	(void)snprintf(r->iif, sizeof(r->iif), "in%u", prng_below(p, 1000));
	(void)snprintf(r->oif, sizeof(r->oif), "out%u", prng_below(p, 1000));
}

static void random_neigh(struct prng *p, struct plan *plan)
{
	struct plan_neigh *n = plan_add_neigh(plan);

	n->link_idx = prng_below(p, (uint32_t)plan->link_cnt);
	n->state = prng_below(p, 65536);
	for (size_t k = 0; k < 6; k++)
		n->mac[k] = (uint8_t)prng_u32(p);
	n->is_proxy = prng_below(p, 2);
	n->addr = random_ip(p, random_family(p));
}

static void random_plan(struct prng *p, struct plan *plan)
{
	uint32_t links = 1 + prng_below(p, 5);

	plan_init(plan);
	plan->options.channel_cnt = 1;
	plan->options.has_log_packets = prng_below(p, 2);
	plan->options.has_pcap = prng_below(p, 2);
	(void)snprintf(plan->options.id, sizeof(plan->options.id), "id-%u", prng_u32(p));
	for (uint32_t i = 0; i < links; i++)
		random_link(p, plan, i);
	for (uint32_t i = prng_below(p, 20); i; i--)
		random_addr(p, plan);
	for (uint32_t i = prng_below(p, 50); i; i--)
		random_route(p, plan);
	for (uint32_t i = prng_below(p, 10); i; i--)
		random_rule(p, plan);
	for (uint32_t i = prng_below(p, 20); i; i--)
		random_neigh(p, plan);
}

/* Rows were zeroed when they were added, so that padding compares equal as well. */
static void plans_are_equal(const struct plan *a, const struct plan *b)
{
	ck_assert_uint_eq(a->link_cnt, b->link_cnt);
	ck_assert_uint_eq(a->addr_cnt, b->addr_cnt);
	ck_assert_uint_eq(a->route_cnt, b->route_cnt);
	ck_assert_uint_eq(a->rule_cnt, b->rule_cnt);
	ck_assert_uint_eq(a->neigh_cnt, b->neigh_cnt);
	ck_assert_mem_eq(a->links, b->links, a->link_cnt * sizeof(*a->links));
	if (a->addr_cnt)
		ck_assert_mem_eq(a->addrs, b->addrs, a->addr_cnt * sizeof(*a->addrs));
	if (a->route_cnt)
		ck_assert_mem_eq(a->routes, b->routes, a->route_cnt * sizeof(*a->routes));
	if (a->rule_cnt)
		ck_assert_mem_eq(a->rules, b->rules, a->rule_cnt * sizeof(*a->rules));
	if (a->neigh_cnt)
		ck_assert_mem_eq(a->neighs, b->neighs, a->neigh_cnt * sizeof(*a->neighs));
	ck_assert_str_eq(a->options.id, b->options.id);
	ck_assert_int_eq(a->options.has_log_packets, b->options.has_log_packets);
	ck_assert_int_eq(a->options.has_pcap, b->options.has_pcap);
	ck_assert_uint_eq(a->options.channel_cnt, b->options.channel_cnt);
}

START_TEST(random_plans_survive_the_text)
{
	struct prng p = { 20240607 };

	for (int i = 0; i < 500; i++) {
		struct plan before, after;
		char why[256] = "";
		char *text;
		size_t len;

		random_plan(&p, &before);
		ck_assert_int_eq(plan_to_string(&before, &text, &len), 0);
		ck_assert_uint_eq(len, strlen(text));
		ck_assert_msg(plan_parse(text, len, &after, why, sizeof(why)) == 0, "plan %d: %s",
			      i, why);
		plans_are_equal(&before, &after);
		free(text);
		plan_done(&before);
		plan_done(&after);
	}
}
END_TEST

/* ---- damage ---- */

static char *some_text(size_t *ret_len)
{
	struct prng p = { 7 };
	struct plan plan;
	char *text;

	random_plan(&p, &plan);
	ck_assert_int_eq(plan_to_string(&plan, &text, ret_len), 0);
	plan_done(&plan);
	return text;
}

static int parse(const char *text, size_t len)
{
	struct plan plan;
	char why[256] = "";
	int r = plan_parse(text, len, &plan, why, sizeof(why));

	if (r < 0) {
		ck_assert_uint_ne(strlen(why), 0);   /* a refusal says why ... */
		ck_assert_uint_eq(plan.link_cnt, 0); /* ... and leaves nothing */
	} else {
		ck_assert_int_eq(plan_check(&plan, why, sizeof(why)), 0);
	}
	plan_done(&plan);
	return r;
}

START_TEST(text_cut_anywhere_is_refused)
{
	size_t len;
	char *text = some_text(&len);

	for (size_t i = 0; i < len; i++)
		ck_assert_int_lt(parse(text, i), 0);
	free(text);
}
END_TEST

START_TEST(text_with_one_octet_changed_is_refused_or_sane)
{
	struct prng p = { 99 };
	size_t len;
	char *text = some_text(&len);

	for (int i = 0; i < 20000; i++) {
		size_t at = prng_below(&p, (uint32_t)len);
		char was = text[at];

		text[at] = (char)prng_u32(&p);
		(void)parse(text, len);
		text[at] = was;
	}
	free(text);
}
END_TEST

/* The smallest plan, in which one place is replaced. */
static int parse_with(const char *from, const char *to)
{
	static const char base[] =
		"{\"version\":1,\"options\":{\"id\":\"x\",\"has_log_packets\":false,\"has_pcap\":false,"
		"\"channel_cnt\":1},\"links\":[{\"name\":\"e\",\"kind\":\"\",\"ifindex\":2,\"flags\":0,"
		"\"type\":1,\"mtu\":1500,\"mac\":\"02:00:00:00:00:01\",\"gso_max_size\":65536,"
		"\"gso_ipv4_max_size\":65536,\"gso_max_segs\":65535,\"tso_max_size\":65536,\"driver\":1,"
		"\"gso\":2,\"vnet_hdr_len\":10,\"has_uso\":true,\"has_software_gso\":true,\"group\":0,\"rp_filter\":1,\"tun_offload\":0}],"
		"\"addrs\":[{\"link_idx\":0,\"local\":\"10.0.0.1\",\"peer\":\"\",\"broadcast\":\"\","
		"\"prefix_len\":24,\"scope\":0,\"flags\":0}],"
		"\"routes\":[{\"family\":2,\"type\":1,\"scope\":0,\"protocol\":3,\"tos\":0,\"dst_len\":8,"
		"\"from_len\":0,\"is_onlink\":false,\"is_dead\":false,\"table\":254,\"metric\":0,\"mtu\":0,\"weight\":0,"
		"\"link_idx\":0,\"dst\":\"10.0.0.0\",\"from\":\"\",\"gateway\":\"10.0.0.9\","
		"\"prefsrc\":\"\"}],\"rules\":[],"
		"\"neighs\":[{\"link_idx\":0,\"state\":128,\"mac\":\"02:00:00:00:00:02\","
		"\"is_proxy\":false,\"addr\":\"10.0.0.9\"}]}";
	const char *at = strstr(base, from);
	char text[sizeof(base) + 128];
	int len;

	ck_assert_ptr_nonnull(at);
	len = snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - base), base, to,
		       at + strlen(from));
	ck_assert_int_lt(len, (int)sizeof(text));
	return parse(text, (size_t)len);
}

static const struct {
	const char *from, *to;
	int want;
} rows[] = {
	{ "\"version\":1", "\"version\":1", 0 },
	{ "\"version\":1", "\"version\":2", -EPROTONOSUPPORT },
	{ "\"version\":1", "\"version\":\"1\"", -EINVAL },
	{ "\"version\":1,", "", -EINVAL },
	{ "\"version\":1", "\"version\":1,\"more\":0", -EINVAL },
	{ "\"ifindex\":2", "\"ifindex\":0", -EINVAL },
	{ "\"ifindex\":2", "\"ifindex\":-1", -EINVAL },
	{ "\"ifindex\":2", "\"ifindex\":4294967298", -EINVAL },
	{ "\"ifindex\":2", "\"ifindex\":18446744073709551618", -EINVAL },
	{ "\"ifindex\":2", "\"ifindex\":2.0", -EINVAL },
	{ "\"ifindex\":2", "\"ifindex\":null", -EINVAL },
	{ "\"ifindex\":2", "\"ifindex\":[2]", -EINVAL },
	{ "\"ifindex\":2", "\"ifindeks\":2", -EINVAL },
	{ "\"name\":\"e\"", "\"name\":\"\"", -EINVAL },
	{ "\"name\":\"e\"", "\"name\":\"0123456789abcde\"", 0 },
	{ "\"name\":\"e\"", "\"name\":\"0123456789abcdef\"", -EINVAL },
	{ "\"name\":\"e\"", "\"name\":\"a\\u0000b\"", -EINVAL },
	{ "\"mac\":\"02:00:00:00:00:01\"", "\"mac\":\"02:00:00:00:00\"", -EINVAL },
	{ "\"mac\":\"02:00:00:00:00:01\"", "\"mac\":\"02:00:00:00:00:0g\"", -EINVAL },
	{ "\"driver\":1", "\"driver\":3", -EINVAL },
	{ "\"driver\":1", "\"driver\":0", -EINVAL }, /* a header, but nothing to send it by */
	{ "\"gso\":2", "\"gso\":3", -EINVAL },
	{ "\"vnet_hdr_len\":10", "\"vnet_hdr_len\":11", -EINVAL },
	{ "\"vnet_hdr_len\":10", "\"vnet_hdr_len\":0", -EINVAL }, /* hardware GSO without header */
	{ "\"prefix_len\":24", "\"prefix_len\":33", -EINVAL },
	{ "\"local\":\"10.0.0.1\"", "\"local\":\"\"", -EINVAL },
	{ "\"local\":\"10.0.0.1\"", "\"local\":\"10.0.0.256\"", -EINVAL },
	{ "\"peer\":\"\"", "\"peer\":\"fd00::1\"", -EINVAL },
	{ "[{\"link_idx\":0,\"local\"", "[{\"link_idx\":1,\"local\"", -EINVAL },
	{ "\"family\":2", "\"family\":3", -EINVAL },
	{ "\"dst_len\":8", "\"dst_len\":0", -EINVAL }, /* a default route to a prefix */
	{ "\"dst_len\":8", "\"dst_len\":33", -EINVAL },
	{ "\"gateway\":\"10.0.0.9\"", "\"gateway\":\"fe80::1\"", 0 }, /* RTA_VIA */
	{ "\"weight\":0", "\"weight\":257", -EINVAL },
	{ "\"is_onlink\":false", "\"is_onlink\":0", -EINVAL },
	{ "\"rules\":[]", "\"rules\":{}", -EINVAL },
	{ "\"rules\":[]", "\"rules\":[[]]", -EINVAL },
	{ "\"channel_cnt\":1", "\"channel_cnt\":2", -EINVAL },
	{ "\"addr\":\"10.0.0.9\"}]}", "\"addr\":\"10.0.0.9\"}]} ", 0 },
	{ "\"addr\":\"10.0.0.9\"}]}", "\"addr\":\"10.0.0.9\"}]}x", -EINVAL },
	{ "\"addr\":\"10.0.0.9\"}]}", "\"addr\":\"10.0.0.9\"}]}{}", -EINVAL },
};

START_TEST(each_field_is_held_against_its_bounds)
{
	ck_assert_msg(parse_with(rows[_i].from, rows[_i].to) == rows[_i].want, "%s -> %s",
		      rows[_i].from, rows[_i].to);
}
END_TEST

START_TEST(two_links_with_one_ifindex_are_refused)
{
	struct plan plan;
	char why[128];

	plan_init(&plan);
	plan.options.channel_cnt = 1;
	for (int i = 0; i < 2; i++) {
		struct plan_link *l = plan_add_link(&plan);

		(void)snprintf(l->name, sizeof(l->name), "eth%d", i);
		l->ifindex = 5;
	}
	ck_assert_int_eq(plan_check(&plan, why, sizeof(why)), -EINVAL);
	plan_done(&plan);
}
END_TEST

START_TEST(text_longer_than_the_limit_is_refused_unread)
{
	char octet = '{';

	/* Only the length is looked at: there are no octets behind the first. */
	ck_assert_int_eq(parse(&octet, (size_t)PLAN_TEXT_MAX + 1), -E2BIG);
}
END_TEST

START_TEST(tables_end_at_their_caps)
{
	struct plan plan;

	plan_init(&plan);
	for (unsigned int i = 0; i < PLAN_LINKS_MAX; i++)
		ck_assert_ptr_nonnull(plan_add_link(&plan));
	ck_assert_ptr_null(plan_add_link(&plan));
	plan_done(&plan);
	for (unsigned int i = 0; i < PLAN_ROUTES_MAX; i++)
		ck_assert_ptr_nonnull(plan_add_route(&plan));
	ck_assert_ptr_null(plan_add_route(&plan));
	plan_done(&plan);
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
	char text[4096];

	memset(text, '[', sizeof(text));
	ck_assert_int_lt(parse(text, sizeof(text)), 0);
}
END_TEST

START_TEST(only_carried_links_are_counted)
{
	struct plan plan;

	plan_init(&plan);
	for (uint32_t i = 0; i < 6; i++)
		plan_add_link(&plan)->driver = (uint8_t)(i % PLAN_DRIVER_COUNT);
	ck_assert_uint_eq(plan_carried_cnt(&plan), 4);
	plan_done(&plan);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plan");
	TCase *text = tcase_create("text");
	int failed;

	tcase_set_timeout(text, 60);
	tcase_add_test(text, random_plans_survive_the_text);
	tcase_add_test(text, text_cut_anywhere_is_refused);
	tcase_add_test(text, text_with_one_octet_changed_is_refused_or_sane);
	tcase_add_loop_test(text, each_field_is_held_against_its_bounds, 0,
			    (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(text, two_links_with_one_ifindex_are_refused);
	tcase_add_test(text, text_longer_than_the_limit_is_refused_unread);
	tcase_add_test(text, tables_end_at_their_caps);
	tcase_add_test(text, deep_nesting_is_refused);
	tcase_add_test(text, only_carried_links_are_counted);
	suite_add_tcase(suite, text);

	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
