/* SPDX-License-Identifier: Apache-2.0 */
/* role.c - which of the three processes this is, and its main function */
#include "daemon/role.h"

#include <stdlib.h>

#include "config/options.h"
#include "daemon/agent/agent.h"
#include "daemon/common/log.h"
#include "daemon/monitor/monitor.h"
#include "daemon/worker/worker.h"

int role_run(const struct sluice_config *cfg)
{
	switch (cfg->role) {
	case CONFIG_ROLE_MONITOR:
		log_init("monitor", (int)cfg->log_level);
		return cfg->restore ? monitor_restore(cfg) : monitor_main(cfg);
	case CONFIG_ROLE_AGENT:
		log_init("agent", (int)cfg->log_level);
		return agent_main();
	case CONFIG_ROLE_WORKER:
		log_init("worker", (int)cfg->log_level);
		return worker_main();
	}
	return EXIT_FAILURE;
}
