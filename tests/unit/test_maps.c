/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how the drain reads a process's modules: mappings, their bytes, copies of decoders.
 */
#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drain/modules/hidden.h"
#include "drain/modules/maps.h"
#include "drain/modules/module.h"

#define TEXT_AT   4096
#define TEXT_SIZE 4096

static char path[64];

static void put(const void *bytes, size_t size)
{
	int fd;

	strcpy(path, "/tmp/test-of-dlprof-XXXXXX");
	fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

struct listed {
	FILE *truth;
	int files, codes;
};

/* Compares a line with the next line with a path of /proc/self/maps, read by libc's functions. */
static int compare(void *context, const struct maps_line *line)
{
	struct listed *listed = context;
	unsigned long begin, end, offset, inode;
	unsigned int major, minor;
	char rights[8], text[4200], name[4200] = "";

	do {
		cr_assert_not_null(fgets(text, sizeof(text), listed->truth), "more than there are");
		name[0] = '\0';
		sscanf(text, "%lx-%lx %7s %lx %x:%x %lu %4199[^\n]", &begin, &end, rights, &offset,
		       &major, &minor, &inode, name);
	} while (name[0] != '/');
	cr_assert_eq(line->begin, begin);
	cr_assert_eq(line->end, end, "%s", text);
	cr_assert_eq(line->offset, offset);
	cr_assert_eq(line->device, (uint64_t)major << 32 | minor);
	cr_assert_str_eq(line->path, name);
	cr_assert_eq(line->is_code, strncmp(rights, "r-xp", 4) == 0);
	listed->files++;
	listed->codes += line->is_code;
	return 0;
}

Test(maps, are_what_the_kernel_lists)
{
	/* A static buffer: malloc() could add a mapping meanwhile. */
	static char buffer[1 << 16];
	struct listed listed = {fopen("/proc/self/maps", "r"), 0, 0};

	cr_assert_eq(setvbuf(listed.truth, buffer, _IOFBF, sizeof(buffer)), 0);
	cr_assert_eq(maps_each(getpid(), compare, &listed), 0);
	cr_assert_gt(listed.files, 8);
	cr_assert_gt(listed.codes, 2);
	cr_assert_lt(maps_each(INT32_MAX, compare, &listed), 0, "no such process");
}

static int stop(void *context, const struct maps_line *line)
{
	++*(int *)context;
	return line->is_code ? 7 : 0;
}

Test(maps, stop_when_told_to)
{
	int calls = 0;

	cr_assert_eq(maps_each(getpid(), stop, &calls), 7);
	cr_assert_lt(calls, 8);
}

Test(maps, new_code_changes_the_state)
{
	uint64_t before = maps_state(getpid()), after;
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(code, MAP_FAILED);
	after = maps_state(getpid());
	munmap(code, 4096);
	cr_assert_neq(before, 0);
	cr_assert_neq(after, before);
	cr_assert_eq(maps_state(getpid()), before);
	cr_assert_eq(maps_state(INT32_MAX), 0);
}

/* Returns maps_image() of a started program, or of a child that was only forked. */
static uint64_t image_of_child(bool is_started)
{
	uint64_t image;
	int fds[2];
	pid_t pid;
	char byte;

	cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0 && is_started)
		execlp("sleep", "sleep", "100", NULL);
	if (pid == 0)
		pause();
	close(fds[1]);
	if (is_started)
		cr_assert_eq(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	poll(NULL, 0, 200); /* until it has its libraries */
	image = maps_image(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return image;
}

Test(maps, what_was_forked_is_the_same_image_and_what_was_started_another)
{
	cr_assert_neq(maps_image(getpid()), 0);
	cr_assert_eq(image_of_child(false), maps_image(getpid()));
	cr_assert_neq(image_of_child(true), image_of_child(true));
}

/* Maps a file filled with `byte` as code, at `address` unless that is NULL. */
static void *map_code(void *address, char byte)
{
	static char bytes[4096];
	void *code;
	int fd;

	memset(bytes, byte, sizeof(bytes));
	put(bytes, sizeof(bytes));
	fd = open(path, O_RDONLY);
	code = mmap(address, sizeof(bytes), PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | (address ? MAP_FIXED : 0), fd, 0);
	cr_assert_neq(code, MAP_FAILED);
	close(fd);
	return code;
}

static char byte_at(struct modules *modules, void *address, uint64_t now_ns)
{
	char byte = 0;

	cr_assert(modules_update(modules, now_ns));
	cr_assert(module_read(modules, (uint64_t)(uintptr_t)address, &byte, 1));
	return byte;
}

Test(module, of_the_same_size_in_the_place_of_another_is_seen_before_long)
{
	struct modules *modules = modules_open(getpid());
	const uint64_t second = 1000000000;
	void *code = map_code(NULL, 'a');
	uint64_t before;
	char first[sizeof(path)];

	strcpy(first, path);
	cr_assert_eq(byte_at(modules, code, second), 'a');
	before = modules_generation(modules);
	cr_assert_eq(byte_at(modules, code, 20 * second), 'a');
	cr_assert_eq(modules_generation(modules), before, "the same are no news");
	map_code(code, 'b');
	cr_assert_eq(byte_at(modules, code, 40 * second), 'b');
	cr_assert_neq(modules_generation(modules), before);
	munmap(code, 4096);
	unlink(first);
	unlink(path);
	modules_close(modules);
}

static struct maps_line file_at(const char *at)
{
	struct stat status;

	cr_assert_eq(stat(at, &status), 0);
	return (struct maps_line){
		.path = at, .device = maps_device(status.st_dev), .inode = status.st_ino};
}

Test(pages, are_the_bytes_of_the_file)
{
	static uint32_t words[200000], got[200000];
	const size_t size = sizeof(words) - 2; /* the last page is not whole */
	struct maps_line file;

	for (uint32_t i = 0; i < 200000; i++)
		words[i] = i;
	put(words, size);
	file = file_at(path);
	for (int again = 0; again < 3; again++) {
		for (size_t at = 0; at + 8 <= size; at += 5009) {
			cr_assert(module_read_file(&file, at, got, 8));
			cr_assert_arr_eq((char *)got, (char *)words + at, 8);
		}
	}
	cr_assert(module_read_file(&file, 4090, got, 4096), "of two pages");
	cr_assert_arr_eq((char *)got, (char *)words + 4090, 4096);
	cr_assert(module_read_file(&file, 3, got, size - 3), "all");
	cr_assert_arr_eq((char *)got, (char *)words + 3, size - 3);
	cr_assert_not(module_read_file(&file, size - 7, got, 8), "over the end");
	cr_assert_not(module_read_file(&file, UINT64_MAX - 3, got, 8));
	module_close_file();
	file.path = "/gone";
	cr_assert(module_read_file(&file, size - 8, got, 8), "it is still known");
	file.inode++;
	cr_assert_not(module_read_file(&file, 0, got, 8), "and this one is not");
	unlink(path);
}

Test(pages, read_no_device)
{
	struct maps_line file = file_at("/dev/zero");
	char byte;

	cr_assert_not(module_read_file(&file, 0, &byte, 1));
}

/* Opening a FIFO without a writer would wait: the file must still be the one mapped. */
Test(maps, opens_only_the_file_that_was_mapped)
{
	struct maps_line file;
	int fd;

	put("mapped", 6);
	file = file_at(path);
	fd = maps_open(path, file.device, file.inode);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert_lt(maps_open(path, file.device, file.inode + 1), 0, "another file");
	if (file.device >> 32)
		cr_assert_lt(maps_open(path, file.device + (UINT64_C(1) << 32), file.inode), 0,
			     "of another device");
	unlink(path);
	cr_assert_lt(maps_open(path, file.device, file.inode), 0, "gone");
	cr_assert_eq(mkfifo(path, 0600), 0);
	file = file_at(path);
	cr_assert_lt(maps_open(path, file.device, file.inode), 0, "a FIFO");
	unlink(path);
	file = file_at("/dev/tty");
	cr_assert_lt(maps_open("/dev/tty", file.device, file.inode), 0, "a terminal");
}

/* Makes a module whose strings have `text` at `at`; returns the decoders that are found in it. */
static unsigned int scan(const char *text, size_t at, uint64_t flags)
{
	static uint8_t file[TEXT_AT + TEXT_SIZE + (64 << 10)];
	Elf64_Ehdr *header = (Elf64_Ehdr *)file;
	Elf64_Shdr *sections = (Elf64_Shdr *)(file + sizeof(*header));
	unsigned int found;
	int fd;

	memset(file, 0, TEXT_AT);
	memset(file + TEXT_AT, 'x', sizeof(file) - TEXT_AT); /* no string ends there */
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_shoff = sizeof(*header);
	header->e_shentsize = sizeof(*sections);
	header->e_shnum = 3;
	header->e_shstrndx = 3;
	sections[1] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				   .sh_flags = flags,
				   .sh_offset = TEXT_AT,
				   .sh_size = TEXT_SIZE};
	sections[2] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				   .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				   .sh_offset = TEXT_AT + TEXT_SIZE,
				   .sh_size = 40000};
	memcpy(file + TEXT_AT + at, text, strlen(text));
	put(file, sizeof(file));
	fd = open(path, O_RDONLY);
	found = hidden_scan(fd, path);
	close(fd);
	unlink(path);
	return found;
}

