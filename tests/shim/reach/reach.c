/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.c - finds and calls a decode library in one of the ways that programs have.
 *
 * usage: reach CASE, in the folder with the modules. Its output is the same with and without the
 * preload.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "fake.h"

#define THREADS	 8
#define LOOKUPS	 40000
#define RELOADS	 20
#define STACK_BYTES (1 << 20)

static void *load(const char *path, int flags)
{
	void *handle = dlopen(path, flags);

	if (!handle) {
		printf("%s: %s\n", path, dlerror());
		exit(1);
	}
	return handle;
}

static int (*run_of(void *handle))(unsigned int)
{
	return (int (*)(unsigned int))dlsym(handle, "run");
}

static int load_and_run(const char *path, int flags)
{
	return run_of(load(path, flags))(100);
}

static void local(void)
{
	printf("%d\n", load_and_run("./caller_a.so", RTLD_NOW | RTLD_LOCAL));
	printf("%d\n", load_and_run("./caller_b.so", RTLD_NOW | RTLD_LOCAL));
	printf("%d\n", load_and_run("./caller_a.so", RTLD_NOW | RTLD_LOCAL));
}

static void lazy(void)
{
	int (*run_a)(unsigned int) = run_of(load("./caller_a_lazy.so", RTLD_LAZY));
	int (*run_b)(unsigned int) = run_of(load("./caller_b_lazy.so", RTLD_LAZY));

	for (int i = 0; i < 3; i++)
		printf("%d %d\n", run_a(100), run_b(100));
}

/* Prints the rights of the pages that ld.so made read-only, by the kernel's list of maps. */
static int show_relro(struct dl_phdr_info *info, size_t size, void *data)
{
	char line[512], rights[8];
	unsigned long begin, end;
	FILE *maps;

	(void)size;
	if (!strstr(info->dlpi_name, data))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_GNU_RELRO)
			continue;
		maps = fopen("/proc/self/maps", "r");
		while (fgets(line, sizeof(line), maps))
			if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) == 3 && at >= begin &&
			    at < end)
				printf("relro of %s: %s\n", (char *)data, rights);
		fclose(maps);
	}
	return 1;
}

static void bind_now(void)
{
	printf("%d\n", load_and_run("./caller_a.so", RTLD_LAZY));
	dl_iterate_phdr(show_relro, "caller_a.so");
}

static void deep(void)
{
	load("./lib_b.so", RTLD_NOW | RTLD_GLOBAL);
	printf("%d\n", load_and_run("./caller_a.so", RTLD_NOW | RTLD_DEEPBIND));
	printf("%d\n", load_and_run("./caller_a_lazy.so", RTLD_NOW));
}

static void global(void)
{
	load("./lib_b.so", RTLD_NOW | RTLD_GLOBAL);
	printf("%d\n", load_and_run("./caller_none.so", RTLD_NOW));
}

static void by_handle(void)
{
	void *handle = load("./lib_b.so", RTLD_NOW | RTLD_LOCAL);
	int (*header)(struct fake *, int) =
		(int (*)(struct fake *, int))dlsym(handle, "jpeg_read_header");
	int (*start)(struct fake *) =
		(int (*)(struct fake *))dlsym(handle, "jpeg_start_decompress");
	unsigned int (*lines)(struct fake *, void *, unsigned int) =
		(unsigned int (*)(struct fake *, void *, unsigned int))dlsym(handle,
									     "jpeg_read_scanlines");
	struct fake info = {.width = 100, .height = 10};

	printf("%d", header(&info, 1));
	printf(" %d", start(&info));
	printf(" %u\n", lines(&info, NULL, 1));
	printf("same again: %d\n", (void *)start == dlsym(handle, "jpeg_start_decompress"));
}

