/* SPDX-License-Identifier: Apache-2.0 */
/* linked.c - a program that is linked to the fake libjpeg and exports nothing. */
#include <stdio.h>

#include "fake.h"

int main(void)
{
	for (int i = 0; i < 3; i++)
		printf("%d\n", run(100));
	return 0;
}
