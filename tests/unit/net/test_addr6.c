/* SPDX-License-Identifier: Apache-2.0 */
/* test_addr6.c - net/addr6.c: paths and the source of a packet (RFC 6724), dual-stack binds */
#include <errno.h>
#include <string.h>

#include "net/net_int.h"
#include "rig6.h"
#include "suites.h"

static struct rig rig;
static const struct ns_addr far = { { 0x20, 1, 0x0d, 0xbf, [15] = 1 } };

static void setup(void)
{
	r6_init(&rig);
}

static void teardown(void)
{
	rig_done(&rig);
}

static void add(uint32_t link_id, struct ns_addr a, uint8_t prefix_len)
{
	ck_assert_int_eq(net_add_addr(rig.net, link_id, &a, prefix_len), 0);
}

/* 2001:db8:HI::LO */
static struct ns_addr global(uint8_t hi, uint8_t lo)
{
	return (struct ns_addr){ { 0x20, 1, 0x0d, 0xb8, 0, hi, [15] = lo } };
}

static void add_default(uint32_t link_id, struct ns_addr gateway)
{
	struct ns_route r = { .gateway = gateway, .link_id = link_id, .is_v6 = true };

	ck_assert_int_eq(net_add_route(rig.net, &r), 0);
}

/* Source that is chosen for @dst. */
static struct ns_addr src_for(struct ns_addr dst)
{
	struct dst d;

	ck_assert_int_eq(net_route(rig.net, &dst, NULL, &d), 0);
	return d.src;
}

#define ck_addr(a_, b_)                                                                            \
	do {                                                                                       \
		struct ns_addr va_ = (a_), vb_ = (b_);                                             \
		ck_assert_mem_eq(va_.b, vb_.b, 16);                                                \
	} while (0)

START_TEST(a_host_of_the_prefix_is_its_own_next_hop)
{
	struct dst d;

	ck_assert_int_eq(net_route(rig.net, &r6_peer, NULL, &d), 0);
	ck_assert_uint_eq(d.link->id, 1);
	ck_addr(d.nexthop, r6_peer);
	ck_addr(d.src, r6_us);
	ck_assert_uint_eq(d.mtu, 1500);
	ck_assert_int_eq(net_route(rig.net, &far, NULL, &d), -ENETUNREACH);
}
END_TEST

START_TEST(a_link_local_gateway_is_of_the_route_s_link)
{
	struct dst d;

	add_default(1, r6_peer_ll);
	ck_assert_int_eq(net_route(rig.net, &far, NULL, &d), 0);
	ck_addr(d.nexthop, r6_zoned(r6_peer_ll));
	ck_addr(d.src, r6_us);
}
END_TEST

START_TEST(a_default_route_without_any_address_is_of_the_family_it_says)
{
	struct dst d;
	struct ns_addr v4 = ns_addr_v4(0x08080808);

	add_default(1, r6_any);
	ck_assert_int_eq(net_route(rig.net, &far, NULL, &d), 0);
	ck_addr(d.nexthop, far);
	ck_assert_int_eq(net_route(rig.net, &v4, NULL, &d), -ENETUNREACH);
}
END_TEST

START_TEST(link_local_destinations_need_their_zone)
{
	struct dst d;
	struct ns_addr to = r6_zoned(r6_peer_ll);

	add_default(1, r6_peer_ll);
	ck_assert_int_eq(net_route(rig.net, &r6_peer_ll, NULL, &d), -ENETUNREACH);
	ck_assert_int_eq(net_route(rig.net, &to, NULL, &d), 0);
	ck_assert_uint_eq(d.link->id, 1);
	ck_addr(d.src, r6_zoned(r6_us_ll));
	to.b[3]++;
	ck_assert_int_eq(net_route(rig.net, &to, NULL, &d), 0);
	ck_assert_uint_eq(d.link->id, 2);
}
END_TEST

START_TEST(families_do_not_mix)
{
	struct ns_addr v4 = ns_addr_v4(RIG_US), v4_peer = ns_addr_v4(RIG_PEER),
		       group = r6_all_nodes;
	struct dst d;

	ck_assert_int_eq(net_route(rig.net, &r6_peer, &v4, &d), -EAFNOSUPPORT);
	ck_assert_int_eq(net_route(rig.net, &v4_peer, &r6_us, &d), -EINVAL);
	ck_assert_int_eq(net_route(rig.net, &group, NULL, &d), -ENETUNREACH);
}
END_TEST

