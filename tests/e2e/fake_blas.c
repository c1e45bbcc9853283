/* SPDX-License-Identifier: Apache-2.0 */
/* fake_blas.c - as much of OpenBLAS as says how many threads it uses. */
static int threads = 7;

int scipy_openblas_get_num_threads64_(void)
{
	return threads;
}

void scipy_openblas_set_num_threads64_(int count)
{
	threads = count;
}
