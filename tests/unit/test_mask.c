/* SPDX-License-Identifier: Apache-2.0 */
/* What of a command line is recorded: no secret, and everything else as it was. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/mask.h"

#define HF  "hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567"
#define JWT "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N"

/* '|' stands between the arguments, and for itself nowhere. */
static const struct {
	const char *arguments;
	const char *expected;
} rows[] = {
	/* Options. */
	{"train.py|--api-key=X1", "train.py --api-key=***"},
	{"train.py|--api-key|X1|--lr|0.1", "train.py --api-key *** --lr 0.1"},
	{"train.py|--hf_token=X1", "train.py --hf_token=***"},
	{"train.py|-token|X1", "train.py -token ***"},
	{"train.py|--password=two words", "train.py --password=***"},
	{"train.py|--password|two words|x", "train.py --password *** x"},
	{"train.py|--password|123456", "train.py --password ***"},
	{"train.py|--wandbApiKey=X1", "train.py --wandbApiKey=***"},
	{"train.py|--APIKEY|X1", "train.py --APIKEY ***"},
	{"train.py|--db.passwd|X1", "train.py --db.passwd ***"},
	{"train.py|--client-secret=a,b;c", "train.py --client-secret=***"},
	{"train.py|--credentials|X1", "train.py --credentials ***"},
	{"train.py|--auth|user:X1", "train.py --auth ***"},
	{"train.py|--token|--verbose", "train.py --token --verbose"},
	{"train.py|--token", "train.py --token"},
	/* Assignments. */
	{"password=X1", "password=***"},
	{"env|WANDB_API_KEY=X1|python", "env WANDB_API_KEY=*** python"},
	{"train.py|logger.wandb.api_key=a,b", "train.py logger.wandb.api_key=***"},
	{"train.py|+auth.token=X1", "train.py +auth.token=***"},
	{"train.py|{api_key:X1,lr:1}", "train.py {api_key:***,lr:1}"},
	{"train.py|{\"api_key\": \"X 1\", \"lr\": 1}", "train.py {\"api_key\": ***, \"lr\": 1}"},
	{"x|{\\\"password\\\": \\\"X 1\\\", 2}", "x {\\\"password\\\": ***, 2}"},
	{"sh|-c|HF_TOKEN=X1 python train.py", "sh -c HF_TOKEN=*** python train.py"},
	{"sh|-c|PGPASSWORD='X 1' psql; ls", "sh -c PGPASSWORD=*** psql; ls"},
	{"x|host=db password=X1 user=joe", "x host=db password=*** user=joe"},
	{"x|AccountName=n;AccountKey=a/b==;Suffix=s", "x AccountName=n;AccountKey=***;Suffix=s"},
	/* Python's -c. */
	{"python|-c|import w; w.login(key='X 1'); t()",
	 "python -c import w; w.login(key=***); t()"},
	{"python|-c|api_key = b\"X 1\"\nrun()", "python -c api_key = ***\nrun()"},
	{"python|-c|os.environ[\"MY_TOKEN\"] = 'X1'", "python -c os.environ[\"MY_TOKEN\"] = ***"},
	{"python|-c|auth=('joe', 'X1'); go()", "python -c auth=***; go()"},
	{"python|-c|if token == old: go()", "python -c if token == old: go()"},
	{"python|-c|(password := 'X1')", "python -c (password := ***)"},
	/* URLs and headers. */
	{"x|https://joe:X1@host/path", "x https://***@host/path"},
	{"x|--proxy=http://X1@host:80", "x --proxy=http://***@host:80"},
	{"x|postgresql://joe:X1@db/jobs?sslmode=on", "x postgresql://***@db/jobs?sslmode=on"},
	{"x|https://host/a?lr=1&token=X1&b=2", "x https://host/a?lr=1&token=***&b=2"},
	{"x|https://host/a?X-Amz-Signature=X1&b", "x https://host/a?X-Amz-Signature=***&b"},
	{"curl|-H|Authorization: Bearer X1", "curl -H Authorization: ***"},
	{"curl|-H|X-Api-Key: X1", "curl -H X-Api-Key: ***"},
	{"x|bearer X1 y", "x bearer *** y"},
	{"x|Bearer|X1", "x Bearer ***"},
	/* Shapes. */
	{"x|" HF, "x ***"},
	{"x|--login|" HF "|y", "x --login *** y"},
	{"x|login(\"" HF "\")", "x login(\"***\")"},
	{"x|ghp_0123456789abcdef0123456789abcdef0123", "x ***"},
	{"x|github_pat_11AAAAAAA0abcdefghijkl_mnopqrstuvwxyz", "x ***"},
	{"x|sk-proj-Ab12Cd34Ef56Gh78-x", "x ***"},
	{"x|AKIAIOSFODNN7EXAMPLE", "x ***"},
	{"x|xoxb-123456789012-abcdef", "x ***"},
	{"x|glpat-aB3-dE5fGh7iJk9lMn1_", "x ***"},
	{"x|" JWT, "x ***"},
	{"x|-----BEGIN PRIVATE KEY-----\nX1\n", "x ***"},
	/* And these stay as they are. */
	{"x|--tokenizer=bert|--tokenizer|bert", "x --tokenizer=bert --tokenizer bert"},
	{"x|--max-tokens|512|--num_tokens=64", "x --max-tokens 512 --num_tokens=64"},
	{"x|--key-frames|3|--key_frames=all", "x --key-frames 3 --key_frames=all"},
	{"x|--pad-token|[PAD]|--eos_token_id=2", "x --pad-token [PAD] --eos_token_id=2"},
	{"x|data.caption_key=txt|--token_dropout=0.1|--use_auth_token=True",
	 "x data.caption_key=txt --token_dropout=0.1 --use_auth_token=True"},
	{"x|--image-key|jpg|--sort_key=length", "x --image-key jpg --sort_key=length"},
	{"x|--token|7|--use-auth|train.py", "x --token 7 --use-auth train.py"},
	{"x|--author|Ann|--keyboard=us|--monkey=1", "x --author Ann --keyboard=us --monkey=1"},
	{"x|--password-file|/etc/x|--key_path=k", "x --password-file /etc/x --key_path=k"},
	{"x|git@host:a/b|s3://bucket/key/x@2", "x git@host:a/b s3://bucket/key/x@2"},
	{"x|https://host:80/a@b|a:b", "x https://host:80/a@b a:b"},
	{"x|hf_transformers_cache|sk-learn-2", "x hf_transformers_cache sk-learn-2"},
	{"x|hf_dataset_ImageNet_2012_resized", "x hf_dataset_ImageNet_2012_resized"},
	{"x|-m|torch.distributed.run|a b", "x -m torch.distributed.run a b"},
	{"x||--lr=0.1|", "x  --lr=0.1"},
	{"x|--commit=0123456789abcdef0123456789abcdef01234567",
	 "x --commit=0123456789abcdef0123456789abcdef01234567"},
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

/* A command line of any length, read and kept to any length, holds no part of the secret. */
Test(mask, no_cut_leaves_a_part_of_a_secret)
{
	static const char *const secrets[] = {
		"x|--api-key|SECRETSECRETSECRETSECRET|--lr",
		"x|--api-key=SECRETSECRETSECRETSECRET|--lr",
		"x|https://joe:SECRETSECRETSECRETSECRET@host",
		"x|{\"password\": \"SECRET SECRET SECRET\"}",
		"x|hf_SECRET0SECRET1SECRET2SECRET3SECRET",
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
			}
		}
	}
}

/* Whatever the bytes are, nothing is read behind them: for the build with ASan. */
Test(mask, any_bytes)
{
	static const char letters[] = "a=:\"'\\ -_./@{}()[]&;,T\0\n?#s3key";
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
