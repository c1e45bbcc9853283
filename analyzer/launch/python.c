/* SPDX-License-Identifier: Apache-2.0 */
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "drain/drain.h"
#include "drain/home.h"
#include "drain/hidden.h"
#include "launch/child.h"
#include "store/db_open.h"
#include "store/query.h"

#define LOOK_SECONDS   15
#define IMPORT_SECONDS 60

/* Where packages are, without importing them. */
static char LOOK[] = "import sys, importlib.util as u\n"
		     "print('executable', sys.executable)\n"
		     "print('version', '%d.%d' % sys.version_info[:2] + sys.abiflags)\n"
		     "for n in ('torch', 'torchvision', 'cv2', 'PIL', 'soundfile'):\n"
		     "    try:\n"
		     "        s = u.find_spec(n)\n"
		     "    except Exception:\n"
		     "        s = None\n"
		     "    if s and s.submodule_search_locations:\n"
		     "        print(n, list(s.submodule_search_locations)[0])\n";
static char IMPORT[] = "import torch.utils.data";

/* nftw() hands nothing through. */
static struct {
	char list[400];
	char file[PATH_MAX];
} hidden;

static int add_hidden(void *context, const char *library)
{
	const char *slash = strrchr(hidden.file, '/');
	size_t used = strlen(hidden.list);

	snprintf(hidden.list + used, sizeof(hidden.list) - used, "%s%s in %s", used ? ", " : "",
		 library, slash ? slash + 1 : hidden.file);
	return 0;
}

static int look_at(const char *path, const struct stat *status, int type, struct FTW *place)
{
	if (type == FTW_F && strstr(path, ".so")) {
		snprintf(hidden.file, sizeof(hidden.file), "%s", path);
		hidden_scan(path, add_hidden, NULL);
	}
	return 0;
}

static void check_package(struct doctor *doctor, const char *name, const char *folder)
{
	char libraries[PATH_MAX];

	/* Too large to search, and without decoders. */
	if (strcmp(name, "torch") == 0)
		return;
	hidden.list[0] = '\0';
	nftw(folder, look_at, 16, FTW_PHYS);
	snprintf(libraries, sizeof(libraries), "%s.libs", folder);
	nftw(libraries, look_at, 16, FTW_PHYS);
	if (*hidden.list)
		doctor_say(doctor, DOCTOR_WARN, "decoders",
			   "nothing to do: their time counts in the Python call around them, "
			   "where dlprof knows that call; packages of a distribution or of "
			   "conda use libraries that are seen",
			   "%s has copies that cannot be observed: %s", name, hidden.list);
	else
		doctor_say(doctor, DOCTOR_OK, "decoders", "", "those of %s can be observed", name);
}

static void check_patches(struct doctor *doctor)
{
	char *const argv[] = {doctor->python, "-c", IMPORT, NULL};
	char database[PATH_MAX + 16], output[64];
	const struct child child = {.argv = argv,
				    .database = database,
				    .always = true,
				    .no_loader = true,
				    .errors = -1};
	struct run_info run;
	struct db *db;
	struct recovered recovered;
	int r;

	snprintf(database, sizeof(database), "%s/import.db", doctor->folder);
	r = child_capture(doctor, &child, IMPORT_SECONDS, output, sizeof(output));
	drain_recover(database, &recovered);
	if (r == 0)
		r = home_open_read(database, &db);
	if (r == 0) {
		r = query_run(db, &run);
		db_close(db);
	}
	if (r) {
		doctor_say(doctor, DOCTOR_WARN, "patches",
			   "see what it says: python -c 'import torch'",
			   "importing torch did not work");
		return;
	}
	if (!run.frameworks || !strstr(run.frameworks, "torch"))
		doctor_say(doctor, DOCTOR_WARN, "patches",
			   "name what hands out batches with DLPROF_BATCH_FN=module:Class.method",
			   "torch was imported, but none of its patch points was found");
	else if (run.patch_missing && *run.patch_missing)
		doctor_say(doctor, DOCTOR_WARN, "patches",
			   "this torch is new to dlprof: what these measure is not observed",
			   "not found in torch: %s", run.patch_missing);
	else
		doctor_say(doctor, DOCTOR_OK, "patches", "", "all found in torch");
	run_info_done(&run);
}

static void check_version(struct doctor *doctor, const char *version)
{
	int major = 0, minor = 0;
	struct target target;

	sscanf(version, "%d.%d", &major, &minor);
	if (major < 3 || (major == 3 && minor < 8))
		doctor_say(doctor, DOCTOR_WARN, "python",
			   "use Python 3.8 or newer, or mark the loop with dlprof.h",
			   "%s is Python %s, whose loaders cannot be followed", doctor->python,
			   version);
	else if (strchr(version, 't'))
		doctor_say(doctor, DOCTOR_WARN, "python",
			   "use a build with the global lock, or mark the loop with dlprof.h",
			   "%s runs without a global lock, where loaders are not followed",
			   doctor->python);
	else if (target_find(doctor->python, &target) == 0 && !target.has_libpython &&
		 !target_exports(target.path, "PySys_AddAuditHook"))
		doctor_say(doctor, DOCTOR_WARN, "python",
			   "use a build that exports Python's C functions, as all usual ones do",
			   "%s does not let its loaders be patched", target.path);
	else
		doctor_say(doctor, DOCTOR_OK, "python", "", "%s, Python %s", doctor->python,
			   version);
}

void doctor_python(struct doctor *doctor)
{
	char *const argv[] = {doctor->python, "-c", LOOK, NULL};
	const struct child child = {.argv = argv, .errors = -1};
	char output[4096], *state, *line;
	bool torch = false;
	int r;

	if (!*doctor->python)
		return;
	r = child_capture(doctor, &child, LOOK_SECONDS, output, sizeof(output));
	if (r) {
		doctor_say(doctor, r == 127 ? DOCTOR_OK : DOCTOR_WARN, "python",
			   "see what it says: python3 -c 0",
			   r == 127 ? "there is no %s" : "%s did not answer", doctor->python);
		return;
	}
	for (line = strtok_r(output, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		char *value = strchr(line, ' ');

		if (!value)
			continue;
		*value++ = '\0';
		torch = torch || strcmp(line, "torch") == 0;
		/* What was named may be a script that finds the interpreter. */
		if (strcmp(line, "executable") == 0)
			snprintf(doctor->python, sizeof(doctor->python), "%s", value);
		else if (strcmp(line, "version") == 0)
			check_version(doctor, value);
		else
			check_package(doctor, line, value);
	}
	if (torch && doctor->has_library && *doctor->folder)
		check_patches(doctor);
}
