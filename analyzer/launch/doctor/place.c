/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/doctor/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "dlprof/folder.h"
#include "drain/gpu/nvml.h"
#include "drain/segments/folder.h"
#include "launch/cmd.h"
#include "launch/doctor/gpu.h"
#include "render/form/page.h"
#include "store/database/door.h"

#define OLDEST_GLIBC_MINOR 28
#define MB                 1000000.0
#define SEGMENT_LEAST_MB   8.0 /* room for the segments of 16 processes */
#define SEGMENT_FEW_MB     64.0
#define USERS_MOST         8      /* most processes to name */
#define SHM_FEW_MB         500.0 /* doctor warns of less free room; Docker gives 64 MB */
#define MOST_LEFT  4
#define QUOTED     (4 * PATH_MAX)
#define FIX_SIZE   (2 * QUOTED + 256)

extern char **environ;

static void check_drain(struct doctor *doctor)
{
	struct trust_search drain;
	int r = preload_find_drain(&doctor->preload, &drain);

	if (r == 0)
		doctor_say(doctor, DOCTOR_OK, "drain", "", "%s", drain.path);
	else if (r == -EPERM)
		doctor_say(doctor, DOCTOR_FAIL, "drain",
			   "correct that (chmod go-w, chown), or reinstall dlprof; the rules are "
			   "under TRUST in man 7 dlprof",
			   "dlprof-drain is not started: '%s' %s: recording would soon stop",
			   drain.path, trust_text(drain.trust));
	else if (r == -EACCES)
		doctor_say(doctor, DOCTOR_FAIL, "drain", "make it executable: chmod +x",
			   "'%s' may not be executed: recording would soon stop", drain.path);
	else
		doctor_say(doctor, DOCTOR_FAIL, "drain",
			   "install it beside libdlprof.so, or reinstall dlprof",
			   "dlprof-drain was not found: recording would soon stop");
}

static void check_library(struct doctor *doctor)
{
	int r = preload_find(doctor->options->library, &doctor->preload), minor = 0;
	const char *version = gnu_get_libc_version();

	doctor->has_library = r == 0 && access(doctor->preload.library, R_OK) == 0;
	if (r == 0 && !doctor->has_library)
		r = -errno;
	if (r < 0)
		doctor_say(doctor, DOCTOR_FAIL, "library",
			   "reinstall dlprof, or name the library with --library",
			   "'%s' cannot be preloaded: %s", doctor->preload.library,
			   preload_error(&doctor->preload, r));
	else
		doctor_say(doctor, DOCTOR_OK, "library", "", "%s", doctor->preload.library);
	sscanf(version, "2.%d", &minor);
	doctor_say(doctor, minor < OLDEST_GLIBC_MINOR ? DOCTOR_FAIL : DOCTOR_OK, "glibc",
		   "run on a system with glibc 2.28 or newer (Debian 10, Ubuntu 20.04, RHEL 8)",
		   "glibc %s", version);
	if (doctor->has_library)
		check_drain(doctor);
}

static double free_mb(const char *folder)
{
	struct statvfs status;

	return statvfs(folder, &status) < 0
		       ? 0
		       : (double)status.f_bavail * (double)status.f_frsize / MB;
}

static void check_output(struct doctor *doctor)
{
	const char *pattern =
		doctor->options->output ? doctor->options->output : getenv("DLPROF_OUT");
	char folder[PATH_MAX];
	int r = launch_output_folder(pattern ? pattern : "dlprof-%p.db", folder, sizeof(folder));

	if (r < 0)
		doctor_say(doctor, DOCTOR_FAIL, "output",
			   "name a folder that can be written with dlprof run -o",
			   "no database can be made in '%s': %s", folder, strerror(-r));
	else if (free_mb(folder) < 10)
		doctor_say(doctor, DOCTOR_FAIL, "output",
			   "make room, or name another folder with -o", "'%s' has %.0f MB left",
			   folder, free_mb(folder));
	else if (door_is_remote(folder))
		doctor_say(doctor, DOCTOR_OK, "output", "",
			   "'%s' is on a network file system: the run is recorded on this machine, "
			   "and a copy is delivered there every minute",
			   folder);
	else
		doctor_say(doctor, DOCTOR_OK, "output", "", "'%s' can be written, %.0f MB left",
			   folder, free_mb(folder));
}

