/* SPDX-License-Identifier: Apache-2.0 */
/* writer.h - our only thread in the host: sends CUPTI's records, and takes CUPTI back. */
#pragma once

int writer_start(void);

/* Fetches what CUPTI still has at the process's end, for at most two seconds. */
void writer_finish(void);
