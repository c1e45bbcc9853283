/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attend.h - a command that runs as our child as if it were us: it has the terminal, the process
 * group and the signals that others send to us, and we end as it did.
 */
#pragma once

/*
 * Runs it to its end. 0 and its status as waitpid() has it; -errno: it could not be started.
 * Until then signals to us only reach the command; from then on they end us as ever.
 */
int attend(char **command, int *ret_status);

/* Ends as the command did: by its status, or by the signal that ended it. */
_Noreturn void attend_end(int status);