/* Checks the folder that libdlprof.so will choose for segments. */
static void check_segments(struct doctor *doctor)
{
	const char *chosen = getenv("DLPROF_SEGMENT_DIR");
	const char *folder = chosen ? chosen : launch_temporary();
	double mb = free_mb(folder);

	if (access(folder, W_OK | X_OK) < 0)
		doctor_say(doctor, DOCTOR_FAIL, "segments",
			   "set DLPROF_SEGMENT_DIR or TMPDIR to a folder that can be written",
			   "no shared memory can be made in '%s': %s", folder, strerror(errno));
	else
		doctor_say(
			doctor,
			mb < SEGMENT_LEAST_MB ? DOCTOR_FAIL
			: mb < SEGMENT_FEW_MB ? DOCTOR_WARN
					      : DOCTOR_OK,
			"segments",
			"make room, or set DLPROF_SEGMENT_DIR: each recording process takes 0.5 MB",
			"'%s' has %.0f MB for shared memory", folder, mb);
	mb = free_mb("/dev/shm");
	doctor_say(
		doctor, mb < SHM_FEW_MB ? DOCTOR_WARN : DOCTOR_OK, "shm",
		"give the container more (docker run --shm-size=8g): PyTorch's workers hand over "
		"batches there, and die by SIGBUS when it is full",
		"/dev/shm has %.0f MB left", mb);
}

static void check_forks(struct doctor *doctor)
{
	void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool wiped = page != MAP_FAILED && madvise(page, 1, MADV_WIPEONFORK) == 0;

	if (page != MAP_FAILED)
		munmap(page, 1);
	doctor_say(doctor, DOCTOR_OK, "forks", "", "%s",
		   wiped ? "the kernel tells forked children apart from their parents"
			 : "this kernel (gVisor) does not tell forked children apart from their "
			   "parents, so libc's fork() has to; children of a bare clone() are "
			   "known by their pid only, and what they read may count as their "
			   "parent's");
}

static void check_environment(struct doctor *doctor)
{
	const char *disabled = getenv("DLPROF_DISABLE"), *preload = getenv("LD_PRELOAD");
	const char *injection = getenv("CUDA_INJECTION64_PATH"), *other = gpu_unfollowed("");

	if (disabled && strcmp(disabled, "1") == 0)
		doctor_say(doctor, DOCTOR_FAIL, "settings", "unset DLPROF_DISABLE",
			   "DLPROF_DISABLE=1: the library does nothing");
	for (char **entry = environ; *entry; entry++) {
		size_t length = strcspn(*entry, "="), i;

		for (i = 0; launch_settings[i]; i++)
			if (strlen(launch_settings[i]) == length &&
			    strncmp(launch_settings[i], *entry, length) == 0)
				break;
		if (strncmp(*entry, "DLPROF_", 7) == 0 && !launch_settings[i])
			doctor_say(doctor, DOCTOR_WARN, "settings", "man 7 dlprof lists them all",
				   "there is no variable %.*s", (int)length, *entry);
	}
	if (preload && *preload &&
	    (!doctor->has_library || !strstr(preload, doctor->preload.library)))
		doctor_say(doctor, DOCTOR_OK, "preloads", "", "others are kept: %s", preload);
	if (other)
		doctor_say(doctor, DOCTOR_OK, "gpu", "",
			   "a GPU of %s is here: not followed, and waits are by the host's clock",
			   other);
	if (injection && strcmp(injection, doctor->preload.library) != 0)
		doctor_say(doctor, DOCTOR_WARN, "gpu",
			   "unset CUDA_INJECTION64_PATH, if that tool is not wanted in this run",
			   "CUDA_INJECTION64_PATH is taken by '%s': the GPU may not be seen",
			   injection);
	else if (access("/dev/nvidiactl", F_OK) < 0 && other)
		return;
	else if (access("/dev/nvidiactl", F_OK) < 0)
		doctor_say(doctor, DOCTOR_OK, "gpu", "", "none here; waits are those of the host");
	else if (access("/dev/nvidiactl", R_OK | W_OK) < 0)
		doctor_say(doctor, DOCTOR_WARN, "gpu", "ask for access to /dev/nvidia*",
			   "there is one, but it cannot be used: %s", strerror(errno));
	else
		doctor_say(doctor, DOCTOR_OK, "gpu", "", "there is one, and CUDA's injection is %s",
			   doctor->has_library && preload_injects(&doctor->preload) ? "ours"
										    : "off");
}