Test(hidden, is_found_wherever_its_text_is)
{
	static const char *const copies[] = {
		"Corrupt JPEG data: premature end of data segment", "libpng version 1",
		"Not a key frame.", "LIBTIFF, Version ", "libsndfile-1.",
	};

	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		const char *text = copies[i];
		size_t last = TEXT_SIZE - strlen(text);

		for (size_t at = 0; at < 40; at++) {
			cr_assert_eq(scan(text, at, SHF_ALLOC), 1u << i, "'%s' at %zu", text, at);
			cr_assert_eq(scan(text, last - at, SHF_ALLOC), 1u << i,
				     "'%s' %zu before the end", text, at);
		}
		cr_assert_eq(scan(text, last + 1, SHF_ALLOC), 0, "cut");
	}
}

Test(hidden, is_no_text_in_what_is_written_or_run)
{
	const char *text = "LIBTIFF, Version ";

	cr_assert_eq(scan(text, 50, SHF_ALLOC | SHF_EXECINSTR), 0);
	cr_assert_eq(scan(text, 50, SHF_ALLOC | SHF_WRITE), 0);
	cr_assert_eq(scan(text, 50, SHF_ALLOC | SHF_MERGE | SHF_STRINGS), 1u << 3);
	cr_assert_eq(scan("LIBTIFF, version ", 50, SHF_ALLOC), 0);
}

