/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan - a container's network configuration as a value
 *
 * Theory of operation: every row type has a table of its fields (key, kind, offset, bound), and one
 * writer and one reader walk that table. A field therefore cannot be written and not read, and each
 * number's bound stands beside its name. What needs more than one field (a prefix length that fits
 * its family, a link index that exists) is checked afterwards by plan_check(), which both
 * directions run: a plan that was written can be read.
 *
 * Invariants: reading is strict. All keys of a row are present, none is unknown, integers are
 * integers and in range, no octet follows the value. A plan is never partly filled: on failure it
 * is empty.
 *
 * Ownership: the plan owns its five arrays. Rows hold no pointers.
 *
 * Limits: PLAN_TEXT_MAX octets, PLAN_*_MAX rows a table, nesting of 8.
 */
#include "daemon/common/plan.h"

#include <arpa/inet.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ARRAY_LEN(a_) (sizeof(a_) / sizeof((a_)[0]))

enum field_kind { FIELD_U8, FIELD_U32, FIELD_BOOL, FIELD_STR, FIELD_MAC, FIELD_IP };

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) - in the order in which rows are read */
struct field {
	const char *key;
	enum field_kind kind;
	size_t off;
	uint32_t max; /* largest number, or octets of a string with its NUL */
};

#define U8(type_, f_, max_)                                                                        \
	{                                                                                          \
#f_, FIELD_U8, offsetof(struct type_, f_), (max_)                                  \
	}
#define U32(type_, f_, max_)                                                                       \
	{                                                                                          \
#f_, FIELD_U32, offsetof(struct type_, f_), (max_)                                 \
	}
#define BOOL(type_, f_)                                                                            \
	{                                                                                          \
#f_, FIELD_BOOL, offsetof(struct type_, f_), 0                                     \
	}
#define STR(type_, f_)                                                                             \
	{                                                                                          \
#f_, FIELD_STR, offsetof(struct type_, f_), sizeof(((struct type_ *)0)->f_)        \
	}
#define MAC(type_, f_)                                                                             \
	{                                                                                          \
#f_, FIELD_MAC, offsetof(struct type_, f_), 0                                      \
	}
#define IP(type_, f_)                                                                              \
	{                                                                                          \
#f_, FIELD_IP, offsetof(struct type_, f_), 0                                       \
	}

static const struct field link_fields[] = {
	STR(plan_link, name),
	STR(plan_link, kind),
	U32(plan_link, ifindex, INT32_MAX),
	U32(plan_link, flags, UINT32_MAX),
	U32(plan_link, type, UINT16_MAX),
	U32(plan_link, mtu, INT32_MAX),
	MAC(plan_link, mac),
	U32(plan_link, gso_max_size, UINT32_MAX),
	U32(plan_link, gso_ipv4_max_size, UINT32_MAX),
	U32(plan_link, gso_max_segs, UINT32_MAX),
	U32(plan_link, tso_max_size, UINT32_MAX),
	U8(plan_link, driver, PLAN_DRIVER_COUNT - 1),
	U8(plan_link, gso, PLAN_GSO_COUNT - 1),
	U8(plan_link, vnet_hdr_len, 12),
	BOOL(plan_link, has_uso),
	BOOL(plan_link, has_software_gso),
	U32(plan_link, group, UINT32_MAX),
	U8(plan_link, rp_filter, 2),
	U32(plan_link, tun_offload, UINT32_MAX),
};

static const struct field addr_fields[] = {
	U32(plan_addr, link_idx, PLAN_LINKS_MAX - 1),
	IP(plan_addr, local),
	IP(plan_addr, peer),
	IP(plan_addr, broadcast),
	U8(plan_addr, prefix_len, 128),
	U8(plan_addr, scope, UINT8_MAX),
	U32(plan_addr, flags, UINT32_MAX),
};

