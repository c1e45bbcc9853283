/* SPDX-License-Identifier: Apache-2.0 */
/* spin.cu - a kernel that takes as many microseconds as its grid has blocks, so its length is known. */
extern "C" __global__ void spin(void)
{
	unsigned long long begin, now;

	if (blockIdx.x)
		return;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
	do {
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	} while (now - begin < gridDim.x * 1000ull);
}
