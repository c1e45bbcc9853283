/* SPDX-License-Identifier: Apache-2.0 */
/* no_lock.c - makes any CPython look like one without the global interpreter lock. */
int PyUnstable_Module_SetGIL(void *module, void *gil);
int PyUnstable_Module_SetGIL(void *module, void *gil)
{
	(void)module;
	(void)gil;
	return -1;
}