static const struct field route_fields[] = {
	U8(plan_route, family, UINT8_MAX),
	U8(plan_route, type, UINT8_MAX),
	U8(plan_route, scope, UINT8_MAX),
	U8(plan_route, protocol, UINT8_MAX),
	U8(plan_route, tos, UINT8_MAX),
	U8(plan_route, dst_len, 128),
	U8(plan_route, from_len, 128),
	BOOL(plan_route, is_onlink),
	BOOL(plan_route, is_dead),
	U32(plan_route, table, UINT32_MAX),
	U32(plan_route, metric, UINT32_MAX),
	U32(plan_route, mtu, UINT32_MAX),
	U32(plan_route, weight, 256),
	U32(plan_route, link_idx, UINT32_MAX),
	IP(plan_route, dst),
	IP(plan_route, from),
	IP(plan_route, gateway),
	IP(plan_route, prefsrc),
};

static const struct field rule_fields[] = {
	U8(plan_rule, family, UINT8_MAX),
	U8(plan_rule, action, UINT8_MAX),
	U8(plan_rule, dst_len, 128),
	U8(plan_rule, src_len, 128),
	U8(plan_rule, tos, UINT8_MAX),
	U8(plan_rule, ip_proto, UINT8_MAX),
	BOOL(plan_rule, is_inverted),
	BOOL(plan_rule, is_partial),
	BOOL(plan_rule, has_dscp),
	U8(plan_rule, dscp, 63),
	U8(plan_rule, dscp_mask, 63),
	BOOL(plan_rule, has_uid),
	BOOL(plan_rule, has_suppress_group),
	BOOL(plan_rule, has_suppress_len),
	U8(plan_rule, suppress_len, 128),
	U32(plan_rule, priority, UINT32_MAX),
	U32(plan_rule, target, UINT32_MAX),
	U32(plan_rule, sport_min, UINT16_MAX),
	U32(plan_rule, sport_max, UINT16_MAX),
	U32(plan_rule, dport_min, UINT16_MAX),
	U32(plan_rule, dport_max, UINT16_MAX),
	U32(plan_rule, table, UINT32_MAX),
	U32(plan_rule, fwmark, UINT32_MAX),
	U32(plan_rule, fwmask, UINT32_MAX),
	U32(plan_rule, uid_min, UINT32_MAX),
	U32(plan_rule, uid_max, UINT32_MAX),
	U32(plan_rule, suppress_group, UINT32_MAX),
	IP(plan_rule, dst),
	IP(plan_rule, src),
	STR(plan_rule, iif),
	STR(plan_rule, oif),
};

static const struct field neigh_fields[] = {
	U32(plan_neigh, link_idx, PLAN_LINKS_MAX - 1),
	U32(plan_neigh, state, UINT16_MAX),
	MAC(plan_neigh, mac),
	BOOL(plan_neigh, is_proxy),
	IP(plan_neigh, addr),
};

static const struct field option_fields[] = {
	STR(plan_options, id),
	BOOL(plan_options, has_log_packets),
	BOOL(plan_options, has_pcap),
	U32(plan_options, channel_cnt, 1),
};

/* A table of the plan: where its array and its count are, and how a row looks. */
struct table {
	const char *key;
	size_t rows_off;
	size_t cnt_off;
	size_t row_size;
	size_t cap;
	const struct field *fields;
	size_t field_cnt;
};

#define TABLE(key_, rows_, cnt_, row_, cap_, fields_)                                              \
	{                                                                                          \
		key_, offsetof(struct plan, rows_), offsetof(struct plan, cnt_),                   \
			sizeof(struct row_), cap_, fields_, ARRAY_LEN(fields_)                     \
	}

enum { T_LINKS, T_ADDRS, T_ROUTES, T_RULES, T_NEIGHS };

static const struct table tables[] = {
	[T_LINKS] = TABLE("links", links, link_cnt, plan_link, PLAN_LINKS_MAX, link_fields),
	[T_ADDRS] = TABLE("addrs", addrs, addr_cnt, plan_addr, PLAN_ADDRS_MAX, addr_fields),
	[T_ROUTES] = TABLE("routes", routes, route_cnt, plan_route, PLAN_ROUTES_MAX, route_fields),
	[T_RULES] = TABLE("rules", rules, rule_cnt, plan_rule, PLAN_RULES_MAX, rule_fields),
	[T_NEIGHS] = TABLE("neighs", neighs, neigh_cnt, plan_neigh, PLAN_NEIGHS_MAX, neigh_fields),
};

