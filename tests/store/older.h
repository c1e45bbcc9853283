/* SPDX-License-Identifier: Apache-2.0 */
/* older.h - SQL that takes from a database what later versions of the schema added. */
#pragma once

#define WITHOUT_16 "ALTER TABLE t_made DROP COLUMN object_count;"

#define WITHOUT_15 WITHOUT_16 "ALTER TABLE t_loader DROP COLUMN lacks_order;"

#define WITHOUT_14                                                                                 \
	WITHOUT_15                                                                                 \
	"DROP VIEW epoch; ALTER TABLE t_epoch DROP COLUMN sample_ns;"                              \
	"CREATE VIEW epoch AS SELECT epoch FROM t_epoch;"

#define WITHOUT_12                                                                                 \
	WITHOUT_14                                                                                 \
	"DROP VIEW batch; DROP VIEW epoch; ALTER TABLE t_epoch DROP COLUMN save_ns;"               \
	"ALTER TABLE t_batch DROP COLUMN before_ns; ALTER TABLE t_batch DROP COLUMN backward_ns;"  \
	"ALTER TABLE t_batch DROP COLUMN between_ns; ALTER TABLE t_batch DROP COLUMN optimizer_ns;"\
	"ALTER TABLE t_batch DROP COLUMN save_ns;"                                                 \
	"CREATE VIEW batch AS SELECT task FROM t_batch;"                                           \
	"CREATE VIEW epoch AS SELECT epoch FROM t_epoch;"

#define WITHOUT_11 WITHOUT_12 "DROP VIEW stage; DROP TABLE t_stage; DROP TABLE t_stage_sum;"

#define WITHOUT_10                                                                                 \
	WITHOUT_11                                                                                 \
	"DROP VIEW batch; DROP VIEW blocked; DROP VIEW thread; DROP VIEW process; DROP VIEW load;" \
	"DROP VIEW decode;"                                                                        \
	"DROP TABLE t_use; DROP TABLE t_thread; DROP TABLE t_made;"                                \
	"ALTER TABLE t_batch DROP COLUMN sample_ns;"                                               \
	"ALTER TABLE t_batch DROP COLUMN fetch_ns; ALTER TABLE t_batch DROP COLUMN fetch_cpu_ns;"  \
	"ALTER TABLE t_batch DROP COLUMN fetch_count; ALTER TABLE t_batch DROP COLUMN free_ns;"    \
	"CREATE VIEW process AS SELECT pid FROM t_process;"                                        \
	"CREATE VIEW load AS SELECT load_ns FROM t_batch;"                                         \
	"CREATE VIEW decode AS SELECT name FROM t_tally;"

#define WITHOUT_9                                                                                  \
	WITHOUT_10                                                                                 \
	"DROP VIEW frame; DROP VIEW stack; DROP VIEW doing;"                                       \
	"DROP TABLE t_frame; DROP TABLE t_stack; DROP TABLE t_doing;"

#define WITHOUT_8                                                                                  \
	WITHOUT_9                                                                                  \
	"DROP VIEW process; ALTER TABLE t_process DROP COLUMN exit_status;"

#define WITHOUT_7                                                                                  \
	WITHOUT_8                                                                                  \
	"DROP VIEW gpu_step; DROP VIEW gpu_kernel; DROP TABLE t_kernel;"                           \
	"ALTER TABLE t_gpu_step DROP COLUMN gpu_compute_ns;"                                       \
	"ALTER TABLE t_gpu_step DROP COLUMN gpu_loading_ns;"                                       \
	"CREATE VIEW gpu_step AS SELECT task FROM t_gpu_step;"

#define WITHOUT_6                                                                                  \
	WITHOUT_7                                                                                  \
	"DROP VIEW loader; DROP VIEW epoch; ALTER TABLE t_loader DROP COLUMN place;"               \
	"ALTER TABLE t_epoch DROP COLUMN tid; ALTER TABLE t_epoch DROP COLUMN nested;"             \
	"ALTER TABLE t_epoch DROP COLUMN stop_begin_ns; ALTER TABLE t_epoch DROP COLUMN stop_ns;"  \
	"CREATE VIEW loader AS SELECT loader_id FROM t_loader;"                                    \
	"CREATE VIEW epoch AS SELECT epoch FROM t_epoch;"
