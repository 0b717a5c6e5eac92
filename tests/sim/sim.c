/* SPDX-License-Identifier: Apache-2.0 */
/* sim.c - a run of the simulator from the hosts to the last question */
#include "sim.h"

#include <stdio.h>

struct sim_variant sim_variant = { .value = -1 };

void sim_fail(struct sim *s, const char *why)
{
	char file[128];

	fprintf(stderr, "FAIL %s --first %llu --seeds 1: %s (at %.3f s)\n", s->name,
		(unsigned long long)s->seed, why, (double)s->v.now.ns / 1e9);
	if (s->ok) {
		snprintf(file, sizeof(file), "sim_transfer.%s.%llu", s->name,
			 (unsigned long long)s->seed);
		vnet_write_pcap(&s->v, file);
	}
	s->ok = false;
}

void sim_init(struct sim *s, const char *name, uint64_t seed, const struct sim_config *c)
{
	struct vhost_config client = c->client_host, server = c->server_host;

	*s = (struct sim){ .name = name, .seed = seed, .ok = true };
	client.is_v6 = server.is_v6 = sim_variant.is_v6;
	vnet_init(&s->v, seed, c->start.ns ? c->start : (struct mono){ 1000 * SEC });
	s->h = vnet_add_pair(&s->v, &client, &server, &c->up, &c->down);
	for (int i = 0; i < 2; i++)
		if (sim_variant.value >= 0 &&
		    ns_stack_set_knob(s->h[i].stack, sim_variant.knob, sim_variant.value))
			sim_fail(s, "no such knob");
	s->check = vcheck_new(&s->v);
	vapp_init(&s->client, &s->h[0], &c->client);
	vapp_init(&s->server, &s->h[1], &c->server);
	vapp_listen(&s->server, SIM_PORT, 4096);
}

struct vend *sim_connect(struct sim *s)
{
	int r;
	struct vend *e = vapp_connect(&s->client, s->h[1].addr, SIM_PORT, &r);

	if (!e)
		sim_fail(s, "connect refused by our own stack");
	return e;
}

bool sim_all_closed(void *ctx)
{
	struct sim *s = ctx;

	return !s->client.open_cnt && !s->server.open_cnt;
}

void sim_done(struct sim *s)
{
	vapp_done(&s->client);
	vapp_done(&s->server);
	vcheck_free(s->check);
	vnet_done(&s->v);
}

bool sim_finish(struct sim *s, uint64_t within_ns)
{
	if (s->ok && !vnet_run(&s->v, within_ns, sim_all_closed, s))
		sim_fail(s, s->v.is_livelock ? "livelock" : "not all ends closed in time");
	if (s->ok && !vapp_check_pairs(&s->client, &s->server))
		sim_fail(s, "octets lost, doubled or changed");
	if (s->ok && vcheck_faults(s->check))
		sim_fail(s, "segments that no TCP may send");
	if (s->ok && (s->h[0].tx_v6 != 0) != sim_variant.is_v6)
		sim_fail(s, "the wrong family on the wire");
	if (s->ok && s->client.end_cnt != s->server.end_cnt)
		sim_fail(s, "ends without another end");
	if (s->ok) {
		ns_sock_close(s->h[1].stack, s->server.listener);
		vhost_kick(&s->h[1]);
		vnet_run(&s->v, 400 * SEC, NULL, NULL);
		if (vnet_next(&s->v).ns != UINT64_MAX)
			sim_fail(s, "a timer is still armed 400 s after everything was closed");
	}
	bool ok = s->ok;

	sim_done(s);
	return ok;
}

void sim_pump(struct sim *s)
{
	for (struct vend *e = s->client.ends; e; e = e->next)
		vend_pump(e);
	for (struct vend *e = s->server.ends; e; e = e->next)
		vend_pump(e);
}

void sim_stop_sending(struct sim *s)
{
	s->client.profile.send_total = s->server.profile.send_total = 0;
	sim_pump(s);
}