/* Why a plan is refused: filled by whoever finds the first fault. */
struct fault {
	char *buf;
	size_t len;
};

__attribute__((format(printf, 3, 4))) static int fault_set(struct fault *f, int r, const char *fmt,
							   ...)
{
	va_list ap;

	if (f->buf && f->len) {
		va_start(ap, fmt);
		(void)vsnprintf(f->buf, f->len, fmt, ap);
		va_end(ap);
	}
	return r;
}

/* ---- rows ---- */

static void **rows_of(struct plan *p, const struct table *t)
{
	return (void **)(void *)((char *)p + t->rows_off);
}

static size_t *cnt_of(struct plan *p, const struct table *t)
{
	return (size_t *)(void *)((char *)p + t->cnt_off);
}

/* Arrays grow to powers of two, so whether one is full can be seen from its count. */
static void *row_add(struct plan *p, const struct table *t)
{
	void **rows = rows_of(p, t);
	size_t *cnt = cnt_of(p, t);
	char *row;

	if (*cnt >= t->cap)
		return NULL;
	if ((*cnt & (*cnt - 1)) == 0) { /* 0 too: full at 0, 1, 2, 4, 8 ... */
		void *grown = reallocarray(*rows, *cnt ? *cnt * 2 : 1, t->row_size);

		if (!grown)
			return NULL;
		*rows = grown;
	}
	row = (char *)*rows + *cnt * t->row_size;
	memset(row, 0, t->row_size);
	(*cnt)++;
	return row;
}

void plan_init(struct plan *p)
{
	memset(p, 0, sizeof(*p));
}

void plan_done(struct plan *p)
{
	free(p->links);
	free(p->addrs);
	free(p->routes);
	free(p->rules);
	free(p->neighs);
	plan_init(p);
}

struct plan_link *plan_add_link(struct plan *p)
{
	return row_add(p, &tables[T_LINKS]);
}

struct plan_addr *plan_add_addr(struct plan *p)
{
	return row_add(p, &tables[T_ADDRS]);
}

struct plan_route *plan_add_route(struct plan *p)
{
	return row_add(p, &tables[T_ROUTES]);
}

struct plan_rule *plan_add_rule(struct plan *p)
{
	return row_add(p, &tables[T_RULES]);
}

struct plan_neigh *plan_add_neigh(struct plan *p)
{
	return row_add(p, &tables[T_NEIGHS]);
}

uint32_t plan_find_ifindex(const struct plan *p, uint32_t ifindex)
{
	for (size_t i = 0; i < p->link_cnt; i++)
		if (p->links[i].ifindex == ifindex)
			return (uint32_t)i;
	return PLAN_NO_LINK;
}

uint32_t plan_link_fd_cnt(const struct plan_link *l)
{
	static const uint8_t cnt[PLAN_DRIVER_COUNT] = {
		[PLAN_DRIVER_PACKET] = 2,
		[PLAN_DRIVER_TAP] = 1,
	};

	return cnt[l->driver];
}

size_t plan_carried_cnt(const struct plan *p)
{
	size_t cnt = 0;

	for (size_t i = 0; i < p->link_cnt; i++)
		cnt += p->links[i].driver != PLAN_DRIVER_NONE;
	return cnt;
}

/* ---- what one field alone cannot show ---- */

static unsigned int family_bits(uint8_t family)
{
	return family == AF_INET ? 32 : family == AF_INET6 ? 128 : 0;
}

static bool ip_is_sane(const struct plan_ip *ip)
{
	static const uint8_t zero[16];

	switch (ip->family) {
	case 0:
		return memcmp(ip->b, zero, 16) == 0;
	case AF_INET:
		return memcmp(ip->b + 4, zero, 12) == 0;
	case AF_INET6:
		return true;
	default:
		return false;
	}
}

