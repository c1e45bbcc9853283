/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded command line has no secret, and nearly all other words unchanged. */
#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mask.h"

/* Arguments, with '|' between them, and the masked text. */
static const struct {
	const char *arguments;
	const char *expected;
} rows[] = {
	/* Secrets with a name, in every form of options and assignments. */
	{"train.py|--api-key=X1", "train.py --api-key=***"},
	{"train.py|--api-key|X1|--lr|0.1", "train.py --api-key *** --lr 0.1"},
	{"train.py|-token|X1", "train.py -token ***"},
	{"train.py|--passwords|two words|x|--lr|1", "train.py --passwords *** *** --lr 1"},
	{"train.py|--token|--verbose", "train.py --token --verbose"},
	{"train.py|--password|--verbose|x", "train.py --password *** ***"},
	{"train.py|--token", "train.py --token"},
	{"train.py|--token=||--|X1|-X2|--lr|1", "train.py --token= *** *** *** *** --lr 1"},
	{"env|WANDB_API_KEY=X1|python", "env WANDB_API_KEY=*** python"},
	{"train.py|+auth.token=X1", "train.py +auth.token=***"},
	{"train.py|{api_key:X1,lr:1}", "train.py {api_key:***"},
	{"train.py|[\"--token\",\"X1\"]", "train.py [\"--token\"***"},
	{"sh|-c|HF_TOKEN=X1 python train.py", "sh -c HF_TOKEN=***"},
	{"curl|-H|Authorization: Bearer X1", "curl -H Authorization: ***"},
	{"x|-u|a:X1|-p|X1|-pX1", "x -u *** -p *** ***"},
	{"x|--user|joe|-u|train.py|-p|8080|data", "x --user joe -u train.py -p 8080 data"},
	/* A short number or a boolean is no token or key, but may be a password or a pin. */
	{"x|--max_tokens|512|--pad_token_id=0|y", "x --max_tokens 512 --pad_token_id=0 y"},
	{"x|--use_auth_token=False|--token=falsely", "x --use_auth_token=False --token=***"},
	{"x|--token_dropout|1e-4|--use_auth_token|True",
	 "x --token_dropout 1e-4 --use_auth_token True"},
	{"x|--max_tokens|1048576|--token=truest", "x --max_tokens *** --token=***"},
	{"x|--password|512|--pin=0|--secret|true", "x --password *** --pin=*** --secret ***"},
	{"x|--passwords|a|512|--key|a|512", "x --passwords *** *** --key *** 512"},
	/* Words that look like a secret's name, and are none. */
	{"x|--tokenizer|bert|--tokeniser-type=bpe", "x --tokenizer bert --tokeniser-type=bpe"},
	{"x|--pin_memory|cuda|--pin-mem|data.pinMemory=x",
	 "x --pin_memory cuda --pin-mem data.pinMemory=x"},
	{"x|--author|Ann|--keyboard=us", "x --author Ann --keyboard=us"},
	{"x|--passes|3|--passenger=a|--tokenId|b", "x --passes 3 --passenger=a --tokenId ***"},
	{"x|/data/tokens/a|input_ids,token_ids,b|c", "x /data/tokens/a input_ids,token_ids,b c"},
	{"x|/run/secrets/key|c", "x /run/secrets/key c"},
	/* Values without a secret's name: the plain parts of paths and of "name=value" stay. */
	{"/opt/kq7ZxW8vNp2LcYb/bin/python|a", "/opt/***/bin/python a"},
	{"x|data.root=../kq7ZxW8vNp2LcYb/a", "x data.root=../***/a"},
	{"x|a/kq7ZxW8vNp2LcYb/b|lr=kq7ZxW8vNp2LcYb", "x *** lr=***"},
	{"x|https://host:80/a/b|https://host/a?b=c", "x https://host:80/a/b ***"},
	{"x|ftp://u:a=b@h|--url=//u:a/b@h", "x *** --url=***"},
	{"x|--proxy=http://joe@host|git@host:a/b", "x --proxy=*** ***"},
	{"x|3.141592653589793|-1|+5|1,2|0:3|[0.9,0.98]|50%",
	 "x 3.141592653589793 -1 +5 1,2 0:3 [0.9,0.98] 50%"},
	{"x|it's|a&b|a;b|a$b|f(x)|a\nb", "x *** *** *** *** *** ***"},
	{"x|a dog (of 3)|-c|import os; run()", "x a dog (of 3) -c ***"},
	{"x|/home/j\xc3\xb6rg/\xe6\x95\xb0\xe6\x8d\xae",
	 "x /home/j\xc3\xb6rg/\xe6\x95\xb0\xe6\x8d\xae"},
	{"x||--lr=0.1|", "x  --lr=0.1"},
};

/* Command lines with '^' in place of a secret, and command lines of trainings. */
#define NAMED(arguments)          {arguments, NULL},
#define SHAPED(arguments, secret) {arguments, secret},
static const struct attack {
	const char *arguments;
	const char *secret;
} attacks[] = {
#include "mask_attacks.def"
};

#define LINE(words) words,
static const char *const lines[] = {
#include "mask_lines.def"
};

static size_t with_zeros(char *buffer, const char *arguments)
{
	size_t length = strlen(arguments);

	memcpy(buffer, arguments, length + 1);
	for (size_t i = 0; i < length; i++)
		if (buffer[i] == '|')
			buffer[i] = '\0';
	return length + 1;
}

Test(mask, each_row)
{
	char arguments[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t size = with_zeros(arguments, rows[i].arguments);
		TEXT(out, 1024);

		mask_arguments(&out, arguments, size, false);
		cr_expect_str_eq(out.buffer, rows[i].expected, "%s", rows[i].arguments);
	}
}

