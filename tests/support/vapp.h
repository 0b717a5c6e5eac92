/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vapp.h - applications on a vnet: streams whose every octet is known, checked where they arrive
 *
 * Theory of operation
 *
 * Octet n of a stream is a pure function of the stream's key and n, and the key follows from the
 * net's seed, the port pair and the direction. So the receiver knows each octet without having seen
 * the sender, and a lost, doubled, moved or changed octet is found where it happens.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "support/vwire.h"

/** struct vprofile - how an end behaves; zero: sends nothing, reads at once, closes after the peer */
struct vprofile {
	uint64_t send_total; /* octets, then FIN; UINT64_MAX: for ever */
	uint32_t
		send_max; /* octets at most in one commit, sizes drawn from 1 to it; 0: what fits */
	uint32_t read_max;       /* octets at most in one read; 0: all */
	uint64_t read_gap_ns;    /* between two reads; 0: reads whenever there is something */
	uint64_t read_wait_ns;   /* before the first read */
	bool sends_after_eof;    /* starts to send when the peer has finished */
	bool keeps_open;         /* no FIN after the last octet and no close */
	bool aborts;             /* RST instead of close once all is sent and read */
	uint32_t sndbuf, rcvbuf; /* octets, 0: autotuned */
	bool is_nodelay;
	uint8_t congestion; /* enum ns_congestion */
	bool has_fastopen;  /* the client's first octets may go with the SYN */
	bool has_urgent;    /* the last octet of every commit is urgent */
	bool has_eor;       /* no segment holds octets of two commits */
	bool has_more;      /* every commit says that more follow at once */
};

/** struct vend - one end of a connection */
struct vend {
	struct vend *next;
	struct vapp *app;
	ns_sock sock;  /* 0: closed */
	uint16_t port; /* the client's: names the connection */
	bool is_server, is_connected, has_eof, has_shut;
	int err;
	uint64_t tx_key, rx_key;
	uint64_t tx_off, rx_off; /* octets sent, received and right */
	uint64_t bad_at;         /* offset of the first wrong octet, UINT64_MAX: none */
	struct mono read_at;     /* slow reader: not before; MONO_NEVER: on event */
	struct mono done_at;
};

/** struct vapp - the application of one host */
struct vapp {
	struct vhost *host;
	ns_sock listener;
	struct vprofile profile; /* of ends made from now on */
	struct vend *ends;
	uint32_t end_cnt, open_cnt, failed_cnt, bad_cnt;
	uint64_t tx_octets, rx_octets;
};

/** vapp_init() - become the application of @h */
void vapp_init(struct vapp *a, struct vhost *h, const struct vprofile *profile);
/** vapp_done() - forget the ends; sockets go with the stack */
void vapp_done(struct vapp *a);
/** vapp_listen() - accept on @port; aborts when the stack refuses */
void vapp_listen(struct vapp *a, uint16_t port, int backlog);
/** vapp_connect() - a new end towards @to, a host that talks IPv6: towards its peer; NULL when the stack refuses, its errno in @ret_err */
struct vend *vapp_connect(struct vapp *a, uint32_t to, uint16_t port, int *ret_err);
/** vapp_find() - the end of the connection named by the client's @port, newest first, or NULL */
struct vend *vapp_find(struct vapp *a, uint16_t port);
/** vend_close(), vend_abort() - from outside a turn */
void vend_close(struct vend *e);
void vend_abort(struct vend *e);
/** vend_pump() - send and read what is possible now (after a profile changed) */
void vend_pump(struct vend *e);
/** vapp_check_pairs() - each end of @a got exactly what its other end in @b sent, and the reverse; prints what is wrong and returns false */
bool vapp_check_pairs(struct vapp *a, struct vapp *b);
/** vstream_fill() - octets [@off, @off + @len) of stream @key */
void vstream_fill(uint64_t key, uint64_t off, void *to, uint32_t len);
/** vstream_diff() - index of the first octet that differs from the stream, @len when none does */
uint32_t vstream_diff(uint64_t key, uint64_t off, const void *octets, uint32_t len);
