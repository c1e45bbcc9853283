/* SPDX-License-Identifier: Apache-2.0 */
/* init.h - the end of a process, however it comes. */
#ifndef INIT_H
#define INIT_H

/* What is still to be recorded is, and the line is printed; once, whoever calls. */
void init_finish(void);

#endif
