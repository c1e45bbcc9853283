/* SPDX-License-Identifier: Apache-2.0 */
#include "python/interpreter/stop.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/note.h"
#include "base/written.h"
#include "batch/consumer.h"
#include "python/interpreter/api.h"
#include "slots/lookup.h"

#define CHILD_MOST 1024
#define NAP_NS	   1000000
#define MOST_NAPS  2000

static void (*on_finish)(void);

void stop_ready(void (*finish)(void))
{
	on_finish = finish;
}

static void flush(const char *name)
{
	PyObject *stream = py.PySys_GetObject(name);
	OWNED PyObject *function = stream ? api_get_named(stream, "flush") : NULL;
	OWNED PyObject *result = function ? py.PyObject_CallObject(function, NULL) : NULL;

	if (!result)
		py.PyErr_Clear();
}

static void flush_stdio(void)
{
	int (*function)(FILE *) = (int (*)(FILE *))lookup_real(RTLD_DEFAULT, "fflush");

	if (function)
		function(NULL);
}

static size_t list_children(pid_t *ret)
{
	OWNED PyObject *set = api_get_path(api_module("multiprocessing.process"), "_children");
	OWNED PyObject *list =
		set ? py.PyObject_CallFunctionObjArgs(py.list_type, set, NULL) : NULL;
	size_t count = 0;

	for (ssize_t i = 0; list && i < py.PyList_Size(list) && count < CHILD_MOST; i++) {
		const int64_t pid = api_get_number(py.PyList_GetItem(list, i), "pid", 0);

		if (pid > 0)
			ret[count++] = (pid_t)pid;
	}
	py.PyErr_Clear();
	return count;
}

static bool lives(pid_t pid)
{
	siginfo_t info;

	info.si_pid = 0;
	return sys_call6(SYS_waitid, P_PID, pid, (long)&info, WEXITED | WNOHANG | WNOWAIT, 0,
			 0) == 0 &&
	       !info.si_pid;
}

/* Kills the children by system calls: in Python code, PyTorch's SIGCHLD handler would raise. */
static void end_children(const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sys_call2(SYS_kill, pids[i], SIGKILL);
	for (int naps = 0; naps < MOST_NAPS; naps++) {
		size_t left = 0;

		for (size_t i = 0; i < count; i++)
			left += lives(pids[i]);
		if (!left)
			return;
		sys_nap(NAP_NS);
	}
}

void stop_now(void)
{
	pid_t pids[CHILD_MOST];
	size_t count;

	if (consumer_delivered() < config.stop_after || consumer_is_inside())
		return;
	flush("stdout");
	flush("stderr");
	flush_stdio();
	count = list_children(pids);
	end_children(pids, count);
	note_format('m', "stop_after %lu", config.stop_after);
	written_note();
	if (on_finish)
		on_finish();
	sys_call1(SYS_exit_group, 0);
}
