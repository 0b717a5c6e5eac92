/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_plan.c - the plan's parser; what it accepts, it writes and reads again as the same */
#include <stdlib.h>

#include "daemon/plan.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char err[256], *text = NULL, *text2 = NULL;
	size_t len = 0, len2 = 0;
	struct plan p, again;

	plan_init(&p);
	plan_init(&again);
	if (plan_parse((const char *)data, size, &p, err, sizeof(err)) == 0) {
		must_hold(plan_check(&p, err, sizeof(err)) == 0);
		must_hold(plan_to_string(&p, &text, &len) == 0);
		must_hold(plan_parse(text, len, &again, err, sizeof(err)) == 0);
		must_hold(plan_to_string(&again, &text2, &len2) == 0);
		must_hold(len == len2 && !memcmp(text, text2, len));
		must_hold(plan_carried_cnt(&p) <= p.link_cnt);
	} else {
		must_hold(strnlen(err, sizeof(err)) < sizeof(err) && err[0]);
		must_hold(!p.link_cnt && !p.route_cnt && !p.addr_cnt);
	}
	free(text);
	free(text2);
	plan_done(&p);
	plan_done(&again);
	return 0;
}
