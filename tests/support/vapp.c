/* SPDX-License-Identifier: Apache-2.0 */
/* vapp.c - applications on a vnet; see vapp.h */
#include "support/vapp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	IOV_CNT = 16,
};

/* --- streams ---------------------------------------------------------------------------------- */

void vstream_fill(uint64_t key, uint64_t off, void *to, uint32_t len)
{
	uint8_t *b = to;

	while (len) {
		uint64_t word = prng_mix(key + off / 8) >> (off % 8 * 8);
		uint32_t n = (uint32_t)(8 - off % 8);

		if (n > len)
			n = len;
		/* the machine is little endian: octet 0 is the low one */
		if (n == sizeof(word)) /* of a known length it is one store, not a call */
			memcpy(b, &word, sizeof(word));
		else
			memcpy(b, &word, n);
		b += n;
		off += n;
		len -= n;
	}
}

uint32_t vstream_diff(uint64_t key, uint64_t off, const void *octets, uint32_t len)
{
	const uint8_t *b = octets;
	uint8_t right[1024];

	for (uint32_t at = 0, n; at < len; at += n) {
		n = len - at < sizeof(right) ? len - at : (uint32_t)sizeof(right);
		vstream_fill(key, off + at, right, n);
		if (!memcmp(b + at, right, n))
			continue;
		for (uint32_t i = 0; i < n; i++)
			if (b[at + i] != right[i])
				return at + i;
	}
	return len;
}

/* --- an end ---------------------------------------------------------------------------------- */

static void end_gone(struct vend *e)
{
	e->sock = 0;
	e->done_at = e->app->host->net->now;
	e->app->open_cnt--;
}

void vend_close(struct vend *e)
{
	if (!e->sock)
		return;
	ns_sock_close(e->app->host->stack, e->sock);
	end_gone(e);
	vhost_kick(e->app->host);
}

void vend_abort(struct vend *e)
{
	if (!e->sock)
		return;
	ns_sock_abort(e->app->host->stack, e->sock);
	end_gone(e);
	vhost_kick(e->app->host);
}

static void end_send(struct vend *e)
{
	const struct vprofile *p = &e->app->profile;
	struct ns_stack *s = e->app->host->stack;

	if (!e->is_connected || e->has_shut || (p->sends_after_eof && !e->has_eof))
		return;
	while (e->tx_off < p->send_total) {
		uint64_t want = p->send_total - e->tx_off;
		struct ns_iov iov[IOV_CNT];
		uint32_t sent = 0;

		if (want > 262144)
			want = 262144;
		if (p->send_max && want > p->send_max)
			want = prng_between(&e->app->host->net->random, 1, p->send_max);
		int n = ns_sock_send_reserve(s, e->sock, (uint32_t)want, iov, IOV_CNT);

		if (n <= 0)
			return;
		for (int i = 0; i < n; i++) {
			uint32_t len = (uint32_t)iov[i].len;

			if (len > want - sent)
				len = (uint32_t)want - sent;
			vstream_fill(e->tx_key, e->tx_off + sent, iov[i].base, len);
			sent += len;
		}
		ns_sock_send_commit(s, e->sock, sent, p->has_more);
		if (sent && p->has_urgent)
			ns_sock_send_urgent(s, e->sock);
		if (p->has_eor)
			ns_sock_send_eor(s, e->sock);
		e->tx_off += sent;
		e->app->tx_octets += sent;
		if (!sent)
			return;
	}
	if (!p->keeps_open) {
		ns_sock_shutdown_send(s, e->sock);
		e->has_shut = true;
	}
}

static void end_check(struct vend *e, const void *octets, uint32_t len)
{
	uint32_t same = vstream_diff(e->rx_key, e->rx_off, octets, len);

	if (same != len && e->bad_at == UINT64_MAX) {
		e->bad_at = e->rx_off + same;
		e->app->bad_cnt++;
	}
	e->rx_off += len;
	e->app->rx_octets += len;
}