/* Absent, or of the family wanted. */
static bool ip_fits(const struct plan_ip *ip, uint8_t family)
{
	return ip_is_sane(ip) && (ip->family == 0 || ip->family == family);
}

static bool name_is_sane(const char *name, size_t size)
{
	return memchr(name, '\0', size) != NULL;
}

static bool link_is_sane(const struct plan *p, size_t i)
{
	const struct plan_link *l = &p->links[i];

	if (!name_is_sane(l->name, sizeof(l->name)) || l->name[0] == '\0' ||
	    !name_is_sane(l->kind, sizeof(l->kind)))
		return false;
	if (l->ifindex == 0 || l->ifindex > INT32_MAX || l->mtu > INT32_MAX)
		return false;
	if (l->driver >= PLAN_DRIVER_COUNT || l->gso >= PLAN_GSO_COUNT || l->type > UINT16_MAX)
		return false;
	if (l->vnet_hdr_len != 0 && l->vnet_hdr_len != 10 && l->vnet_hdr_len != 12)
		return false;
	if (l->driver == PLAN_DRIVER_NONE && l->vnet_hdr_len != 0)
		return false;
	if (l->gso == PLAN_GSO_HW && l->vnet_hdr_len == 0)
		return false;
	return plan_find_ifindex(p, l->ifindex) == i; /* no two with one ifindex */
}

static bool addr_is_sane(const struct plan *p, size_t i)
{
	const struct plan_addr *a = &p->addrs[i];
	uint8_t family = a->local.family;

	return a->link_idx < p->link_cnt && family != 0 && ip_is_sane(&a->local) &&
	       ip_fits(&a->peer, family) && ip_fits(&a->broadcast, family) &&
	       a->prefix_len <= family_bits(family);
}

static bool route_is_sane(const struct plan *p, size_t i)
{
	const struct plan_route *r = &p->routes[i];
	unsigned int bits = family_bits(r->family);

	if (bits == 0 || r->dst_len > bits || r->from_len > bits || r->weight > 256)
		return false;
	if (!ip_fits(&r->dst, r->family) || (r->dst.family == 0) != (r->dst_len == 0))
		return false;
	if (!ip_fits(&r->from, r->family) || (r->from.family == 0) != (r->from_len == 0))
		return false;
	if (!ip_is_sane(&r->gateway) || !ip_fits(&r->prefsrc, r->family))
		return false;
	return r->link_idx < p->link_cnt || r->link_idx == PLAN_NO_LINK;
}

static bool rule_is_sane(const struct plan *p, size_t i)
{
	const struct plan_rule *r = &p->rules[i];
	unsigned int bits = family_bits(r->family);

	return bits != 0 && r->dst_len <= bits && r->src_len <= bits &&
	       ip_fits(&r->dst, r->family) && ip_fits(&r->src, r->family) &&
	       name_is_sane(r->iif, sizeof(r->iif)) && name_is_sane(r->oif, sizeof(r->oif));
}

static bool neigh_is_sane(const struct plan *p, size_t i)
{
	const struct plan_neigh *n = &p->neighs[i];

	return n->link_idx < p->link_cnt && n->addr.family != 0 && ip_is_sane(&n->addr) &&
	       n->state <= UINT16_MAX;
}

static int plan_fault(const struct plan *p, struct fault *f)
{
	static bool (*const is_sane[])(const struct plan *, size_t) = {
		[T_LINKS] = link_is_sane, [T_ADDRS] = addr_is_sane,   [T_ROUTES] = route_is_sane,
		[T_RULES] = rule_is_sane, [T_NEIGHS] = neigh_is_sane,
	};
	const size_t cnts[] = { p->link_cnt, p->addr_cnt, p->route_cnt, p->rule_cnt, p->neigh_cnt };

	for (size_t t = 0; t < ARRAY_LEN(tables); t++) {
		if (cnts[t] > tables[t].cap)
			return fault_set(f, -EINVAL, "plan has %zu %s, at most %zu are handled",
					 cnts[t], tables[t].key, tables[t].cap);
		for (size_t i = 0; i < cnts[t]; i++)
			if (!is_sane[t](p, i))
				return fault_set(f, -EINVAL, "row %zu of %s contradicts itself", i,
						 tables[t].key);
	}
	if (!name_is_sane(p->options.id, sizeof(p->options.id)))
		return fault_set(f, -EINVAL, "the id has no end");
	if (p->options.channel_cnt != 1)
		return fault_set(f, -EINVAL, "%u channels are planned, only 1 is handled",
				 p->options.channel_cnt);
	return 0;
}