static void special(void)
{
	Dl_info info = {0};
	void *handle;

	load("./lib_a.so", RTLD_NOW | RTLD_GLOBAL);
	dladdr(dlsym(RTLD_DEFAULT, "jpeg_read_header"), &info);
	printf("RTLD_DEFAULT: %s\n", info.dli_fname);
	printf("RTLD_NEXT: %d\n", dlsym(RTLD_NEXT, "jpeg_read_header") != NULL);
	handle = load("./next.so", RTLD_NOW);
	printf("from a module: %d\n", ((pid_t(*)(void))dlsym(handle, "getppid"))() == -getppid());
	/* dlsym() returns the functions of this module themselves. */
	handle = load("./cuda.so", RTLD_NOW);
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"cuFileDriverOpen", "nvmlInit_v2",
						    "cudnnCreate"};

		dladdr(dlsym(handle, names[i]), &info);
		printf("%s: %s\n", names[i], info.dli_fname);
	}
	printf("%ld\n", ((long (*)(void))dlsym(load("./file.so", RTLD_NOW), "file"))());
}

static void errors(void)
{
	void *handle = load("./lib_a.so", RTLD_NOW);
	const char *error;

	dlerror();
	errno = 77;
	printf("%p", dlsym(handle, "jpeg_no_such_function"));
	error = dlerror();
	printf(" %s\n", error ? error : "no error");
	printf("%d", dlsym(handle, "jpeg_read_header") != NULL);
	error = dlerror();
	printf(" %s\n", error ? error : "no error");
	/* An error stays until dlerror() is called, whatever lookups succeed meanwhile. */
	dlopen("./nothing.so", RTLD_NOW);
	printf("%d ", run_of(load("./caller_a.so", RTLD_NOW))(100));
	error = dlerror();
	printf("%s\n", error ? error : "no error");
	errno = 77;
	dlsym(handle, "jpeg_read_header");
	printf("errno %d, close %d\n", errno, dlclose(handle));
}

static void other_namespace(void)
{
	void *handle = dlmopen(LM_ID_NEWLM, "./caller_a.so", RTLD_NOW);

	if (!handle) {
		printf("%s\n", dlerror());
		return;
	}
	printf("%d\n", run_of(handle)(100));
	printf("%d\n", load_and_run("./caller_b.so", RTLD_NOW));
	handle = dlmopen(LM_ID_NEWLM, "./lib_b.so", RTLD_NOW);
	printf("%d\n", handle && dlsym(handle, "jpeg_read_header"));
}

static void constructor(void)
{
	printf("%d\n", load_and_run("./nested.so", RTLD_NOW));
}

static void origin(void)
{
	int (*plug)(void) = (int (*)(void))dlsym(load("./sub/plug.so", RTLD_NOW), "plug");

	printf("%d\n", plug());
}

static void sibling(void)
{
	void *handle_a = load("./caller_a.so", RTLD_NOW),
	     *handle_b = load("./caller_b.so", RTLD_NOW);
	unsigned int (*tail_a)(struct fake *, void *, unsigned int);
	unsigned int (*tail_b)(struct fake *, void *, unsigned int);
	struct fake info = {.width = 1};

	tail_a = (unsigned int (*)(struct fake *, void *, unsigned int))dlsym(handle_a, "tail");
	tail_b = (unsigned int (*)(struct fake *, void *, unsigned int))dlsym(handle_b, "tail");
	printf("%u %u\n", tail_a(&info, NULL, 5), tail_b(&info, NULL, 5));
}

static void corrupt(void)
{
	int (*run_a)(unsigned int) = run_of(load("./caller_a.so", RTLD_NOW));
	int failed = 0;

	for (int i = 0; i < 100; i++)
		failed += run_a(0) == -1;
	printf("%d %d\n", failed, run_a(100));
}

