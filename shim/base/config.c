/* SPDX-License-Identifier: Apache-2.0 */
#include "base/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/note.h"
#include "base/text.h"
#include "dlprof/units.h"

struct config config = {
	.out = "dlprof-%p.db",
	.detail = CONFIG_DETAIL_SLOW,
	.cuda = CONFIG_CUDA_DEFAULT,
	.slow_ns = 10000 * UINT64_C(1000),
};

extern char **environ;

static bool parse_flag(const char *value, bool *ret_flag)
{
	if (strcmp(value, "1") == 0 || strcmp(value, "0") == 0) {
		*ret_flag = value[0] == '1';
		return true;
	}
	return false;
}

static bool set_out(const char *value)
{
	config.out = value;
	return value[0] != '\0';
}

static bool set_segment_dir(const char *value)
{
	config.segment_dir = value;
	return value[0] == '/';
}

/* The drain reads it. */
static bool set_metrics_dir(const char *value)
{
	return value[0] == '/';
}

static bool set_log(const char *value)
{
	return log_set(value);
}

static bool set_quiet(const char *value)
{
	return parse_flag(value, &config.quiet);
}

static bool set_disable(const char *value)
{
	bool unused;

	return parse_flag(value, &unused);
}

static bool set_activate(const char *value)
{
	config.activate_always = strcmp(value, "always") == 0;
	return config.activate_always || strcmp(value, "auto") == 0;
}

static bool parse_name(const char *value, const char *const *names, int count, int *ret_at)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(value, names[i]) == 0) {
			*ret_at = i;
			return true;
		}
	}
	return false;
}

#define LEVEL_NAME(constant, name, help) name,

static bool set_detail(const char *value)
{
	static const char *const names[] = {
		DLPROF_DETAIL_LEVELS(LEVEL_NAME, LEVEL_NAME, LEVEL_NAME)};
	int at = (int)config.detail;
	bool good = parse_name(value, names, ARRAY_COUNT(names), &at);

	config.detail = (enum config_detail)at;
	return good;
}

static const char *const cuda_names[] = {DLPROF_CUDA_LEVELS(LEVEL_NAME, LEVEL_NAME, LEVEL_NAME)};

const char *config_cuda_name(enum config_cuda level)
{
	return cuda_names[level];
}

static bool set_cuda(const char *value)
{
	int at = (int)config.cuda;
	bool good = parse_name(value, cuda_names, ARRAY_COUNT(cuda_names), &at);

	config.cuda = (enum config_cuda)at;
	return good;
}

static bool set_libcupti(const char *value)
{
	return value[0] != '\0';
}

static bool is_nvtx(const char *value)
{
	return value[0] && strlen(value) < CONFIG_NVTX_MAX;
}

static bool set_nvtx(const char *value)
{
	return is_nvtx(value);
}

const char *config_nvtx(void)
{
	const char *value = getenv("DLPROF_NVTX");

	return value && is_nvtx(value) && strcmp(value, "0") != 0 ? value : NULL;
}

bool config_cuda_is_off(void)
{
	const char *value = getenv("DLPROF_CUDA");

	return value && strcmp(value, "off") == 0;
}

static bool set_slow_us(const char *value)
{
	uint64_t us = 0;

	if (!value[0] || strlen(value) > 12)
		return false;
	for (; *value; value++) {
		if (*value < '0' || *value > '9')
			return false;
		us = us * 10 + (uint64_t)(*value - '0');
	}
	config.slow_ns = us * 1000;
	return us > 0;
}

/* One colon, and names with single dots between them; letters beyond ASCII are Python's to judge.
 */
static bool is_batch_fn(const char *value)
{
	const char *colon = strchr(value, ':');
	bool in_name = false;

	if (!colon || strlen(value) >= CONFIG_BATCH_FN_MAX)
		return false;
	for (const char *at = value; *at; at++) {
		unsigned char c = (unsigned char)*at;
		bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';

		if (*at == '.' || at == colon) {
			if (!in_name)
				return false;
			in_name = false;
		} else if (letter || c == '_' || c >= 0x80 || (in_name && c >= '0' && c <= '9')) {
			in_name = true;
		} else {
			return false;
		}
	}
	return in_name;
}

static bool set_batch_fn(const char *value)
{
	return is_batch_fn(value);
}

const char *config_batch_fn(void)
{
	const char *value = getenv("DLPROF_BATCH_FN");

	return value && is_batch_fn(value) ? value : NULL;
}

/* Ours: run.c hands it to children. */
static bool set_run(const char *value)
{
	return true;
}

static const struct option {
	const char *name;
	const char *wants;	/* completes "NAME wants ..." */
	bool (*set)(const char *value);
} options[] = {
#define SETTING(name, wants, set, value, help) {#name, wants, set},
#include "dlprof/settings.def"
#undef SETTING
};

static bool option_bad[ARRAY_COUNT(options)];

bool config_disabled(void)
{
	const char *value = getenv("DLPROF_DISABLE");

	return value && strcmp(value, "1") == 0;
}

void config_read(void)
{
	for (size_t i = 0; i < ARRAY_COUNT(options); i++) {
		const struct config before = config;
		const char *value = getenv(options[i].name);

		option_bad[i] = value && !options[i].set(value);
		if (option_bad[i])
			config = before;
	}
}

static bool option_known(const char *entry)
{
	for (size_t i = 0; i < ARRAY_COUNT(options); i++) {
		size_t length = strlen(options[i].name);

		if (strncmp(entry, options[i].name, length) == 0 && entry[length] == '=')
			return true;
	}
	return false;
}

void config_note(void)
{
	TEXT(line, 512);

	for (size_t i = 0; i < ARRAY_COUNT(options); i++) {
		if (!option_bad[i])
			continue;
		text_init(&line, line_buffer, sizeof(line_buffer));
		text_join(&line, options[i].name, " wants ", options[i].wants, ", not '",
			  getenv(options[i].name), "'; the default is in force");
		note_add('w', line.buffer);
	}
	for (char **entry = environ; entry && *entry; entry++) {
		const char *end = strchr(*entry, '=');

		if (strncmp(*entry, "DLPROF_", 7) != 0 || !end || option_known(*entry))
			continue;
		text_init(&line, line_buffer, sizeof(line_buffer));
		text_add(&line, "there is no variable ");
		text_add_bytes(&line, *entry, (size_t)(end - *entry));
		text_add(&line, "; it was ignored");
		note_add('w', line.buffer);
	}
	text_init(&line, line_buffer, sizeof(line_buffer));
	if (log_fails(&line))
		note_add('w', line.buffer);
}