static void end_read(struct vend *e)
{
	const struct vprofile *p = &e->app->profile;
	struct vhost *h = e->app->host;
	struct ns_iov iov[IOV_CNT];
	uint32_t most = p->read_max ? p->read_max : UINT32_MAX, total = 0;

	if (e->read_at.ns != UINT64_MAX && mono_lt(h->net->now, e->read_at))
		return;
	e->read_at = MONO_NEVER;
	while (total < most) {
		int n = ns_sock_recv_peek(h->stack, e->sock, iov, IOV_CNT);
		uint32_t got = 0;

		if (n <= 0)
			break;
		for (int i = 0; i < n && total + got < most; i++) {
			uint32_t len = (uint32_t)iov[i].len;

			if (len > most - total - got)
				len = most - total - got;
			end_check(e, iov[i].base, len);
			got += len;
		}
		ns_sock_recv_consume(h->stack, e->sock, got);
		total += got;
		if (!got)
			break;
	}
	if (p->read_gap_ns && total) {
		e->read_at = mono_add(h->net->now, p->read_gap_ns);
		h->app_wake = mono_min(h->app_wake, e->read_at);
	}
	if (ns_sock_is_eof(h->stack, e->sock))
		e->has_eof = true;
}

void vend_pump(struct vend *e)
{
	if (!e->sock)
		return;
	if (e->is_connected)
		end_read(e);
	end_send(e);
	if (e->has_eof && e->has_shut) {
		if (e->app->profile.aborts)
			ns_sock_abort(e->app->host->stack, e->sock);
		else
			ns_sock_close(e->app->host->stack, e->sock);
		end_gone(e);
	}
	vhost_kick(e->app->host);
}

static struct vend *end_new(struct vapp *a, ns_sock sock, bool is_server)
{
	struct vend *e = calloc(1, sizeof(*e));
	struct ns_stack *s = a->host->stack;
	const struct vprofile *p = &a->profile;

	if (!e)
		abort();
	*e = (struct vend){ .app = a, .sock = sock, .is_server = is_server, .next = a->ends };
	e->bad_at = UINT64_MAX;
	e->read_at = MONO_NEVER;
	a->ends = e;
	a->end_cnt++;
	a->open_cnt++;
	ns_sock_set_user(s, sock, e);
	if ((p->sndbuf && ns_sock_setopt(s, sock, NS_SO_SNDBUF, (int)p->sndbuf)) ||
	    (p->rcvbuf && ns_sock_setopt(s, sock, NS_SO_RCVBUF, (int)p->rcvbuf)) ||
	    (p->is_nodelay && ns_sock_setopt(s, sock, NS_TCP_NODELAY, 1)) ||
	    (p->has_fastopen && ns_sock_setopt(s, sock, NS_TCP_FASTOPEN_CONNECT, 1)) ||
	    (p->congestion && ns_sock_setopt(s, sock, NS_TCP_CONGESTION, p->congestion)))
		abort();
	return e;
}

static void end_name(struct vend *e)
{
	struct ns_endpoint at;
	struct ns_stack *s = e->app->host->stack;
	struct vnet *v = e->app->host->net;
	int r = e->is_server ? ns_sock_remote(s, e->sock, &at) : ns_sock_local(s, e->sock, &at);

	if (r)
		return;
	e->port = at.port;
	uint64_t up = prng_mix(v->seed ^ (uint64_t)at.port << 32), down = prng_mix(up);

	e->tx_key = e->is_server ? down : up;
	e->rx_key = e->is_server ? up : down;
}

static void app_accept(struct vapp *a)
{
	ns_sock sock;

	while (!ns_sock_accept(a->host->stack, a->listener, &sock)) {
		struct vend *e = end_new(a, sock, true);

		e->is_connected = true;
		end_name(e);
		if (a->profile.read_wait_ns) {
			e->read_at = mono_add(a->host->net->now, a->profile.read_wait_ns);
			a->host->app_wake = mono_min(a->host->app_wake, e->read_at);
		}
		vend_pump(e);
	}
}

static void app_event(struct vhost *h, const struct ns_event *ev)
{
	struct vapp *a = h->app_ctx;
	struct vend *e = ev->user;

	if (ev->sock == a->listener) {
		app_accept(a);
		return;
	}
	if (!e || !e->sock)
		return;
	if (ev->mask & NS_EV_CONNECTED) {
		e->is_connected = true;
		end_name(e);
	}
	if (ev->mask & NS_EV_ERR) {
		if (e->is_connected)
			end_read(e);
		e->err = ev->err ? ev->err : -EIO;
		a->failed_cnt++;
		ns_sock_close(h->stack, e->sock);
		end_gone(e);
		return;
	}
	vend_pump(e);
}

