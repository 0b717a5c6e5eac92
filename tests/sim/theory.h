/* SPDX-License-Identifier: Apache-2.0 */
/*
 * theory.h - what the literature says of a window under random loss, in segments and seconds
 *
 * Mean windows without a bottleneck where each segment is lost with probability p:
 *
 *	Reno	sqrt(3 / (2 p))					Mathis et al. 1997; RFC 9438 4.3 with beta 0.5
 *	CUBIC	(C (3 + beta) / (4 (1 - beta)))^(1/4) RTT^(3/4) / p^(3/4)		RFC 9438 5.1
 *		with C = 0.4, beta = 0.7, and never less than Reno's (the Reno-friendly region)
 */
#pragma once

#include <math.h>

/** theory_reno() - mean window of Reno */
static inline double theory_reno(double p)
{
	return sqrt(1.5 / p);
}

/** theory_cubic() - mean window of CUBIC; @rtt in seconds */
static inline double theory_cubic(double p, double rtt)
{
	const double c = 0.4, beta = 0.7;

	return fmax(pow(c * (3 + beta) / (4 * (1 - beta)), 0.25) * pow(rtt, 0.75) / pow(p, 0.75),
		    theory_reno(p));
}

/** theory_reno_turn() - seconds until half of @window is back, a segment each @rtt (RFC 5681 3.1) */
static inline double theory_reno_turn(double window, double rtt)
{
	return window / 2 * rtt;
}

/** theory_cubic_turn() - K: seconds until three tenths of @window are back (RFC 9438 4.2), or Reno's time if that is less (4.3) */
static inline double theory_cubic_turn(double window, double rtt)
{
	return fmin(cbrt(window * 0.3 / 0.4), theory_reno_turn(window, rtt));
}