int plan_check(const struct plan *p, char *errbuf, size_t errlen)
{
	struct fault f = { errbuf, errlen };

	return plan_fault(p, &f);
}

/* ---- writing ---- */

static struct json_object *mac_to_json(const uint8_t mac[6])
{
	char text[18];

	(void)snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		       mac[3], mac[4], mac[5]);
	return json_object_new_string(text);
}

static struct json_object *ip_to_json(const struct plan_ip *ip)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (ip->family != 0 && !inet_ntop(ip->family, ip->b, text, sizeof(text)))
		return NULL;
	return json_object_new_string(text);
}

static struct json_object *field_to_json(const struct field *f, const void *row)
{
	const void *at = (const char *)row + f->off;

	switch (f->kind) {
	case FIELD_U8:
		return json_object_new_int64(*(const uint8_t *)at);
	case FIELD_U32:
		return json_object_new_int64(*(const uint32_t *)at);
	case FIELD_BOOL:
		return json_object_new_boolean(*(const bool *)at);
	case FIELD_STR:
		return json_object_new_string(at);
	case FIELD_MAC:
		return mac_to_json(at);
	case FIELD_IP:
		return ip_to_json(at);
	}
	return NULL;
}

/* Consumes @val on every path. */
static int object_put(struct json_object *obj, const char *key, struct json_object *val)
{
	if (!val)
		return -ENOMEM;
	if (json_object_object_add(obj, key, val) != 0) {
		json_object_put(val);
		return -ENOMEM;
	}
	return 0;
}

static struct json_object *row_to_json(const struct field *fields, size_t cnt, const void *row)
{
	struct json_object *obj = json_object_new_object();

	for (size_t i = 0; obj && i < cnt; i++) {
		if (object_put(obj, fields[i].key, field_to_json(&fields[i], row)) < 0) {
			json_object_put(obj);
			return NULL;
		}
	}
	return obj;
}

static struct json_object *table_to_json(const struct table *t, const void *rows, size_t cnt)
{
	struct json_object *arr = json_object_new_array();

	for (size_t i = 0; arr && i < cnt; i++) {
		const void *at = (const char *)rows + i * t->row_size;
		struct json_object *row = row_to_json(t->fields, t->field_cnt, at);

		if (!row || json_object_array_add(arr, row) != 0) {
			json_object_put(row);
			json_object_put(arr);
			return NULL;
		}
	}
	return arr;
}

struct json_object *plan_to_json(const struct plan *p)
{
	const void *const rows[] = { p->links, p->addrs, p->routes, p->rules, p->neighs };
	const size_t cnts[] = { p->link_cnt, p->addr_cnt, p->route_cnt, p->rule_cnt, p->neigh_cnt };
	struct json_object *obj = json_object_new_object();
	int r;

	if (!obj)
		return NULL;
	r = object_put(obj, "version", json_object_new_int(PLAN_VERSION));
	if (r == 0)
		r = object_put(obj, "options",
			       row_to_json(option_fields, ARRAY_LEN(option_fields), &p->options));
	for (size_t t = 0; r == 0 && t < ARRAY_LEN(tables); t++)
		r = object_put(obj, tables[t].key, table_to_json(&tables[t], rows[t], cnts[t]));
	if (r < 0) {
		json_object_put(obj);
		return NULL;
	}
	return obj;
}