/* A slot that ld.so bound in a call which left by longjmp() is observed from the next load on. */
static void corrupt_lazy(void)
{
	int (*run_a)(unsigned int) = run_of(load("./caller_a_lazy.so", RTLD_LAZY));
	void (*load_begin)(int64_t) = NULL;
	int first = run_a(0);

	if (getenv("DLPROF_ACTIVATE"))
		load_begin = (void (*)(int64_t))dlsym(RTLD_DEFAULT, "dlprof_load_begin");
	if (load_begin)
		load_begin(0);
	printf("%d %d\n", first, run_a(100));
}

/* Uses much stack: the frame that longjmp() left then seems to be one of this call's callers. */
__attribute__((noinline)) static int run_deep(int (*run_a)(unsigned int))
{
	volatile char space[9000];

	memset((void *)space, 1, sizeof(space));
	return run_a(100) + (space[0] - 1);
}

static void corrupt_deep(void)
{
	int (*run_a)(unsigned int) = run_of(load("./caller_a.so", RTLD_NOW));

	for (int i = 0; i < 10; i++)
		run_a(0);
	printf("%d\n", run_deep(run_a));
}

static int (*run_coroutine)(unsigned int);
static ucontext_t outside, inside;
static int first, second;

static void coroutine(void)
{
	first = run_coroutine(0);
}

/* Decodes a corrupt image in a coroutine, unmaps its stack above this one, and decodes another. */
static void *around_coroutine(void *stack)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = STACK_BYTES;
	inside.uc_link = &outside;
	makecontext(&inside, coroutine, 0);
	swapcontext(&outside, &inside);
	munmap(stack, STACK_BYTES);
	second = run_coroutine(100);
	return NULL;
}

static void corrupt_coroutine(void)
{
	char *stacks = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t below;
	pthread_t thread;

	run_coroutine = run_of(load("./caller_a.so", RTLD_NOW));
	pthread_attr_init(&below);
	pthread_attr_setstack(&below, stacks, STACK_BYTES);
	pthread_create(&thread, &below, around_coroutine, stacks + STACK_BYTES);
	pthread_join(thread, NULL);
	printf("%d %d\n", first, second);
}

static void throwing(void)
{
	printf("%d\n", load_and_run("./cv_user.so", RTLD_NOW));
}

static void *handles[2];
static int wrong;

