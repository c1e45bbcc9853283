/* SPDX-License-Identifier: Apache-2.0 */
/*
 * userfs.c - mounts a folder a second time through FUSE, for tests. It can lack locks or shared
 * mappings, as some network file systems do.
 *
 * usage: userfs FOLDER MOUNTPOINT [nolock] [nomap]
 */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fuse.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[4096];
static bool no_map;

static const char *real(const char *path, char *ret)
{
	snprintf(ret, 8192, "%s%s", root, path);
	return ret;
}

#define REAL(path) real(path, (char[8192]){0})
#define ANSWER(call) ((call) < 0 ? -errno : 0)

static void *begin(struct fuse_conn_info *connection, struct fuse_config *config)
{
	(void)connection;
	config->use_ino = 1;
	/* Without the kernel's page cache, shared mappings are impossible. */
	config->direct_io = no_map;
	return NULL;
}

static int get(const char *path, struct stat *status, struct fuse_file_info *info)
{
	(void)info;
	return ANSWER(lstat(REAL(path), status));
}

static int read_link(const char *path, char *to, size_t size)
{
	ssize_t length = readlink(REAL(path), to, size - 1);

	if (length < 0)
		return -errno;
	to[length] = '\0';
	return 0;
}

static int list(const char *path, void *to, fuse_fill_dir_t fill, off_t offset,
		struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	DIR *folder = opendir(REAL(path));
	struct dirent *entry;

	(void)offset;
	(void)info;
	(void)flags;
	if (!folder)
		return -errno;
	while ((entry = readdir(folder)))
		fill(to, entry->d_name, NULL, 0, 0);
	closedir(folder);
	return 0;
}

static int make_folder(const char *path, mode_t mode)
{
	return ANSWER(mkdir(REAL(path), mode));
}

static int remove_file(const char *path)
{
	return ANSWER(unlink(REAL(path)));
}

static int remove_folder(const char *path)
{
	return ANSWER(rmdir(REAL(path)));
}

static int make_link(const char *target, const char *path)
{
	return ANSWER(symlink(target, REAL(path)));
}

static int move(const char *from, const char *to, unsigned flags)
{
	return flags ? -EINVAL : ANSWER(rename(REAL(from), REAL(to)));
}

static int set_mode(const char *path, mode_t mode, struct fuse_file_info *info)
{
	(void)info;
	return ANSWER(chmod(REAL(path), mode));
}

static int cut(const char *path, off_t size, struct fuse_file_info *info)
{
	return ANSWER(info ? ftruncate((int)info->fh, size) : truncate(REAL(path), size));
}

static int keep(int fd, struct fuse_file_info *info)
{
	if (fd < 0)
		return -errno;
	info->fh = (uint64_t)fd;
	return 0;
}

static int open_file(const char *path, struct fuse_file_info *info)
{
	return keep(open(REAL(path), info->flags & ~(O_CREAT | O_EXCL)), info);
}

static int make_file(const char *path, mode_t mode, struct fuse_file_info *info)
{
	return keep(open(REAL(path), info->flags, mode), info);
}

static int read_file(const char *path, char *to, size_t size, off_t at, struct fuse_file_info *info)
{
	ssize_t length = pread((int)info->fh, to, size, at);

	(void)path;
	return length < 0 ? -errno : (int)length;
}

static int write_file(const char *path, const char *from, size_t size, off_t at,
		      struct fuse_file_info *info)
{
	ssize_t length = pwrite((int)info->fh, from, size, at);

	(void)path;
	return length < 0 ? -errno : (int)length;
}

static int release(const char *path, struct fuse_file_info *info)
{
	(void)path;
	return ANSWER(close((int)info->fh));
}

static int no_lock(const char *path, struct fuse_file_info *info, int command, struct flock *lock)
{
	(void)path;
	(void)info;
	(void)command;
	(void)lock;
	return -ENOLCK;
}

static int no_flock(const char *path, struct fuse_file_info *info, int operation)
{
	(void)path;
	(void)info;
	(void)operation;
	return -ENOLCK;
}

int main(int argc, char **argv)
{
	struct fuse_operations calls = {
		.init = begin, .getattr = get, .readlink = read_link, .readdir = list,
		.mkdir = make_folder, .unlink = remove_file, .rmdir = remove_folder,
		.symlink = make_link, .rename = move, .chmod = set_mode, .truncate = cut,
		.open = open_file, .create = make_file, .read = read_file, .write = write_file,
		.release = release,
	};
	char *arguments[] = {argv[0], (char[]){"-f"}, (char[]){"-s"}, argc > 2 ? argv[2] : NULL,
			     NULL};

	if (argc < 3 || !realpath(argv[1], root))
		return 2;
	for (int i = 3; i < argc; i++) {
		no_map |= strcmp(argv[i], "nomap") == 0;
		if (strcmp(argv[i], "nolock") == 0) {
			calls.lock = no_lock;
			calls.flock = no_flock;
		}
	}
	return fuse_main(4, arguments, &calls, NULL);
}
