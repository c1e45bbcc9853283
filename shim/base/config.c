/* SPDX-License-Identifier: Apache-2.0 */
#include "base/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/note.h"
#include "base/text.h"
#include "dlprof/folder.h"
#include "dlprof/units.h"

struct config config = {
	.out = "dlprof-%p.db",
	.detail = CONFIG_DETAIL_SLOW,
	.cuda = CONFIG_CUDA_DEFAULT,
	.slow_ns = 10000 * UINT64_C(1000),
};

extern char **environ;

static bool is_flag(const char *value)
{
	return strcmp(value, "1") == 0 || strcmp(value, "0") == 0;
}

static const char *value_of(const char *name, bool (*is_good)(const char *value))
{
	const char *value = getenv(name);

	return value && is_good(value) ? value : NULL;
}

static bool is_set_to(const char *name, const char *wanted)
{
	const char *value = getenv(name);

	return value && strcmp(value, wanted) == 0;
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

static bool is_absolute(const char *value)
{
	return value[0] == '/';
}

static bool is_lines(const char *value)
{
	return strcmp(value, "auto") == 0 || strcmp(value, "off") == 0;
}

static bool set_quiet(const char *value)
{
	config.quiet = value[0] == '1';
	return is_flag(value);
}

static bool set_activate(const char *value)
{
	config.activate_always = strcmp(value, "always") == 0;
	return config.activate_always || strcmp(value, "auto") == 0;
}

static int place_of(const char *value, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(value, names[i]) == 0)
			return (int)i;
	return -1;
}

#define LEVEL_NAME(constant, name, help) name,

static bool set_detail(const char *value)
{
	static const char *const names[] = {
		DLPROF_DETAIL_LEVELS(LEVEL_NAME, LEVEL_NAME, LEVEL_NAME)};
	int place = place_of(value, names, ARRAY_COUNT(names));

	config.detail = (enum config_detail)place;
	return place >= 0;
}

static const char *const cuda_names[] = {DLPROF_CUDA_LEVELS(LEVEL_NAME, LEVEL_NAME, LEVEL_NAME)};

const char *config_cuda_name(enum config_cuda level)
{
	return cuda_names[level];
}

static bool set_cuda(const char *value)
{
	int place = place_of(value, cuda_names, ARRAY_COUNT(cuda_names));

	config.cuda = (enum config_cuda)place;
	return place >= 0;
}

static bool is_any(const char *value)
{
	return value[0] != '\0';
}

static bool is_nvtx(const char *value)
{
	return value[0] && strlen(value) < CONFIG_NVTX_MAX;
}

const char *config_nvtx(void)
{
	return is_set_to("DLPROF_NVTX", "0") ? NULL : value_of("DLPROF_NVTX", is_nvtx);
}

bool config_cuda_is_off(void)
{
	return is_set_to("DLPROF_CUDA", "off");
}

static bool set_slow_us(const char *value)
{
	uint64_t us;

	if (strlen(value) > 12 || !dlprof_take_number(&value, &us) || *value)
		return false;
	config.slow_ns = us * 1000;
	return us > 0;
}

static bool set_stop_after(const char *value)
{
	return strlen(value) <= 12 && dlprof_take_number(&value, &config.stop_after) && !*value &&
	       config.stop_after > 0;
}

static bool set_loaders(const char *value)
{
	const char *at;
	size_t length;

	return dlprof_set_parse(value, &config.set, &at, &length) == DLPROF_SET_FINE;
}

/* Allows one colon, and single dots between parts. Python itself checks letters beyond ASCII. */
static bool is_batch_fn(const char *value)
{
	const char *colon = strchr(value, ':');
	bool in_name = false;

	if (!colon || strlen(value) >= CONFIG_BATCH_FN_MAX)
		return false;
	for (const char *at = value; *at; at++) {
		unsigned char c = (unsigned char)*at;

		if (*at == '.' || at == colon) {
			if (!in_name)
				return false;
			in_name = false;
		} else if (text_is_letter(*at) || c == '_' || c >= 0x80 ||
			   (in_name && text_is_digit(*at))) {
			in_name = true;
		} else {
			return false;
		}
	}
	return in_name;
}

const char *config_batch_fn(void)
{
	return value_of("DLPROF_BATCH_FN", is_batch_fn);
}

/* Accepts any value, because run.c, not a user, sets these variables for child processes. */
static bool is_ours(const char *value)
{
	return true;
}

static const struct option {
	const char *name;
	const char *wants;
	bool (*set)(const char *value);
} options[] = {
#define SETTING(name, wants, set, value, help) {#name, wants, set},
#include "dlprof/settings.def"
#undef SETTING
};

static bool option_bad[ARRAY_COUNT(options)];

bool config_disabled(void)
{
	return is_set_to("DLPROF_DISABLE", "1");
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
	TEXT(why, 512);

	for (size_t i = 0; i < ARRAY_COUNT(options); i++)
		if (option_bad[i])
			note_format('w', "%s wants %s, not '%s'; the default is in force",
				    options[i].name, options[i].wants, getenv(options[i].name));
	if (config.set.count)
		note_format('m', "set %s", getenv("DLPROF_SET"));
	for (char **entry = environ; entry && *entry; entry++) {
		const char *end = strchr(*entry, '=');
		TEXT(name, 400);

		if (strncmp(*entry, "DLPROF_", 7) != 0 || !end || option_known(*entry))
			continue;
		text_add_bytes(&name, *entry, (size_t)(end - *entry));
		note_format('w', "there is no variable %s; it was ignored", name.buffer);
	}
	if (log_fails(&why))
		note_add('w', why.buffer);
}
