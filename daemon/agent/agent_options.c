/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_options.c - see agent_options.h and agent_options.def
 *
 * Theory of operation
 *
 * A row says how a value is laid out (kind) and whom it concerns (map). The kinds hold what Linux does
 * that is not a plain int: SO_SNDBUF doubles, TCP_DEFER_ACCEPT rounds to retransmissions, options of
 * level IP take and give one octet. Everything is remembered per row, so getsockopt() needs no
 * question to the worker but for what only a connection knows.
 *
 * References
 *	linux v6.1 net/core/sock.c sock_setsockopt() sk_getsockopt(), net/ipv4/tcp.c
 *	do_tcp_setsockopt() do_tcp_getsockopt(), net/ipv4/ip_sockglue.c
 */
#include "daemon/agent/agent_options.h"

#include <asm/socket.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <linux/net_tstamp.h>
#include <linux/tcp.h>

#include "base/mono.h"
#include "daemon/common/congestion.h"

#define TSTAMPING_OPT_ID_TCP (1u << 16) /* linux 6.2 */

#ifndef SO_ORIGINAL_DST
#define SO_ORIGINAL_DST 80 /* linux/netfilter_ipv4.h */
#endif

/* rmem_max and wmem_max of net.core as linux 6.18 ships them, and the floors of include/net/sock.h */
#define BUF_MAX     (4 << 20)
#define SNDBUF_MIN  4608
#define RCVBUF_MIN  2304
#define CLAMP_MIN   (RCVBUF_MIN / 2)
#define CA_NAME_MAX 16

enum kind {
	K_BOOL,     /* any int, reads as 0 or 1 */
	K_INT,      /* int within least..most, else -EINVAL */
	K_INT_OR_0, /* likewise, 0 is back to the default */
	K_SNDBUF,   /* doubled, clamped, never refused */
	K_RCVBUF,
	K_LINGER,  /* struct linger; kept as seconds, -1: off */
	K_LINGER2, /* seconds, negative: -1, clamped to most */
	K_DEFER,   /* seconds, rounded up to a number of retransmissions */
	K_CLAMP,   /* octets, raised to CLAMP_MIN */
	K_QUEUE,   /* a queue length: cut to somaxconn, not negative */
	K_TIMEVAL, /* struct __kernel_old_timeval or __kernel_sock_timeval: both two 64-bit words */
	K_DEVICE,  /* interface name: agent_device.c */
	K_COOKIE,  /* 64 bits */
	K_PACING,  /* 32 bits, or 64 for who has room; all ones, and what 32 cannot say: no limit */
	K_CONGESTION, /* name; kept as index */
	K_TCP_INFO,
	K_FASTOPEN_KEY, /* one key or two; none reads as nothing */
	K_TSTAMPING,    /* int; reads as struct so_timestamping */
	K_IGNORED,      /* taken when in range, reads as default */
	K_TOS,          /* level IP: int or one octet; the ECN bits stay */
	K_TTL,          /* level IP: least..most, or -1: default */
	K_IP_BOOL,      /* level IP: int or one octet */
	K_IP_INT,
	K_IP_BOOL_1, /* level IP, one octet at least */
	K_IP_INT_1,
	K_IP_OPTIONS, /* only none */
	K_V6_BOOL,    /* level IPv6, only on its sockets */
	K_V6_SHORT,   /* likewise, and what is shorter than an int counts as 0 */
	K_V6_INT,
	K_V6_PKTINFO, /* struct in6_pktinfo; kept as its link. Not read */
	K_V6_PATHMTU, /* struct ip6_mtuinfo of a connected socket's path; cannot be set */
	K_V6_OCTET,   /* 0..255, -1 is the default */
	K_IFINDEX,    /* a link, in network byte order */
	K_MTU, /* octets, "least" or more or 0; -1 there: cannot be set. Read of connected sockets alone */
	K_IP_OCTET,    /* level IP, 0..255, -1 is the default */
	K_IP_CUT,      /* level IP, cut to an octet */
	K_REFUSED_INT, /* checked to be an int, then refused */
	K_REFUSED_ANY,
};

