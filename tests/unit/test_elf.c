/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the search for functions in loaded modules: against dlsym(), and on a module whose names do
 * not end. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

#include "decode/image.h"
#include "slots/elf.h"
#include "slots/next.h"

int next_door(void);

static int find_libc(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	return elf_open(data, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) == 0;
}

Test(elf, finds_what_dlsym_finds)
{
	static const char *const names[] = {"getpid", "puts", "qsort", "setvbuf", "getenv"};
	struct elf_module libc;

	cr_assert(dl_iterate_phdr(find_libc, &libc));
	cr_expect_str_eq(libc.soname, "libc.so.6");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_expect_eq(elf_function(&libc, names[i], elf_hash(names[i])),
			     dlsym(RTLD_DEFAULT, names[i]), "%s", names[i]);
	cr_expect_null(elf_function(&libc, "no_such_name", elf_hash("no_such_name")));
	/* Data is no function. */
	cr_expect_null(elf_function(&libc, "environ", elf_hash("environ")));
}

static const char *const hooks[] = {
#define HOOK(family, nr, type, name, params, args) #name,
#define HOOK_BY_HAND(nr, type, name, params, args) #name,
#define HOOK_VARIADIC				   HOOK_BY_HAND
#include "hooks/hooks.def"
};

/* libc has several versions of these; before glibc 2.36 dlsym(RTLD_NEXT) found the oldest one. */
static bool is_versioned(const char *name)
{
	return strncmp(name, "pthread_cond_", 13) == 0 || strncmp(name, "lio_listio", 10) == 0;
}

/* Names of next_door.c for which only dlsym() gives the right answer. */
static bool is_odd(const char *name)
{
	return strcmp(name, "creat64") == 0 || strcmp(name, "scandir") == 0 ||
	       strcmp(name, "lstat64") == 0;
}

Test(next, finds_what_dlsym_finds_next)
{
	static struct next_scope scope;
	size_t found_count = 0;

	cr_assert_eq(next_door(), 1);
	next_open(&scope, (const void *)(uintptr_t)dlsym);
	cr_assert_gt(scope.count, 1);
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		void *found = next_function(&scope, hooks[i]);

		if (is_odd(hooks[i]))
			cr_expect_null(found, "%s", hooks[i]);
		else if (!is_versioned(hooks[i]))
			cr_expect_eq(found, dlsym(RTLD_NEXT, hooks[i]), "%s", hooks[i]);
		found_count += found != NULL;
	}
	cr_expect_gt(found_count, 130);
	cr_expect_eq(((int (*)(void))next_function(&scope, "readahead"))(), 2);
	cr_expect_eq(((int (*)(void))next_function(&scope, "dup3"))(), 3);
}

Test(next, says_nothing_without_the_last)
{
	static struct next_scope scope;
	static const char nowhere;

	next_open(&scope, &nowhere);
	cr_expect_eq(scope.count, 0);
	cr_expect_null(next_function(&scope, "read"));
}

/* Makes a module of one page, whose last bytes are its names; behind it nothing is mapped. */
static int open_page(struct elf_module *module, const char *names, size_t size)
{
	static ElfW(Phdr) headers[2];
	uint8_t *page =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ElfW(Dyn) *dynamic = (ElfW(Dyn) *)page;
	ElfW(Sym) *symbols = (ElfW(Sym) *)(page + 512);
	uint32_t *hash = (uint32_t *)(page + 1024);

	cr_assert_neq(page, MAP_FAILED);
	cr_assert_eq(mprotect(page + 4096, 4096, PROT_NONE), 0);
	headers[0] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_memsz = 4096};
	headers[1] = (ElfW(Phdr)){.p_type = PT_DYNAMIC, .p_memsz = 512};
	dynamic[0] = (ElfW(Dyn)){.d_tag = DT_SYMTAB, .d_un.d_ptr = 512};
	dynamic[1] = (ElfW(Dyn)){.d_tag = DT_STRTAB, .d_un.d_ptr = 4096 - size};
	dynamic[2] = (ElfW(Dyn)){.d_tag = DT_STRSZ, .d_un.d_val = 1 << 20};
	dynamic[3] = (ElfW(Dyn)){.d_tag = DT_HASH, .d_un.d_ptr = 1024};
	symbols[1].st_name = 0;
	symbols[2].st_name = 3;
	hash[1] = 3;
	memcpy(page + 4096 - size, names, size);
	return elf_open(module, (uintptr_t)page, headers, 2);
}

Test(elf, a_name_ends_within_the_module)
{
	struct elf_module module;

	cr_assert_eq(open_page(&module, "ab\0de", 5), 0);
	cr_expect_str_eq(elf_name(&module, 1), "ab");
	cr_expect_null(elf_name(&module, 2));
	cr_expect_null(elf_name(&module, 3));
	cr_expect_eq(elf_find(&module, "ab", elf_hash("ab")), 1);
	cr_expect_eq(elf_find(&module, "de", elf_hash("de")), 0);
}

Test(elf, a_module_without_an_end_of_any_name_has_none)
{
	struct elf_module module;

	cr_expect_neq(open_page(&module, "abcde", 5), 0);
}

/* Looks at every beginning of a file, placed right before a page that may not be read. */
static void sniff(const char *format, uint32_t width, uint32_t height, const void *data,
		  size_t size)
{
	uint8_t *pages =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct image image;

	cr_assert_eq(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	for (size_t cut = 0; cut <= size; cut++) {
		memcpy(pages + 4096 - cut, data, cut);
		image = image_sniff(pages + 4096 - cut, cut);
		cr_expect(image.width == 0 || image.width == width, "%s cut to %zu", format, cut);
	}
	cr_expect_str_eq(image.format, format);
	cr_expect_eq(image.width, width, "%s", format);
	cr_expect_eq(image.height, height, "%s", format);
}

Test(image, size_and_format_from_the_first_bytes)
{
	sniff("JPEG", 300, 200,
	      "\xff\xd8\xff\xe0\0\x08"
	      "JFIFxx\xff\xff\xc4\0\x04"
	      "ab\xff\xc2\0\x11\x08\0\xc8\x01\x2c",
	      30);
	sniff("PNG", 1000, 70000, "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x03\xe8\0\x01\x11\x70", 24);
	sniff("WebP", 300, 200, "RIFFxxxxWEBPVP8 xxxx\x30\x01\x00\x9d\x01\x2a\x2c\x01\xc8\x00", 30);
	sniff("WebP", 300, 200, "RIFFxxxxWEBPVP8Xxxxx\0\0\0\0\x2b\x01\x00\xc7\x00\x00", 30);
	/* width and height less 1, 299 and 199, in 14 bits each */
	sniff("WebP", 300, 200, "RIFFxxxxWEBPVP8Lxxxx\x2f\x2b\xc1\x31\x00xxxxx", 30);
	sniff("TIFF", 0, 0, "II*\0xxxxxxxxxxxx", 16);
	cr_expect_null(image_sniff("something else, and long enough", 31).format);
	cr_expect_str_eq(image_of_path("/data/a.b/c.JPEG"), "JPEG");
	cr_expect_null(image_of_path("/data/a.jpg/c"));
	cr_expect_null(image_of_path(NULL));
	cr_expect_str_eq(image_spelling("WEBP"), "WebP");
	cr_expect_str_eq(image_spelling("MPO"), "MPO");
}
