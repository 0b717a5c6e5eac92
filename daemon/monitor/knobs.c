/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knobs.c - see knobs.h
 *
 * A sysctl is a line of words, and a row of ns/knobs.def says which word is whose. Two rows are read in another way: the
 * congestion control, which is a name, and the keys of TCP Fast Open, which are no knob of the stack.
 */
#include "daemon/monitor/knobs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/common/congestion.h"

#define WORDS_MAX 8

void knobs_init(struct knobs *k)
{
	memset(k, 0, sizeof(*k));
	for (int i = 0; i < NS_KNOB_COUNT; i++)
		k->value[i] = ns_knob_info((enum ns_knob)i)->initial;
}

const char *knobs_sysctl(int i)
{
	return i == KNOBS_FASTOPEN_KEY ? "net.ipv4.tcp_fastopen_key"
				       : ns_knob_info((enum ns_knob)i)->sysctl;
}

int knobs_first_row(int i)
{
	for (int k = 0; k < i; k++)
		if (strcmp(knobs_sysctl(k), knobs_sysctl(i)) == 0)
			return k;
	return i;
}

/* The words of @value in @buf, each ended by a NUL. Return: how many, or -EINVAL. */
static int words_split(const char *value, char buf[KNOBS_VALUE_MAX], const char *words[WORDS_MAX])
{
	char *save = NULL;
	int cnt = 0;

	if (snprintf(buf, KNOBS_VALUE_MAX, "%s", value) >= (int)KNOBS_VALUE_MAX)
		return -EINVAL;
	for (char *w = strtok_r(buf, " \t\n", &save); w; w = strtok_r(NULL, " \t\n", &save)) {
		if (cnt == WORDS_MAX)
			return -EINVAL;
		words[cnt++] = w;
	}
	return cnt ? cnt : -EINVAL;
}

static int number_read(const char *word, const struct ns_knob_info *info, int32_t *ret)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(word, &end, 10);
	if (errno || *end || end == word)
		return -EINVAL;
	if (v < info->least || v > info->most)
		return -ERANGE;
	*ret = (int32_t)v;
	return 0;
}

static int word_read(int row, const char *word, int32_t *ret)
{
	if (row != NS_KNOB_tcp_congestion_control)
		return number_read(word, ns_knob_info((enum ns_knob)row), ret);
	*ret = congestion_find(word);
	return *ret < 0 ? -ERANGE : 0;
}

/* Four numbers in hexadecimal, 32 bits each; in memory they are little-endian (linux proc_tcp_fastopen_key()). */
static int key_read(const char *text, size_t len, uint8_t key[NS_FASTOPEN_KEY_LEN])
{
	unsigned int w[4];
	int end = 0;

	if (sscanf(text, "%8x-%8x-%8x-%8x%n", &w[0], &w[1], &w[2], &w[3], &end) != 4 ||
	    (size_t)end != len || text[strcspn(text, " +xX")] != '\0')
		return -EINVAL;
	for (size_t i = 0; i < NS_FASTOPEN_KEY_LEN; i++)
		key[i] = (uint8_t)(w[i / 4] >> (8 * (i % 4)));
	return 0;
}

/* A key, or two with a comma between. */
static int keys_read(struct knobs *k, const char *text)
{
	static const uint8_t none[NS_FASTOPEN_KEY_LEN];
	size_t len = strcspn(text, ",");
	bool has_backup = text[len] != '\0';
	int r = key_read(text, len, k->fastopen_keys);

	if (r == 0 && has_backup)
		r = key_read(text + len + 1, strlen(text + len + 1),
			     k->fastopen_keys + NS_FASTOPEN_KEY_LEN);
	if (r < 0)
		return r;
	k->fastopen_keys_len = has_backup ? NS_FASTOPEN_KEYS_LEN : NS_FASTOPEN_KEY_LEN;
	if (!has_backup && memcmp(k->fastopen_keys, none, sizeof(none)) == 0)
		k->fastopen_keys_len = 0;
	return 0;
}

static void keys_text(const struct knobs *k, char *buf, size_t len)
{
	size_t cnt = k->fastopen_keys_len == NS_FASTOPEN_KEYS_LEN ? 2 : 1, at = 0;

	for (size_t i = 0; i < cnt * 4 && at < len; i++) {
		const uint8_t *b = k->fastopen_keys + 4 * i;
		uint32_t w = k->fastopen_keys_len
				     ? (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
					       (uint32_t)b[3] << 24
				     : 0;

		at += (size_t)snprintf(buf + at, len - at, "%s%08" PRIx32,
				       i == 0   ? ""
				       : i == 4 ? ","
						: "-",
				       w);
	}
}

int knobs_set(struct knobs *k, const char *sysctl, const char *value)
{
	const char *words[WORDS_MAX];
	char buf[KNOBS_VALUE_MAX];
	struct knobs new = *k;
	int cnt = words_split(value, buf, words);
	int r = -ENOENT;

	if (strcmp(sysctl, knobs_sysctl(KNOBS_FASTOPEN_KEY)) == 0) {
		r = cnt == 1 ? keys_read(&new, words[0]) : -EINVAL;
		if (r == 0)
			*k = new;
		return r;
	}
	for (int i = 0; i < NS_KNOB_COUNT; i++) {
		const struct ns_knob_info *info = ns_knob_info((enum ns_knob)i);

		if (strcmp(info->sysctl, sysctl) != 0)
			continue;
		if (cnt <= info->word)
			return -EINVAL;
		r = word_read(i, words[info->word], &new.value[i]);
		if (r < 0)
			return r;
	}
	if (r == 0)
		*k = new;
	return r;
}

void knobs_text(const struct knobs *k, int i, char *buf, size_t len)
{
	size_t at = 0;
	int word = 0;

	buf[0] = '\0';
	if (i == KNOBS_FASTOPEN_KEY)
		keys_text(k, buf, len);
	for (int row = i; row < NS_KNOB_COUNT && at < len; row++) {
		const struct ns_knob_info *info = ns_knob_info((enum ns_knob)row);
		int n;

		if (strcmp(info->sysctl, knobs_sysctl(i)) != 0)
			continue;
		for (; word < info->word && at + 3 < len; word++)
			at += (size_t)snprintf(buf + at, len - at, "%s-", at ? " " : "");
		if (row == NS_KNOB_tcp_congestion_control)
			n = snprintf(buf + at, len - at, "%s", congestion_name(k->value[row]));
		else
			n = snprintf(buf + at, len - at, "%s%d", at ? " " : "", k->value[row]);
		at += n > 0 ? (size_t)n : 0;
		word = info->word + 1;
	}
}

int knobs_path(const char *sysctl, char *buf, size_t len)
{
	static const char prefix[] = "net.";
	const char *rest = sysctl + sizeof(prefix) - 1;

	if (strncmp(sysctl, prefix, sizeof(prefix) - 1) != 0 || strlen(rest) >= len ||
	    rest[strspn(rest, "abcdefghijklmnopqrstuvwxyz0123456789_.")] || strstr(rest, "..") ||
	    rest[0] == '.' || rest[0] == '\0')
		return -EINVAL;
	for (size_t i = 0; i <= strlen(rest); i++)
		buf[i] = rest[i] == '.' ? '/' : rest[i];
	return 0;
}