int plan_to_string(const struct plan *p, char **ret_text, size_t *ret_len)
{
	struct json_object *obj;
	const char *text;
	size_t len = 0;
	char *copy;
	int r;

	r = plan_check(p, NULL, 0);
	if (r < 0)
		return r;
	obj = plan_to_json(p);
	if (!obj)
		return -ENOMEM;
	text = json_object_to_json_string_length(obj, JSON_C_TO_STRING_PLAIN, &len);
	if (text && len > PLAN_TEXT_MAX) {
		json_object_put(obj);
		return -E2BIG;
	}
	copy = text ? strndup(text, len) : NULL;
	json_object_put(obj);
	if (!copy)
		return -ENOMEM;
	*ret_text = copy;
	*ret_len = len;
	return 0;
}

/* ---- reading ---- */

static int uint_from_json(struct json_object *val, uint32_t max, uint32_t *ret_num)
{
	int64_t num;

	if (!json_object_is_type(val, json_type_int))
		return -EINVAL;
	num = json_object_get_int64(val); /* saturates beyond 64 bits, so still out of range */
	if (num < 0 || num > (int64_t)max)
		return -EINVAL;
	*ret_num = (uint32_t)num;
	return 0;
}

static int str_from_json(struct json_object *val, char *dst, size_t size)
{
	size_t len;

	if (!json_object_is_type(val, json_type_string))
		return -EINVAL;
	len = (size_t)json_object_get_string_len(val);
	if (len >= size || memchr(json_object_get_string(val), '\0', len))
		return -EINVAL;
	memset(dst, 0, size);
	memcpy(dst, json_object_get_string(val), len);
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int mac_from_json(struct json_object *val, uint8_t mac[6])
{
	char text[18];

	if (str_from_json(val, text, sizeof(text)) < 0 || strlen(text) != 17)
		return -EINVAL;
	for (size_t i = 0; i < 6; i++) {
		int hi = hex_digit(text[3 * i]), lo = hex_digit(text[3 * i + 1]);

		if (hi < 0 || lo < 0 || (i < 5 && text[3 * i + 2] != ':'))
			return -EINVAL;
		mac[i] = (uint8_t)(hi << 4 | lo);
	}
	return 0;
}

static int ip_from_json(struct json_object *val, struct plan_ip *ip)
{
	char text[INET6_ADDRSTRLEN];

	memset(ip, 0, sizeof(*ip));
	if (str_from_json(val, text, sizeof(text)) < 0)
		return -EINVAL;
	if (text[0] == '\0')
		return 0;
	ip->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	return inet_pton(ip->family, text, ip->b) == 1 ? 0 : -EINVAL;
}

static int field_from_json(const struct field *f, struct json_object *val, void *row)
{
	void *at = (char *)row + f->off;
	uint32_t num;
	int r;

	switch (f->kind) {
	case FIELD_U8:
		r = uint_from_json(val, f->max, &num);
		if (r == 0)
			*(uint8_t *)at = (uint8_t)num;
		return r;
	case FIELD_U32:
		return uint_from_json(val, f->max, at);
	case FIELD_BOOL:
		if (!json_object_is_type(val, json_type_boolean))
			return -EINVAL;
		*(bool *)at = json_object_get_boolean(val);
		return 0;
	case FIELD_STR:
		return str_from_json(val, at, f->max);
	case FIELD_MAC:
		return mac_from_json(val, at);
	case FIELD_IP:
		return ip_from_json(val, at);
	}
	return -EINVAL;
}

static int row_from_json(const struct field *fields, size_t cnt, struct json_object *obj, void *row,
			 const char *what, struct fault *flt)
{
	struct json_object *val;

	/* As many keys as fields and every field found: then no key is unknown. */
	if (!json_object_is_type(obj, json_type_object) ||
	    (size_t)json_object_object_length(obj) != cnt)
		return fault_set(flt, -EINVAL, "a row of %s is no object of %zu keys", what, cnt);
	for (size_t i = 0; i < cnt; i++) {
		if (!json_object_object_get_ex(obj, fields[i].key, &val))
			return fault_set(flt, -EINVAL, "a row of %s lacks \"%s\"", what,
					 fields[i].key);
		if (field_from_json(&fields[i], val, row) < 0)
			return fault_set(flt, -EINVAL, "\"%s\" in a row of %s is out of range",
					 fields[i].key, what);
	}
	return 0;
}

static int table_from_json(const struct table *t, struct json_object *arr, struct plan *p,
			   struct fault *flt)
{
	size_t cnt;
	int r;

	if (!json_object_is_type(arr, json_type_array))
		return fault_set(flt, -EINVAL, "\"%s\" is no array", t->key);
	cnt = json_object_array_length(arr);
	if (cnt > t->cap)
		return fault_set(flt, -E2BIG, "%zu %s, at most %zu are handled", cnt, t->key,
				 t->cap);
	for (size_t i = 0; i < cnt; i++) {
		void *row = row_add(p, t);

		if (!row)
			return fault_set(flt, -ENOMEM, "out of memory");
		r = row_from_json(t->fields, t->field_cnt, json_object_array_get_idx(arr, i), row,
				  t->key, flt);
		if (r < 0)
			return r;
	}
	return 0;
}

static int version_from_json(struct json_object *obj, struct fault *flt)
{
	struct json_object *val;
	uint32_t version;

	if (!json_object_is_type(obj, json_type_object) ||
	    !json_object_object_get_ex(obj, "version", &val) ||
	    uint_from_json(val, UINT32_MAX, &version) < 0)
		return fault_set(flt, -EINVAL, "no object with a \"version\"");
	if (version != PLAN_VERSION)
		return fault_set(flt, -EPROTONOSUPPORT, "version %u, this program reads version %d",
				 version, PLAN_VERSION);
	if ((size_t)json_object_object_length(obj) != ARRAY_LEN(tables) + 2)
		return fault_set(flt, -EINVAL, "it has missing or unknown keys");
	return 0;
}

static int plan_fill(struct json_object *obj, struct plan *p, struct fault *flt)
{
	struct json_object *val;
	int r;

	r = version_from_json(obj, flt);
	if (r < 0)
		return r;
	if (!json_object_object_get_ex(obj, "options", &val))
		return fault_set(flt, -EINVAL, "it has no \"options\"");
	r = row_from_json(option_fields, ARRAY_LEN(option_fields), val, &p->options, "options",
			  flt);
	for (size_t t = 0; r == 0 && t < ARRAY_LEN(tables); t++) {
		if (!json_object_object_get_ex(obj, tables[t].key, &val))
			return fault_set(flt, -EINVAL, "it has no \"%s\"", tables[t].key);
		r = table_from_json(&tables[t], val, p, flt);
	}
	return r == 0 ? plan_fault(p, flt) : r;
}

int plan_from_json(struct json_object *obj, struct plan *p, char *errbuf, size_t errlen)
{
	struct fault flt = { errbuf, errlen };
	int r;

	plan_init(p);
	r = plan_fill(obj, p, &flt);
	if (r < 0)
		plan_done(p);
	return r;
}

int plan_parse(const char *text, size_t len, struct plan *p, char *errbuf, size_t errlen)
{
	struct fault flt = { errbuf, errlen };
	struct json_tokener *tok;
	struct json_object *obj;
	size_t end;
	int r;

	plan_init(p);
	if (len > PLAN_TEXT_MAX)
		return fault_set(&flt, -E2BIG, "%zu octets, at most %u are read", len,
				 PLAN_TEXT_MAX);
	tok = json_tokener_new_ex(8);
	if (!tok)
		return fault_set(&flt, -ENOMEM, "out of memory");
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	obj = json_tokener_parse_ex(tok, text, (int)len);
	end = json_tokener_get_parse_end(tok);
	if (!obj || json_tokener_get_error(tok) != json_tokener_success)
		r = fault_set(&flt, -EINVAL, "no JSON value: %s",
			      json_tokener_error_desc(json_tokener_get_error(tok)));
	else if (end != len)
		r = fault_set(&flt, -EINVAL, "%zu octets follow the value", len - end);
	else
		r = plan_from_json(obj, p, errbuf, errlen);
	json_object_put(obj);
	json_tokener_free(tok);
	return r;
}
