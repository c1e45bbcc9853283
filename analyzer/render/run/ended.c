/* SPDX-License-Identifier: Apache-2.0 */
/* ended.c - writes how the program and its workers ended; nothing if all ended well. */
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>

#include "render/form/units.h"
#include "render/run/ended.h"

static const char *signal_name(char *buffer, size_t size, int number)
{
	static const struct {
		int number;
		const char *name;
	} names[] = {
		{SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT, as by Ctrl-C"},
		{SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
		{SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
		{SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL, as when memory runs out"},
		{SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"},
		{SIGUSR2, "SIGUSR2"}, {SIGPIPE, "SIGPIPE"},
		{SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},
		{SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (names[i].number == number)
			return names[i].name;
	snprintf(buffer, size, "signal %d", number);
	return buffer;
}

/* Returns false for a number that only a damaged file has. */
static bool is_status(int64_t status)
{
	return status >= 0 && status <= UINT16_MAX;
}

int ended_signal(int64_t status)
{
	return is_status(status) ? (int)status & 127 : 0;
}

int64_t ended_returned(int64_t status)
{
	return is_status(status) && !ended_signal(status) ? WEXITSTATUS((int)status)
							  : UNKNOWN;
}

int64_t ended_batch_count(const struct report *report)
{
	int64_t count = 0;

	for (size_t i = 0; i < report->loader_count; i++)
		if (!report->loaders[i].nested && report->loaders[i].pid == report->loader->pid &&
		    report->loaders[i].tid == report->loader->tid)
			count += report->loaders[i].batch_count;
	return report->loader_count ? count : -1;
}

bool ended_workers(const struct run_info *run, char *text, size_t size)
{
	const int by = ended_signal(run->killed_status);
	bool is_all = ended_signal(run->exit_status) == SIGKILL ||
		      (run->is_gone && run->exit_status == UNKNOWN);
	char name[24];

	*text = '\0';
	/* Says nothing if dlprof ended the program, or if the main process was killed, too. */
	if (is_all || run->stop_after > 0 || !by || run->killed_count < 1 ||
	    run->killed_worker == UNKNOWN)
		return false;
	page_append(text, size, "Worker %" PRId64, run->killed_worker);
	if (run->killed_count > 1)
		page_append(text, size, " and %" PRId64 " more", run->killed_count - 1);
	page_append(text, size, " %s killed by %s", run->killed_count > 1 ? "were" : "was",
		    signal_name(name, sizeof(name), by));
	return true;
}

bool ended_program(const struct run_info *run, int64_t batch_count, char *text, size_t size)
{
	const int64_t returned = ended_returned(run->exit_status);
	const int number = ended_signal(run->exit_status);
	char name[24];

	*text = '\0';
	if (number)
		page_append(text, size, "%s by %s", number == SIGINT ? "Interrupted" : "Killed",
			    signal_name(name, sizeof(name), number));
	else if (returned > 0)
		page_append(text, size, "Ended with exit status %" PRId64, returned);
	else if (run->is_gone && run->exit_status == UNKNOWN)
		page_append(text, size, "Ended abruptly, most likely killed");
	else
		return false;
	if (batch_count > 0)
		page_append(text, size, ", after %s batch%s", UNITS_COUNT(batch_count),
			    batch_count == 1 ? "" : "es");
	else if (batch_count == 0)
		page_append(text, size, ", before its first batch");
	return true;
}
