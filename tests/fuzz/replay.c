/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - the corpus without a fuzzer, for any compiler.
 *
 * usage: replay FOLDER|FILE...; prints the number of inputs, and the name of each with -v, so that
 * the last one is the one that crashed.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static int verbose;

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = malloc(1 << 22);
	size_t size;

	if (!file || !bytes) {
		perror(path);
		exit(2);
	}
	if (verbose)
		fprintf(stderr, "%s\n", path);
	size = fread(bytes, 1, 1 << 22, file);
	fclose(file);
	LLVMFuzzerTestOneInput(bytes, size);
	free(bytes);
	return 1;
}

static int replay(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int count = 0;

	if (!folder)
		return replay_file(path);
	while ((entry = readdir(folder))) {
		char name[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		count += replay_file(name);
	}
	closedir(folder);
	return count;
}

int main(int argc, char **argv)
{
	int count = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-v") == 0)
			verbose = 1;
		else
			count += replay(argv[i]);
	}
	printf("%d inputs\n", count);
	return count ? 0 : 2;
}