START_TEST(loopback_is_ours_and_any_is_this_host)
{
	static const struct ns_addr one = { { [15] = 1 } };
	struct dst d;

	ck_assert(net_is_local(rig.net, &one));
	ck_assert_int_eq(net_route(rig.net, &r6_any, NULL, &d), 0);
	ck_assert(d.link->is_loop);
	ck_addr(d.src, one);
	ck_assert_int_eq(net_route(rig.net, &r6_us, NULL, &d), 0);
	ck_assert(d.link->is_loop);
	ck_addr(d.src, r6_us);
	ck_assert_int_eq(net_route(rig.net, &r6_peer, &one, &d), -EINVAL);
	ck_assert_int_eq(net_add_addr(rig.net, 1, &one, 128), -EINVAL);
	ck_assert_int_eq(net_add_addr(rig.net, 1, &r6_all_nodes, 64), -EINVAL);
	ck_assert_int_eq(net_add_addr(rig.net, 1, &far, 129), -EINVAL);
}
END_TEST

START_TEST(rfc6724_s5_r1_the_destination_itself)
{
	add(1, global(9, 0x80), 64);
	ck_addr(src_for(global(9, 0x80)), global(9, 0x80));
}
END_TEST

START_TEST(rfc6724_s5_r2_the_scope_that_fits)
{
	add_default(1, r6_peer_ll);
	ck_addr(src_for(far), r6_us);
	ck_addr(src_for(r6_zoned(r6_peer_ll)), r6_zoned(r6_us_ll));
}
END_TEST

START_TEST(rfc6724_s5_r3_deprecated_only_when_there_is_no_other)
{
	struct ns_addr second = global(9, 0x80);

	ck_assert_int_eq(net_deprecate_addr(rig.net, 1, &r6_us, true), 0);
	ck_addr(src_for(global(9, 3)), r6_other); /* rule 3 comes before rule 5 */
	add(1, second, 64);
	ck_addr(src_for(global(9, 3)), second);
	ck_assert_int_eq(net_deprecate_addr(rig.net, 1, &r6_us, false), 0);
	ck_assert_int_eq(net_deprecate_addr(rig.net, 1, &second, true), 0);
	ck_addr(src_for(global(9, 3)), r6_us);
	ck_assert_int_eq(net_deprecate_addr(rig.net, 1, &far, true), -EADDRNOTAVAIL);
}
END_TEST

START_TEST(rfc6724_s5_r5_an_address_of_the_link_it_leaves_by)
{
	struct ns_addr near_far = far;

	near_far.b[15] = 2; /* longer match, on link 2 */
	add(2, near_far, 128);
	add_default(1, r6_peer_ll);
	ck_addr(src_for(far), r6_us);
}
END_TEST

START_TEST(rfc6724_s5_r6_the_same_label)
{
	static const struct ns_addr ula = { { 0xfd, 1, [15] = 5 } },
				    ula_far = { { 0xfd, 9, [15] = 1 } };

	add(1, ula, 64);
	add_default(1, r6_peer_ll);
	ck_addr(src_for(ula_far), ula);
	ck_addr(src_for(far), r6_us);
}
END_TEST

START_TEST(rfc6724_s5_r8_the_longest_prefix_but_no_longer_than_its_own)
{
	struct ns_addr closer = { { 0x20, 1, 0x0d, 0xbe, [15] = 5 } };

	add(1, closer, 64);
	add_default(1, r6_peer_ll);
	ck_addr(src_for(far), closer);
	/* equal within the prefix: the newer, as Linux has them in order */
	add(1, global(9, 4), 64);
	ck_addr(src_for(global(9, 5)), global(9, 4));
}
END_TEST

START_TEST(rfc8200_s5_no_ipv6_on_a_link_below_1280)
{
	struct dst d;

	net_link(rig.net, 1)->config.mtu = 1279;
	ck_assert_int_eq(net_route(rig.net, &r6_peer, NULL, &d), -ENETUNREACH);
	net_link(rig.net, 1)->config.mtu = 1280;
	ck_assert_int_eq(net_route(rig.net, &r6_peer, NULL, &d), 0);
}
END_TEST

/* A bind to @a (port 80); what demux_bind_port() says. */
static int claim(struct demux *d, struct demux_bind *b, struct ns_addr a, bool is_v6only)
{
	struct ns_endpoint at = { a, 80 };

	*b = (struct demux_bind){ .is_v6only = is_v6only };
	return demux_bind_port(d, b, &at, 0);
}