static void *look_up(void *first)
{
	for (int i = 0; i < LOOKUPS; i++) {
		void *handle = handles[i % 2];

		if (dlsym(handle, "jpeg_start_decompress") != ((void **)first)[i % 2] ||
		    !dlsym(handle, "fake_copy"))
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Loads, calls and unloads a module again and again, while other threads do the same. */
static void *reload(void *path)
{
	for (int i = 0; i < RELOADS * 5; i++) {
		void *handle = load(path, RTLD_NOW);

		if (run_of(handle)(100) != 301)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
		dlclose(handle);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t all[THREADS + 2];
	void *first[2];

	handles[0] = load("./lib_a.so", RTLD_NOW);
	handles[1] = load("./lib_b.so", RTLD_NOW);
	for (int i = 0; i < 2; i++)
		first[i] = dlsym(handles[i], "jpeg_start_decompress");
	for (int i = 0; i < THREADS; i++)
		pthread_create(&all[i], NULL, look_up, first);
	pthread_create(&all[THREADS], NULL, reload, "./self_c.so");
	pthread_create(&all[THREADS + 1], NULL, reload, "./self_c2.so");
	for (int i = 0; i < THREADS + 2; i++)
		pthread_join(all[i], NULL);
	printf("wrong: %d\n", wrong);
}

static void reopen(void)
{
	for (int i = 0; i < RELOADS; i++) {
		void *handle = load("./caller_a.so", RTLD_NOW);

		printf("%d ", run_of(handle)(100));
		dlclose(handle);
		/* Another module may now lie at the same place. */
		handle = load(i % 2 ? "./caller_b.so" : "./lib_b.so", RTLD_NOW);
		printf("%d\n", i % 2 ? run_of(handle)(100) : 0);
		dlclose(handle);
	}
}

static void many(void)
{
	for (int i = 0; i < 10; i++) {
		char path[32];

		snprintf(path, sizeof(path), "./many%d.so", i);
		printf("%d\n", load_and_run(path, RTLD_NOW));
	}
}

/* A module in another namespace of ld.so keeps its library, whatever is loaded and unloaded. */
static void crowded(void)
{
	void *other = dlmopen(LM_ID_NEWLM, "./caller_a.so", RTLD_NOW);

	if (!other) {
		printf("%s\n", dlerror());
		return;
	}
	printf("%d\n", run_of(other)(100));
	dlclose(load("./next.so", RTLD_NOW));
	many();
	printf("%d\n", run_of(other)(100));
}

#ifndef SYS_mseal
#define SYS_mseal 462
#endif

static int seal(struct dl_phdr_info *info, size_t size, void *data)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)size;
	(void)data;
	if (!strstr(info->dlpi_name, "caller_a.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = (begin + info->dlpi_phdr[i].p_memsz) & ~(page - 1);

		if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
			return syscall(SYS_mseal, begin & ~(page - 1), end - (begin & ~(page - 1)),
				       0)
				       ? -1
				       : 1;
	}
	return -1;
}

static void sealed(void)
{
	void *handle = load("./caller_a.so", RTLD_NOW);

	if (dl_iterate_phdr(seal, NULL) != 1) {
		printf("the kernel has no mseal()\n");
		return;
	}
	printf("%d\n", run_of(handle)(100));
	printf("%d\n", load_and_run("./caller_b.so", RTLD_NOW));
}

/* The child of a process records if its parent does. */
static void forked(void)
{
	int (*run_a)(unsigned int) = run_of(load("./caller_a.so", RTLD_NOW));
	int status = -1;
	pid_t pid;

	printf("%d\n", run_a(100));
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(run_a(100) == 101 && load_and_run("./caller_b.so", RTLD_NOW) == 201 ? 0 : 1);
	waitpid(pid, &status, 0);
	printf("child %d, %d\n", status, run_a(100));
}

static const struct {
	const char *name;
	void (*act)(void);
	const char *module;	/* if `act` is NULL: the module to load and run */
} cases[] = {
	{"local", local, NULL},
	{"lazy", lazy, NULL},
	{"bind_now", bind_now, NULL},
	{"deep", deep, NULL},
	{"global", global, NULL},
	{"handle", by_handle, NULL},
	{"special", special, NULL},
	{"errors", errors, NULL},
	{"dlmopen", other_namespace, NULL},
	{"constructor", constructor, NULL},
	{"origin", origin, NULL},
	{"sibling", sibling, NULL},
	{"corrupt", corrupt, NULL},
	{"corrupt_lazy", corrupt_lazy, NULL},
	{"corrupt_deep", corrupt_deep, NULL},
	{"corrupt_coroutine", corrupt_coroutine, NULL},
	{"throw", throwing, NULL},
	{"threads", threads, NULL},
	{"reopen", reopen, NULL},
	{"many", many, NULL},
	{"crowded", crowded, NULL},
	{"sealed", sealed, NULL},
	{"forked", forked, NULL},
	{"table", NULL, "./caller_a_table.so"},
	{"self", NULL, "./self_c.so"},
	{"bsymbolic", NULL, "./self_bsymbolic.so"},
	{"hidden", NULL, "./self_hidden.so"},
	{"impostor", NULL, "./self_impostor.so"},
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name) != 0)
			continue;
		if (cases[i].act)
			cases[i].act();
		else
			printf("%d\n", load_and_run(cases[i].module, RTLD_NOW));
		/* Lives on, so that the drain can look at the loaded modules. */
		if (getenv("REACH_LINGER_S"))
			sleep((unsigned int)atoi(getenv("REACH_LINGER_S")));
		return 0;
	}
	return 2;
}