/* Writes the arguments with the secret in place of '^'. */
static void plant(char *buffer, size_t size, const char *arguments, const char *secret)
{
	const char *place = strchr(arguments, '^'), *again = strchr(place + 1, '^');
	size_t first = (size_t)(place - arguments);

	if (again)
		snprintf(buffer, size, "%.*s%s%.*s%s%s", (int)first, arguments, secret,
			 (int)(again - place - 1), place + 1, secret, again + 1);
	else
		snprintf(buffer, size, "%.*s%s%s", (int)first, arguments, secret, place + 1);
}

/* Returns the first four or more letters and digits in a row of a secret that `text` has. */
static const char *part_shown(const char *text, const char *secret)
{
	static char part[128];

	for (const char *at = secret; *at; at += *at != '\0') {
		size_t length = 0;

		while (isalnum((unsigned char)at[length]))
			length++;
		snprintf(part, sizeof(part), "%.*s", (int)length, at);
		if (length >= 4 && strstr(text, part))
			return part;
		at += length;
	}
	return NULL;
}

Test(mask, no_attack_finds_its_secret)
{
	static const char *const secrets[] = {"hunter", "S3cr3tXy9", "zebra-crossing",
					      "hunter house", "4dRzk/xQ9Lm+w0Vv=="};
	char planted[512], arguments[512];

	cr_assert(sizeof(attacks) / sizeof(attacks[0]) >= 108);
	for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++) {
		const char *only = attacks[i].secret;

		for (size_t s = 0; s < (only ? 1 : sizeof(secrets) / sizeof(secrets[0])); s++) {
			const char *secret = only ? only : secrets[s];
			TEXT(out, 1024);

			plant(planted, sizeof(planted), attacks[i].arguments, secret);
			mask_arguments(&out, arguments, with_zeros(arguments, planted), false);
			cr_expect(strstr(out.buffer, "***"), "%s: %s", planted, out.buffer);
			cr_expect(!part_shown(out.buffer, secret), "%s: %s", planted, out.buffer);
		}
	}
}

/* Splits a line at its spaces, except within quotes, which are left out. */
static size_t split(char *buffer, const char *line)
{
	bool quoted = false;
	char *out = buffer;

	for (; *line; line++) {
		if (*line == '"')
			quoted = !quoted;
		else
			*out++ = *line == ' ' && !quoted ? '\0' : *line;
	}
	*out++ = '\0';
	return (size_t)(out - buffer);
}

Test(mask, trainings_stay_readable)
{
	size_t words = 0, hidden = 0;
	char arguments[1024];

	cr_assert(sizeof(lines) / sizeof(lines[0]) >= 60);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		size_t size = split(arguments, lines[i]);
		TEXT(out, 1024);

		mask_arguments(&out, arguments, size, false);
		for (const char *word = arguments, *at = out.buffer; word < arguments + size;
		     word += strlen(word) + 1, words++) {
			size_t length = strlen(word);

			if (strncmp(at, word, length) == 0 && (at[length] == ' ' || !at[length])) {
				at += length;
			} else {
				hidden++;
				cr_log_info("%s: %s", lines[i], word);
				at += strcspn(at, " ");
			}
			at += *at == ' ';
		}
	}
	/* Wrongly hidden are values of keys and tokens ("filepath", "[PAD]"), numbers of more than
	 * six digits after "token", parts of paths and names that look random (laion2b_s34b_b79k,
	 * a commit), calls, and values of names with "pass" in them. */
	cr_expect(words > 1100, "%zu", words);
	cr_expect(hidden <= 27, "%zu of %zu", hidden, words);
}

/* Wherever a command line is cut when it is read or kept, no part of the secret is left. */
Test(mask, no_cut_leaves_a_part_of_a_secret)
{
	static const char *const secrets[] = {
		"x|--api-key|SECRETSECRETSECRETSECRET|--lr",
		"x|--api-key=SECRETSECRETSECRETSECRET|--lr",
		"x|https://joe:SECRETSECRETSECRETSECRET@host",
		"x|{\"password\": \"SECRET SECRET SECRET\"}",
		"x|hf_SECRET0SECRET1SECRET2SECRET3SECRET",
		"x|a S3CRET1SECRET2 b",
	};
	char arguments[512];

	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
		size_t size = with_zeros(arguments, secrets[i]);

		for (size_t read = 0; read <= size; read++) {
			char buffer[64];
			struct text out;

			for (size_t room = 1; room <= sizeof(buffer); room++) {
				text_init(&out, buffer, room);
				mask_arguments(&out, arguments, read, read < size);
				cr_expect(!strstr(buffer, "SEC"), "%zu, %zu: %s", read, room,
					  buffer);
				cr_expect(out.cut || read == size ||
						  (out.length >= 3 &&
						   !strcmp(buffer + out.length - 3, "...")),
					  "%s", buffer);
			}
		}
	}
}

/* Masks random bytes: the build with ASan finds reads behind them. */
Test(mask, any_bytes)
{
	static const char letters[] = "a=:\"'\\ -_./@{}()[]&;,T\0\n?#s3keypau~+%\xc3";
	uint32_t seed = 1;

	for (int round = 0; round < 20000; round++) {
		size_t size = 1 + (seed >> 8) % 40;
		char *arguments = malloc(size);
		TEXT(out, 64);

		for (size_t i = 0; i < size; i++) {
			seed = seed * 1664525 + 1013904223;
			arguments[i] = letters[(seed >> 16) % sizeof(letters)];
		}
		mask_arguments(&out, arguments, size, seed >> 31);
		cr_expect(out.length < 64);
		free(arguments);
	}
}