enum map { M_KEPT, M_STACK, M_ASKED, M_NATIVE, M_FIXED, M_STATE, M_REFUSED };

static const char *const map_names[] = {
	[M_KEPT] = "KEPT",   [M_STACK] = "STACK", [M_ASKED] = "ASKED",     [M_NATIVE] = "NATIVE",
	[M_FIXED] = "FIXED", [M_STATE] = "STATE", [M_REFUSED] = "REFUSED",
};

/* "no option of the stack" in the table's column */
#define NONE NS_SOCKOPT_COUNT

static const struct row {
	const char *text;
	int level, name;
	uint8_t kind, map, option;
	int32_t min, max, def;
} rows[] = {
#define AOPT(level_, name_, kind_, map_, option_, min_, max_, def_)                                \
	{ #level_ " " #name_, level_, name_, K_##kind_, M_##map_, option_, min_, max_, def_ },
#include "daemon/agent/agent_options.def"

#include "daemon/agent/agent_dgram_options.def" /* behind the others: stream_row_cnt */
#undef AOPT
};

_Static_assert(NS_ARRAY_LEN(rows) <= AOPT_ROWS_MAX, "raise AOPT_ROWS_MAX");

/* Rows of agent_options.def; those of datagrams follow. */
static const size_t stream_row_cnt =
/* NOLINTNEXTLINE(bugprone-macro-parentheses) - a term of the sum */
#define AOPT(level_, name_, kind_, map_, option_, min_, max_, def_) 1 +
#include "daemon/agent/agent_options.def"
#undef AOPT
	0;

/* A datagram socket's own row comes before the one it shares with streams; level TCP is not its. */
static const struct row *row_find(bool is_dgram, int level, int name)
{
	for (size_t i = is_dgram ? stream_row_cnt : 0; i < NS_ARRAY_LEN(rows); i++) {
		if (i == stream_row_cnt && !is_dgram)
			return NULL;
		if (rows[i].level == level && rows[i].name == name)
			return &rows[i];
	}
	return is_dgram && level != IPPROTO_TCP ? row_find(false, level, name) : NULL;
}

/* Is this the row that counts for the socket? */
static bool row_applies(bool is_dgram, const struct row *r)
{
	return row_find(is_dgram, r->level, r->name) == r;
}

static size_t row_idx(const struct row *r)
{
	return (size_t)(r - rows);
}

static bool is_v6(const struct row *r)
{
	return r->level == IPPROTO_IPV6;
}

void aopt_init(struct aopt_values *v)
{
	memset(v, 0, sizeof(*v));
	for (size_t i = 0; i < NS_ARRAY_LEN(rows); i++)
		v->v[i] = rows[i].def;
}

void aopt_init_dgram(struct aopt_values *v, int protocol)
{
	uint32_t uid = v->uid;

	aopt_init(v);
	v->uid = uid;
	v->is_dgram = true;
	v->v[row_idx(row_find(true, SOL_SOCKET, SO_PROTOCOL))] = protocol;
}

void aopt_inherit(struct aopt_values *v, const struct aopt_values *listener)
{
	*v = *listener;
	/* inet_csk_clone_lock() and sk_clone() copy all but these */
	v->v[row_idx(row_find(false, IPPROTO_TCP, TCP_DEFER_ACCEPT))] = 0;
	v->v[row_idx(row_find(false, IPPROTO_TCP, TCP_FASTOPEN))] = 0;
	v->fastopen_keys_len = 0;
}

int32_t aopt_value(const struct aopt_values *v, int level, int name)
{
	const struct row *r = row_find(v->is_dgram, level, name);

	NS_BUG_ON(!r);
	return v->v[row_idx(r)];
}

size_t aopt_row_cnt(void)
{
	return NS_ARRAY_LEN(rows);
}

bool aopt_row(bool is_dgram, size_t i, int *ret_level, int *ret_name, const char **ret_text,
	      const char **ret_map)
{
	*ret_level = rows[i].level;
	*ret_name = rows[i].name;
	*ret_text = rows[i].text;
	*ret_map = map_names[rows[i].map];
	return row_applies(is_dgram, &rows[i]);
}

/* ---- setsockopt() ---- */

/** defer_secs() - what TCP_DEFER_ACCEPT reads as: secs_to_retrans() and back, RTO 1 s doubling to 120 s */
static int32_t defer_secs(int32_t secs)
{
	int32_t timeout = 1, period = 1;

	if (secs <= 0)
		return 0;
	for (int n = 1; n < 255 && secs > period; n++) {
		timeout = timeout * 2 > 120 ? 120 : timeout * 2;
		period += timeout;
	}
	return period;
}

/** set_timeval() - Return: 0, -EINVAL, -EDOM as sock_set_timeout() */
static int set_timeval(struct aopt_values *v, const struct row *r, const void *val, int len)
{
	int64_t tv[2];
	uint64_t ns;

	if (len < (int)sizeof(tv))
		return -EINVAL;
	memcpy(tv, val, sizeof(tv));
	if (tv[1] < 0 || tv[1] >= 1000000)
		return -EDOM;
	if (tv[0] < 0)
		ns = 1; /* "negative is no time at all": expires at once */
	else if (tv[0] >= INT32_MAX)
		ns = 0;
	else
		ns = (uint64_t)tv[0] * NS_PER_SEC + (uint64_t)tv[1] * NS_PER_US;
	if (r->name == SO_RCVTIMEO_OLD || r->name == SO_RCVTIMEO_NEW)
		v->rcv_timeout_ns = ns;
	else
		v->snd_timeout_ns = ns;
	return 0;
}

static int set_congestion(struct aopt_values *v, const struct row *r, const void *val, int len)
{
	char name[CA_NAME_MAX] = { 0 };
	int found;

	if (len < 1)
		return -EINVAL;
	memcpy(name, val, len < CA_NAME_MAX - 1 ? (size_t)len : CA_NAME_MAX - 1);
	found = congestion_find(name);
	if (found >= 0)
		v->v[row_idx(r)] = found;
	return found < 0 ? found : 0;
}

/** set_pacing() - 64 bits from who gives them. A limit beyond 4 GB/s is none. */
static int set_pacing(struct aopt_values *v, const struct row *r, const void *val, int len)
{
	uint64_t rate = 0;

	if (len < (int)sizeof(uint32_t))
		return -EINVAL;
	memcpy(&rate, val, len == (int)sizeof(rate) ? sizeof(rate) : sizeof(uint32_t));
	v->v[row_idx(r)] = rate < UINT32_MAX ? (int32_t)(uint32_t)rate : -1;
	return 0;
}

/** set_fastopen_key() - linux tcp_fastopen_reset_cipher(); a backup alone cannot be set */
static int set_fastopen_key(struct aopt_values *v, const void *val, int len)
{
	if (len != (int)NS_FASTOPEN_KEY_LEN && len != (int)NS_FASTOPEN_KEYS_LEN)
		return -EINVAL;
	v->fastopen_keys_len = (uint32_t)len;
	memcpy(v->fastopen_keys, val, (size_t)len);
	return 0;
}

/** set_pktinfo() - linux v6.1 do_ipv6_setsockopt(): what is sent takes the link alone from it */
static int set_pktinfo(struct aopt_values *v, const struct row *r, const void *val, int len)
{
	struct in6_pktinfo info;

	if (len < (int)sizeof(info))
		return -EINVAL;
	memcpy(&info, val, sizeof(info));
	v->v[row_idx(r)] = (int32_t)info.ipi6_ifindex;
	return 0;
}

/** set_special() - kinds that are no int. Return: 1 when @r is none of them, else as aopt_set() */
static int set_special(struct aopt_values *v, const struct row *r, const void *val, int len)
{
	struct linger l;

	switch (r->kind) {
	case K_TIMEVAL:
		return set_timeval(v, r, val, len);
	case K_CONGESTION:
		return set_congestion(v, r, val, len);
	case K_PACING:
		return set_pacing(v, r, val, len);
	case K_FASTOPEN_KEY:
		return set_fastopen_key(v, val, len);
	case K_V6_PKTINFO:
		return set_pktinfo(v, r, val, len);
	case K_V6_PATHMTU:
		return -ENOPROTOOPT;
	case K_DEVICE:
		return len > 0 && *(const char *)val != 0 ? -EPERM : 0;
	case K_IP_OPTIONS:
		return len > 40 ? -EINVAL : len > 0 ? -EPERM : 0;
	case K_REFUSED_ANY:
		return -r->min;
	case K_LINGER:
		if (len < (int)sizeof(l))
			return -EINVAL;
		memcpy(&l, val, sizeof(l));
		v->v[row_idx(r)] = !l.l_onoff ? -1 : l.l_linger < 0 ? INT_MAX : l.l_linger;
		return 0;
	default:
		return 1;
	}
}

/** buffer_size() - doubled for the bookkeeping, and clamped: min_t(u32), so a negative value is a large one */
static int32_t buffer_size(int32_t val, int32_t least)
{
	int32_t twice = (uint32_t)val > BUF_MAX ? BUF_MAX * 2 : val * 2;

	return twice < least ? least : twice;
}

/** linger2_secs() - negative: no FIN-WAIT-2 at all; 0: the default */
static int32_t linger2_secs(const struct row *r, int32_t val)
{
	if (val < 0)
		return -1;
	if (val == 0)
		return r->def;
	return val > r->max ? r->max : val;
}

/** check_tstamping() - linux sock_set_timestamping(): numbers of octets that TCP has, its statistics, a clock of the device */
static int check_tstamping(const struct aopt_values *v, uint32_t flags)
{
	if (flags & SOF_TIMESTAMPING_OPT_ID ? !v->is_dgram : (flags & TSTAMPING_OPT_ID_TCP) != 0)
		return -EINVAL;
	if (flags & SOF_TIMESTAMPING_OPT_STATS && !(flags & SOF_TIMESTAMPING_OPT_TSONLY))
		return -EINVAL;
	return flags & SOF_TIMESTAMPING_BIND_PHC ? -EOPNOTSUPP : 0;
}

/** set_int() - the checked and converted value of an int option */
static int set_int(const struct aopt_values *v, const struct row *r, int32_t val, int32_t *ret_val)
{
	bool is_in_range = val >= r->min && val <= r->max;

	*ret_val = val;
	switch (r->kind) {
	case K_BOOL:
	case K_IP_BOOL:
	case K_IP_BOOL_1:
	case K_V6_BOOL:
	case K_V6_SHORT:
		*ret_val = val != 0;
		return 0;
	case K_INT:
	case K_IP_INT:
	case K_IP_INT_1:
	case K_V6_INT:
		return is_in_range ? 0 : -EINVAL;
	case K_TSTAMPING:
		return is_in_range ? check_tstamping(v, (uint32_t)val) : -EINVAL;
	case K_INT_OR_0:
		if (val == 0)
			*ret_val = r->def;
		return is_in_range || val == 0 ? 0 : -EINVAL;
	case K_SNDBUF:
	case K_RCVBUF:
		*ret_val = buffer_size(val, r->kind == K_SNDBUF ? SNDBUF_MIN : RCVBUF_MIN);
		return 0;
	case K_LINGER2:
		*ret_val = linger2_secs(r, val);
		return 0;
	case K_DEFER:
		*ret_val = defer_secs(val);
		return 0;
	case K_CLAMP:
		*ret_val = val == 0 ? 0 : val < CLAMP_MIN ? CLAMP_MIN : val;
		return 0;
	case K_QUEUE:
		*ret_val = val > r->max ? r->max : val;
		return val < 0 ? -EINVAL : 0;
	case K_TOS:
		*ret_val = (val & 0xfc) | (v->v[row_idx(r)] & 3);
		return 0;
	case K_IP_CUT:
		*ret_val = val & 0xff;
		return 0;
	case K_IFINDEX:
		*ret_val = (int32_t)ntohl((uint32_t)val);
		return *ret_val >= 0 ? 0 : -EINVAL;
	case K_MTU:
		if (r->min < 0)
			return -ENOPROTOOPT;
		return val == 0 || val >= r->min ? 0 : -EINVAL;
	case K_V6_OCTET:
	case K_IP_OCTET:
	case K_TTL:
		if (val == -1)
			*ret_val = r->def;
		return is_in_range || val == -1 ? 0 : -EINVAL;
	case K_IGNORED:
		*ret_val = r->def;
		return is_in_range ? 0 : -EINVAL;
	case K_REFUSED_INT:
		return -r->min;
	default:
		return -ENOPROTOOPT;
	}
}

/** val_int() - the int in the value: level IP also takes one octet, or nothing at all */
static int val_int(const struct row *r, const void *val, int len, int32_t *ret_val)
{
	*ret_val = 0;
	if (len >= (int)sizeof(*ret_val)) {
		memcpy(ret_val, val, sizeof(*ret_val));
		return 0;
	}
	if (r->level != IPPROTO_IP)
		return r->kind == K_V6_SHORT ? 0 : -EINVAL;
	if (len >= 1)
		*ret_val = *(const uint8_t *)val;
	else if (r->kind == K_TTL || r->kind == K_IP_OCTET || r->kind == K_IP_BOOL_1 ||
		 r->kind == K_IP_INT_1)
		return -EINVAL;
	return 0;
}

/** set_value() - linux __sock_set_timestamps(): of the ways to tell the time the last one counts */
static void set_value(struct aopt_values *v, const struct row *r, int32_t n)
{
	static const int times[] = { SO_TIMESTAMP_OLD, SO_TIMESTAMPNS_OLD, SO_TIMESTAMP_NEW,
				     SO_TIMESTAMPNS_NEW };
	bool is_time = false;
	bool is_new = r->name == SO_TIMESTAMPING_NEW;

	for (size_t i = 0; i < NS_ARRAY_LEN(times); i++)
		is_time |= r->level == SOL_SOCKET && r->name == times[i];
	for (size_t i = 0; is_time && i < NS_ARRAY_LEN(times); i++)
		v->v[row_idx(row_find(v->is_dgram, SOL_SOCKET, times[i]))] = 0;
	v->v[row_idx(r)] = n;
	if (r->kind != K_TSTAMPING)
		return;
	/* one value by two names, of which the last one used names what is told */
	r = row_find(v->is_dgram, SOL_SOCKET, is_new ? SO_TIMESTAMPING_OLD : SO_TIMESTAMPING_NEW);
	v->v[row_idx(r)] = n;
	v->is_tstamping_new = is_new;
}

int aopt_set(struct aopt_values *v, int family, int level, int name, const void *val, int len,
	     struct aopt_result *ret_result)
{
	const struct row *r = row_find(v->is_dgram, level, name);
	int32_t n = 0;
	int ret;

	*ret_result = (struct aopt_result){ .todo = AOPT_DONE, .level = level, .name = name };
	if (!r || (is_v6(r) && family != AF_INET6)) {
		/* sk_setsockopt() looks at the length first, others at the name */
		return level != IPPROTO_IP && level != IPPROTO_IPV6 && len < 4 &&
				       (level == SOL_SOCKET || level == IPPROTO_TCP)
			       ? -EINVAL
			       : -ENOPROTOOPT;
	}
	ret = set_special(v, r, val, len);
	if (ret < 0)
		return ret;
	if (ret == 1) {
		ret = val_int(r, val, len, &n);
		if (ret < 0)
			return ret;
		if (r->map == M_FIXED || r->map == M_STATE)
			return -ENOPROTOOPT;
		ret = set_int(v, r, n, &n);
		if (ret < 0 && r->map != M_NATIVE)
			return ret;
		if (ret == 0)
			set_value(v, r, n);
	}
	if (r->map == M_NATIVE)
		ret_result->todo = AOPT_TO_KERNEL;
	else if (r->map == M_STACK || r->map == M_ASKED)
		ret_result->todo = AOPT_TO_STACK;
	ret_result->is_for_stack = r->option != NONE;
	ret_result->option = (enum ns_sockopt)r->option;
	ret_result->value = v->v[row_idx(r)];
	return 0;
}

/* ---- getsockopt() ---- */

static void get_bytes(struct aopt_result *res, const void *val, size_t len)
{
	memcpy(res->buf, val, len);
	res->len = len;
}

/** get_int() - level IP gives one octet when the program has no room for an int */
static void get_int(struct aopt_result *res, const struct row *r, int32_t val, int room)
{
	uint8_t octet = (uint8_t)val;

	if (r->level == IPPROTO_IP && room > 0 && room < (int)sizeof(val) && val >= 0 && val <= 255)
		get_bytes(res, &octet, sizeof(octet));
	else
		get_bytes(res, &val, sizeof(val));
}

int aopt_get(const struct aopt_values *v, int family, int level, int name, int room,
	     bool is_connected, struct aopt_result *ret_result)
{
	const struct row *r = row_find(v->is_dgram, level, name);
	struct linger l;
	char ca[CA_NAME_MAX] = { 0 };
	uint64_t rate;
	int32_t val;

	*ret_result = (struct aopt_result){ .todo = AOPT_DONE, .level = level, .name = name };
	if (!r || (is_v6(r) && family != AF_INET6))
		return -ENOPROTOOPT;
	if (r->kind == K_V6_PATHMTU && room < (int)sizeof(struct ip6_mtuinfo))
		return -EINVAL;
	val = v->v[row_idx(r)];
	if (r->map == M_REFUSED && r->max)
		return -r->max;
	if (r->map == M_STATE) {
		ret_result->todo = AOPT_TO_STATE;
		return r->kind == K_COOKIE && room < 8 ? -EINVAL : 0;
	}
	if (r->map == M_NATIVE) {
		ret_result->todo = AOPT_TO_KERNEL;
		return 0;
	}
	if (r->map == M_ASKED && is_connected) {
		ret_result->todo = AOPT_TO_STACK;
		ret_result->option = (enum ns_sockopt)r->option;
		return 0;
	}
	switch (r->kind) {
	case K_MTU:
	case K_V6_PATHMTU:
		return -ENOTCONN;
	case K_V6_PKTINFO:
		return -ENOPROTOOPT;
	case K_IFINDEX:
		get_int(ret_result, r, (int32_t)htonl((uint32_t)val), room);
		break;
	case K_LINGER:
		l = (struct linger){ .l_onoff = val >= 0, .l_linger = val >= 0 ? val : 0 };
		get_bytes(ret_result, &l, sizeof(l));
		break;
	case K_CONGESTION:
		val = val < 0 ? v->congestion : val;
		memcpy(ca, congestion_name(val), strlen(congestion_name(val)));
		get_bytes(ret_result, ca, sizeof(ca));
		break;
	case K_TSTAMPING:
		rate = (uint32_t)val; /* and no clock of a device */
		get_bytes(ret_result, &rate, room < (int)sizeof(rate) ? sizeof(val) : sizeof(rate));
		break;
	case K_PACING:
		rate = val == -1 ? UINT64_MAX : (uint32_t)val;
		get_bytes(ret_result, &rate, room < (int)sizeof(rate) ? sizeof(val) : sizeof(rate));
		break;
	case K_FASTOPEN_KEY:
		get_bytes(ret_result, v->fastopen_keys, v->fastopen_keys_len);
		break;
	case K_DEVICE:
	case K_IP_OPTIONS:
		break; /* none: length 0 */
	default:
		get_int(ret_result, r, val, room);
	}
	return 0;
}

void aopt_opts(const struct aopt_values *v, struct ipc_opts *ret_opts)
{
	memset(ret_opts, 0, sizeof(*ret_opts));
	if (v->uid)
		ipc_opts_set(ret_opts, NS_SO_UID, (int32_t)v->uid);
	for (size_t i = 0; i < NS_ARRAY_LEN(rows); i++) {
		if (rows[i].option != NONE && v->v[i] != rows[i].def &&
		    row_applies(v->is_dgram, &rows[i]))
			ipc_opts_set(ret_opts, (enum ns_sockopt)rows[i].option, v->v[i]);
	}
}