static int add_size(const struct folder *folder, const char *name, void *context)
{
	double *bytes = context;
	struct stat status;

	if (fstatat(folder->fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		*bytes += (double)status.st_blocks * 512;
	return 0;
}

/* Returns how many bytes a dead run left in a folder; 0: the folder is in use, or not dlprof's. */
static double left_bytes(const char *path)
{
	uint64_t pid, ticks;
	struct folder folder;
	double bytes = 0;

	if (!dlprof_parse_folder(path, &pid, &ticks) || folder_has_root(path) ||
	    folder_is_recorded_into(path) || folder_lock(&folder, path) < 0)
		return 0;
	folder_scan(&folder, add_size, &bytes);
	folder_close(&folder);
	return bytes;
}

struct found {
	struct doctor *doctor;
	size_t count;
	double bytes;
};

static void say_left(struct found *found, const char *path, double bytes)
{
	static char fixes[MOST_LEFT][FIX_SIZE];
	static size_t said;
	char word[QUOTED] = "";

	if (said == MOST_LEFT) {
		found->count++;
		found->bytes += bytes;
		return;
	}
	page_append_word(word, sizeof(word), path);
	snprintf(fixes[said], FIX_SIZE,
		 "dlprof-report RUN.db, if RUN.db-segments leads there, stores it. Else: ln -s %s "
		 "rescued.db-segments; touch rescued.db; dlprof-report rescued.db. Or: rm -r %s",
		 word, word);
	doctor_say(found->doctor, DOCTOR_WARN, "left", fixes[said++],
		   "'%s' (%.1f MB) holds what a run that was killed did not store", path,
		   bytes / MB);
}

static void look_into(struct found *found, const char *folder)
{
	DIR *list = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];
	double bytes;

	while (list && (entry = readdir(list))) {
		if (snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >=
		    (int)sizeof(path))
			continue;
		bytes = left_bytes(path);
		if (bytes > 0)
			say_left(found, path, bytes);
	}
	if (list)
		closedir(list);
}

static void check_left(struct doctor *doctor)
{
	const char *chosen = getenv("DLPROF_SEGMENT_DIR");
	struct found found = {.doctor = doctor};

	look_into(&found, chosen ? chosen : launch_temporary());
	if (found.count)
		doctor_say(doctor, DOCTOR_WARN, "left", "the same for each of them",
			   "%zu more such folders take %.1f MB", found.count, found.bytes / MB);
}

/* Warns of other programs on the GPUs: two programs take turns on one GPU. */
static void check_gpu_users(struct doctor *doctor)
{
	struct nvml_user users[USERS_MOST];
	const size_t count = nvml_users(users, USERS_MOST, 0);
	char list[USERS_MOST * 40] = "";

	for (size_t i = 0; i < count; i++)
		page_append(list, sizeof(list), "%spid %u on GPU %u", i ? ", " : "", users[i].pid,
			    users[i].gpu);
	if (count)
		doctor_say(doctor, DOCTOR_WARN, "gpu",
			   "if one of them is the training's GPU, choose another GPU with "
			   "CUDA_VISIBLE_DEVICES, or wait until they have ended",
			   "other programs compute here: %s (as nvidia-smi counts). Programs take "
			   "turns on a GPU, and so each one's kernels and waits become longer",
			   list);
}

void doctor_place(struct doctor *doctor)
{
	check_library(doctor);
	check_output(doctor);
	check_segments(doctor);
	check_forks(doctor);
	check_environment(doctor);
	check_gpu_users(doctor);
	check_left(doctor);
}