START_TEST(rfc3493_s5_3_any_of_ipv6_claims_both_families_unless_v6only)
{
	struct demux *d = demux_new(&rig.core.key, 16, 16);
	struct demux_bind a, b;
	struct ns_addr v4any = ns_addr_v4(0), v4 = ns_addr_v4(RIG_US);

	ck_assert_int_eq(claim(d, &a, r6_any, false), 0);
	ck_assert_int_eq(claim(d, &b, v4any, false), -EADDRINUSE);
	ck_assert_int_eq(claim(d, &b, v4, false), -EADDRINUSE);
	ck_assert_int_eq(claim(d, &b, r6_us, false), -EADDRINUSE);
	demux_unbind(d, &a);
	ck_assert_int_eq(claim(d, &a, v4any, false), 0);
	ck_assert_int_eq(claim(d, &b, r6_any, false), -EADDRINUSE);
	ck_assert_int_eq(claim(d, &b, r6_us, false), 0);
	demux_unbind(d, &b);
	ck_assert_int_eq(claim(d, &b, r6_any, true), 0);
	demux_unbind(d, &b);
	demux_unbind(d, &a);
	demux_free(d);
}
END_TEST

/* Who hears a SYN to @local, port 80? */
static const struct demux_bind *who_hears(struct demux *d, struct ns_addr local)
{
	const struct demux_key k = { .local = { local, 80 }, .remote = { r6_peer, 1 } };

	return demux_find_listener(d, &k, 0);
}

START_TEST(rfc3493_s3_7_listeners_of_any_hear_what_they_claim)
{
	struct demux *d = demux_new(&rig.core.key, 16, 16);
	struct ns_addr v4 = ns_addr_v4(RIG_US), v4any = ns_addr_v4(0);
	struct demux_bind dual, v4only, v6only, exact;

	ck_assert_int_eq(claim(d, &dual, r6_any, false), 0);
	ck_assert_int_eq(demux_listen(d, &dual), 0);
	ck_assert_ptr_eq(who_hears(d, v4), &dual);
	ck_assert_ptr_eq(who_hears(d, r6_us), &dual);
	demux_unbind(d, &dual);

	ck_assert_int_eq(claim(d, &v4only, v4any, false), 0);
	ck_assert_int_eq(demux_listen(d, &v4only), 0);
	ck_assert_ptr_eq(who_hears(d, v4), &v4only);
	ck_assert_ptr_null(who_hears(d, r6_us));
	ck_assert_int_eq(claim(d, &v6only, r6_any, true), 0);
	ck_assert_int_eq(demux_listen(d, &v6only), 0);
	ck_assert_ptr_eq(who_hears(d, v4), &v4only);
	ck_assert_ptr_eq(who_hears(d, r6_us), &v6only);
	demux_unbind(d, &v4only);
	ck_assert_ptr_null(who_hears(d, v4));
	demux_unbind(d, &v6only);

	ck_assert_int_eq(claim(d, &exact, r6_us, false), 0);
	ck_assert_int_eq(demux_listen(d, &exact), 0);
	ck_assert_ptr_eq(who_hears(d, r6_us), &exact);
	ck_assert_ptr_null(who_hears(d, r6_other));
	demux_unbind(d, &exact);
	demux_free(d);
}
END_TEST

Suite *addr6_suite(void)
{
	Suite *s;
	TCase *c = unit_suite("net/addr6", setup, teardown, &s);

	tcase_add_test(c, a_host_of_the_prefix_is_its_own_next_hop);
	tcase_add_test(c, a_link_local_gateway_is_of_the_route_s_link);
	tcase_add_test(c, a_default_route_without_any_address_is_of_the_family_it_says);
	tcase_add_test(c, link_local_destinations_need_their_zone);
	tcase_add_test(c, families_do_not_mix);
	tcase_add_test(c, loopback_is_ours_and_any_is_this_host);
	tcase_add_test(c, rfc6724_s5_r1_the_destination_itself);
	tcase_add_test(c, rfc6724_s5_r2_the_scope_that_fits);
	tcase_add_test(c, rfc6724_s5_r3_deprecated_only_when_there_is_no_other);
	tcase_add_test(c, rfc6724_s5_r5_an_address_of_the_link_it_leaves_by);
	tcase_add_test(c, rfc6724_s5_r6_the_same_label);
	tcase_add_test(c, rfc6724_s5_r8_the_longest_prefix_but_no_longer_than_its_own);
	tcase_add_test(c, rfc8200_s5_no_ipv6_on_a_link_below_1280);
	tcase_add_test(c, rfc3493_s5_3_any_of_ipv6_claims_both_families_unless_v6only);
	tcase_add_test(c, rfc3493_s3_7_listeners_of_any_hear_what_they_claim);
	return s;
}
