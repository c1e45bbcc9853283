/* SPDX-License-Identifier: Apache-2.0 */
/* host_stdio.c - calls of stdio's streams; see host_calls.c. */
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>

#include "host_calls.h"

static int scan(FILE *file, const char *format, ...)
{
	va_list values;
	int r;

	va_start(values, format);
	r = host_isoc99_vfscanf(file, format, values);
	va_end(values);
	return r;
}

static int old_scan(FILE *file, const char *format, ...)
{
	va_list values;
	int r;

	va_start(values, format);
	r = host_vfscanf(file, format, values);
	va_end(values);
	return r;
}

static int glibc_minor(void)
{
	return atoi(gnu_get_libc_version() + 2);
}

static int scan_23(FILE *file, const char *format, ...)
{
	va_list values;
	int r;

	va_start(values, format);
	r = host_isoc23_vfscanf(file, format, values);
	va_end(values);
	return r;
}

static void positions(FILE *file)
{
	fpos_t position;
	fpos64_t position64;
	char buffer[64];

	SHOW(fgetpos(file, &position));
	SHOW(fgetpos64(file, &position64));
	SHOW(fseek(file, 10, SEEK_SET));
	SHOW(fseek(file, -10, SEEK_SET));
	SHOW(fgetc(file));
	SHOW(fseeko(file, 4, SEEK_CUR));
	SHOW(fseeko64(file, -8, SEEK_END));
	SHOW(fgets(buffer, (int)seven, file) == buffer);
	show_text(buffer);
	SHOW(fsetpos(file, &position));
	SHOW(ftell(file));
	SHOW(fsetpos64(file, &position64));
	rewind(file);
	SHOW(ftello(file));
}

static void content(void)
{
	FILE *file = fopen("data", "r");
	unsigned long sum = 0;
	int c;

	while ((c = getc_unlocked(file)) != EOF)
		sum = sum * 31 + (unsigned long)c;
	rewind(file);
	while ((c = fgetc(file)) != EOF)
		sum = sum * 31 + (unsigned long)c;
	fclose(file);
	printf("sum %lx\n", sum);
}

/* Reads what is easily counted wrong: NULs in lines, a part of an element, and bytes put back.
 */
static void odd_streams(void)
{
	static const char text[] = "one\0two\nthree\0four";
	FILE *file = fopen("odd", "w+");
	char buffer[64] = {0}, elements[64] = {0};
	int number = 0;

	SHOW(fwrite(text, 1, sizeof(text) - 1, file));
	rewind(file);
	SHOW(fgets(buffer, sizeof(buffer), file) == buffer);
	SHOW(ftell(file));
	SHOW(buffer[5]);
	SHOW(fgets(buffer, (int)seven - 2, file) == buffer);
	SHOW(ftell(file));
	SHOW(fgets(buffer, (int)seven - 6, file) == buffer);
	SHOW(buffer[0]);
	SHOW(fgets(buffer, sizeof(buffer), file) == buffer);
	SHOW(ftell(file));
	SHOW(fgets(buffer, sizeof(buffer), file) == NULL);
	SHOW(fseek(file, -5, SEEK_END));
	SHOW(ungetc('4', file));
	SHOW(ungetc('2', file));
	SHOW(fread(elements, 4, 3, file));	/* gets one and a half elements of 4 bytes */
	show_text(elements);
	SHOW(feof(file));
	rewind(file);
	SHOW(fread(elements, 0, 3, file));
	SHOW(fread(elements, 3, 0, file));
	SHOW(fseek(file, 1000, SEEK_SET));
	SHOW(fgets(buffer, sizeof(buffer), file) == NULL);
	if (host_isoc23_fscanf && glibc_minor() >= 38) {
		host_isoc23_fscanf(file, "%i", &number);
		scan_23(file, "%i", &number);
	}
	SHOW(fclose(file));
}

void host_streams(void)
{
	FILE *file = fopen("data", "r"), *other;
	char buffer[64] = {0}, word[32] = {0}, *line = NULL;
	size_t room = 0;
	int number = 0;

	SHOW(file != NULL);
	SHOW(fread(buffer, 1, seven, file));
	show_text(buffer);
	SHOW(fread(buffer, seven, 3, file));
	SHOW(fread_unlocked(buffer, 1, seven, file));
	show_text(buffer);
	SHOW(fgets(buffer, (int)seven + 3, file) == buffer);
	show_text(buffer);
	SHOW(fgets_unlocked(buffer, (int)seven, file) == buffer);
	show_text(buffer);
	SHOW(getline(&line, &room, file));
	show_text(line);
	SHOW(host_getline(&line, &room, file));
	show_text(line);
	SHOW(getdelim(&line, &room, '4', file));
	show_text(line);
	SHOW(host_getdelim(&line, &room, '\n', file));
	show_text(line);
	SHOW(host_isoc99_fscanf(file, "%31s %d", word, &number));
	show_text(word);
	SHOW(number);
	SHOW(host_fscanf(file, "%31s %d", word, &number));
	SHOW(number);
	SHOW(scan(file, "%31s", word));
	show_text(word);
	SHOW(old_scan(file, "%d %d", &number, &number));
	positions(file);
	SHOW(fgetc(file));
	SHOW(getc_unlocked(file));
	SHOW(ungetc('x', file));
	SHOW(fgetc(file));
	SHOW(host_underflow(file));
	SHOW(host_uflow(file));
	SHOW(fseek(file, 0, SEEK_END));
	SHOW(fgets(buffer, (int)seven, file) == NULL);
	SHOW(feof(file));
	SHOW(getline(&line, &room, file));
	SHOW(fread(buffer, 1, 0, NULL)); /* glibc looks at the size before the stream */
	SHOW(fread(buffer, 1, seven, file));
	SHOW((other = freopen("data", "r", file)) == file);
	SHOW(fgetc(file));
	SHOW((other = freopen64("data", "r", file)) == file);
	SHOW(fgetc(file));
	SHOW(fclose(file));
	SHOW((file = fopen64("data", "rb")) != NULL);
	SHOW(fileno(file) >= 0);
	SHOW(fclose(file));
	/* A preload that prints would print in the child too, before pclose() returns. */
	file = popen("exit 3", "w");
	SHOW(pclose(file));
	SHOW(fopen("absent", "r") == NULL);
	SHOW(fopen("data", "?") == NULL);
	SHOW((file = fdopen(open("data", O_RDONLY), "r")) != NULL);
	SHOW(fread(buffer, 1, seven, file));
	SHOW(fclose(file));
	SHOW(fdopen(99, "r") == NULL);
	SHOW((file = fopen("made", "w")) != NULL);
	SHOW(fgetc(file));
	SHOW(fread(buffer, 1, seven, file));
	SHOW(fputs("text", file));
	SHOW(fclose(file));
	file = fopen("/dev/full", "w");
	fputs("text", file);
	SHOW(fclose(file));
	free(line);
	content();
	odd_streams();
}