/* Maps a module whose .eh_frame_hdr begins with `kinds`. Returns true if its table is found. */
static bool finds_table(const uint8_t kinds[4])
{
	enum { HEADER_AT = 512, ADDRESS = 0x10000, COUNT = 7 };
	static uint8_t file[4096];
	Elf64_Ehdr *header = (Elf64_Ehdr *)file;
	Elf64_Phdr *parts = (Elf64_Phdr *)(header + 1);
	struct module_table table;
	struct modules *modules;
	uint8_t *at;
	bool found;
	int fd;

	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_phoff = sizeof(*header);
	header->e_phentsize = sizeof(*parts);
	header->e_phnum = 2;
	parts[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = ADDRESS, .p_filesz = sizeof(file)};
	parts[1] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
				.p_offset = HEADER_AT,
				.p_vaddr = ADDRESS + HEADER_AT};
	memcpy(file + HEADER_AT, kinds, 4);
	file[HEADER_AT + 8] = COUNT;
	put(file, sizeof(file));
	fd = open(path, O_RDONLY);
	at = mmap(NULL, sizeof(file), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	cr_assert_neq((void *)at, MAP_FAILED);
	modules = modules_open(getpid());
	cr_assert(modules_update(modules, 0));
	found = module_find_table(modules, (uint64_t)(uintptr_t)at + 100, &table);
	if (found) {
		cr_expect_eq(table.begin, (uint64_t)(uintptr_t)at);
		cr_expect_eq(table.end - table.begin, sizeof(file));
		cr_expect_eq(table.header, table.begin + HEADER_AT);
		cr_expect_eq(table.entries, table.header + 12);
		cr_expect_eq(table.entry_count, COUNT);
	}
	modules_close(modules);
	unlink(path); /* It stays mapped: its inode must not become the next file's. */
	return found;
}

Test(module, has_a_table_of_frames_only_in_the_form_that_is_read)
{
	uint8_t kinds[4] = {1, 0x1b, 0x03, 0x3b};

	cr_expect(finds_table(kinds));
	for (size_t i = 0; i < sizeof(kinds); i++) {
		kinds[i] ^= 2;
		cr_expect_not(finds_table(kinds), "byte %zu", i);
		kinds[i] ^= 2;
	}
}