static void app_wake(struct vhost *h)
{
	struct vapp *a = h->app_ctx;

	for (struct vend *e = a->ends; e; e = e->next) {
		if (!e->sock || e->read_at.ns == UINT64_MAX)
			continue;
		if (mono_le(e->read_at, h->net->now))
			vend_pump(e);
		else
			h->app_wake = mono_min(h->app_wake, e->read_at);
	}
}

static const struct vapp_ops vapp_ops = { .event = app_event, .wake = app_wake };

void vapp_init(struct vapp *a, struct vhost *h, const struct vprofile *profile)
{
	*a = (struct vapp){ .host = h, .profile = *profile };
	h->app = &vapp_ops;
	h->app_ctx = a;
}

void vapp_done(struct vapp *a)
{
	for (struct vend *e; (e = a->ends);) {
		a->ends = e->next;
		free(e);
	}
	a->end_cnt = a->open_cnt = 0;
}

void vapp_listen(struct vapp *a, uint16_t port, int backlog)
{
	struct ns_endpoint at = { .port = port };
	struct ns_stack *s = a->host->stack;

	if (!a->host->is_v6) /* :: hears both */
		at.addr = ns_addr_v4(0);
	if (ns_sock_open(s, &a->listener) || ns_sock_setopt(s, a->listener, NS_SO_REUSEADDR, 1) ||
	    (a->profile.rcvbuf &&
	     ns_sock_setopt(s, a->listener, NS_SO_RCVBUF, (int)a->profile.rcvbuf)) ||
	    ns_sock_bind(s, a->listener, &at) || ns_sock_listen(s, a->listener, backlog))
		abort();
	vhost_kick(a->host);
}

struct vend *vapp_connect(struct vapp *a, uint32_t to, uint16_t port, int *ret_err)
{
	struct ns_endpoint remote = { ns_addr_v4(to), port };
	struct ns_stack *s = a->host->stack;
	ns_sock sock;

	if (a->host->is_v6)
		remote.addr = a->host->peer->addr6;

	*ret_err = ns_sock_open(s, &sock);
	if (*ret_err)
		return NULL;
	struct vend *e = end_new(a, sock, false);

	*ret_err = ns_sock_connect(s, sock, &remote, a->host->net->now);
	vhost_kick(a->host);
	if (*ret_err == -EINPROGRESS || !*ret_err) {
		end_name(e);
		return e;
	}
	a->ends = e->next;
	a->end_cnt--;
	a->open_cnt--;
	free(e);
	ns_sock_close(s, sock);
	return NULL;
}

struct vend *vapp_find(struct vapp *a, uint16_t port)
{
	for (struct vend *e = a->ends; e; e = e->next)
		if (e->port == port)
			return e;
	return NULL;
}

/* One direction: all that @tx sent is what @rx has. */
static bool check_way(const struct vend *tx, const struct vend *rx)
{
	if (rx->bad_at == UINT64_MAX && tx->tx_off == rx->rx_off)
		return true;
	fprintf(stderr, "port %u, %s: %llu octets sent, %llu received, first wrong one at %lld\n",
		tx->port, tx->is_server ? "server to client" : "client to server",
		(unsigned long long)tx->tx_off, (unsigned long long)rx->rx_off,
		(long long)rx->bad_at);
	return false;
}

bool vapp_check_pairs(struct vapp *a, struct vapp *b)
{
	bool ok = true;

	for (struct vend *e = a->ends; e; e = e->next) {
		struct vend *other = vapp_find(b, e->port);

		if (!other) {
			fprintf(stderr, "port %u: no other end\n", e->port);
			ok = false;
			continue;
		}
		if (e->err || other->err) {
			fprintf(stderr, "port %u: ended by error %d, other end %d\n", e->port,
				e->err, other->err);
			ok = false;
		}
		ok = check_way(e, other) && check_way(other, e) && ok;
	}
	return ok;
}
