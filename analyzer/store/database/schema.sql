-- schema.sql - everything a dlprof database holds. Tables are ours; the views are the promise.
-- Times: nanoseconds of CLOCK_MONOTONIC. Sizes: bytes. NULL: not observed, never 0.
-- user_version and application_id are set by schema.c.

CREATE TABLE t_meta (
	key TEXT PRIMARY KEY,
	value TEXT
) WITHOUT ROWID;

CREATE TABLE t_process (
	pid INTEGER NOT NULL,
	-- Tells two lives of one pid apart: when this one began to record, in ns. In older runs, when
	-- the process was made, in ticks.
	start_ticks INTEGER NOT NULL,
	ppid INTEGER,
	role TEXT NOT NULL,		-- main, worker, pin, other
	worker_id INTEGER,
	loader_id INTEGER,
	stream INTEGER,			-- of a worker: whose it is, until its loader is known
	start_ns INTEGER,		-- when it began to record
	end_ns INTEGER,			-- when it was seen to be gone, else when it began to exit
	-- 'clean': ran its destructors; 'gone': did not; 'exec': became another program; NULL: alive
	exit TEXT,
	command TEXT,
	exit_status INTEGER,		-- as waitpid() has it; NULL: not known; since version 8
	PRIMARY KEY (pid, start_ticks)
) WITHOUT ROWID;

-- What a process used while it made loads, as the drain saw it from outside. Since version 10.
CREATE TABLE t_use (
	pid INTEGER NOT NULL,
	start_ticks INTEGER NOT NULL,	-- as in t_process
	-- Mean number of its threads that ran, or could have run and had no core, in thousandths: of a
	-- worker while it made loads, of others at all times.
	runnable_milli INTEGER,
	cores_allowed INTEGER,		-- by its own affinity mask
	-- Memory that is no other process's, the pages that it wrote since it was forked included:
	-- after its first load or batch, and at the last look.
	private_begin_bytes INTEGER,
	private_end_bytes INTEGER,
	major_faults INTEGER,		-- since its first load or batch; mapped files have them, too
	swapped_bytes INTEGER,		-- the most at any look
	PRIMARY KEY (pid, start_ticks)
) WITHOUT ROWID;

-- The busiest threads of the processes that take batches. Since version 10.
CREATE TABLE t_thread (
	pid INTEGER NOT NULL,
	tid INTEGER NOT NULL,
	name TEXT NOT NULL,		-- as the kernel has it: up to 15 bytes
	cpu_ns INTEGER NOT NULL,	-- since the process had its first batch
	PRIMARY KEY (pid, tid)
) WITHOUT ROWID;

CREATE TABLE t_loader (
	loader_id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,
	-- Of the loader within its process, counted from when the life began that made it, in ns. In
	-- older runs, from 1.
	number INTEGER NOT NULL,
	kind TEXT,
	workers INTEGER,
	prefetch_factor INTEGER,
	in_order INTEGER,
	persistent INTEGER,
	batch_size INTEGER,
	theta_ns INTEGER,		-- a longer wait starves the consumer (analysis/account/stall.h)
	place TEXT,			-- where the program makes it: "train.py:41 in main"; since version 6
	UNIQUE (pid, number)
);

CREATE TABLE t_epoch (
	loader_id INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	begin_ns INTEGER,		-- DataLoader.__iter__ was entered
	setup_ns INTEGER,		-- and took this long (it starts the workers)
	stream INTEGER,			-- as in event.h, so that a drain that is started anew can
	generation INTEGER,		-- tell which epoch a record belongs to
	-- Since version 6. tid: the thread that asked; nested: its waits lie within another wait of that
	-- thread; stop_begin_ns, stop_ns: the call that ended it, workers being shut down included.
	tid INTEGER,
	nested INTEGER,
	stop_begin_ns INTEGER,
	stop_ns INTEGER,
	save_ns INTEGER,		-- saving checkpoints after that call; since version 12
	PRIMARY KEY (loader_id, epoch)
) WITHOUT ROWID;

-- One row per task: what a worker did for it and how it was delivered. `batch` is the ordinal of
-- delivery in the epoch; NULL: loaded, never delivered.
CREATE TABLE t_batch (
	loader_id INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	task INTEGER NOT NULL,
	batch INTEGER,
	begin_ns INTEGER,
	wait_ns INTEGER,
	receive_ns INTEGER,
	-- Since version 10. sample_ns: of the wait, choosing samples in the training's thread. fetch_*:
	-- asking workers for the descriptors of tensors, within receiving; of a thread that pins memory,
	-- since the batch before. free_ns: just after it was handed out, freeing the memory of an older
	-- one: waited, and no part of wait_ns, nor of compute_ns.
	sample_ns INTEGER,
	fetch_ns INTEGER,
	fetch_cpu_ns INTEGER,
	fetch_count INTEGER,
	free_ns INTEGER,
	step_ns INTEGER,
	compute_ns INTEGER,
	-- Since version 12. Parts of compute_ns: before a backward pass, in it, between it and the
	-- optimizer, in that, saving checkpoints. The rest came after. NULL: no part of it was seen.
	before_ns INTEGER,
	backward_ns INTEGER,
	between_ns INTEGER,
	optimizer_ns INTEGER,
	save_ns INTEGER,
	worker_id INTEGER,
	ready_ns INTEGER,
	head_ready INTEGER,
	qdepth INTEGER,
	hol_ns INTEGER,
	h2d_ns INTEGER,
	h2d_bytes INTEGER,
	gpu_busy_ns INTEGER,
	gpu_idle_wait_ns INTEGER,
	pid INTEGER,
	load_begin_ns INTEGER,
	load_ns INTEGER,
	collate_ns INTEGER,
	transfer_ns INTEGER,
	blocked_ns INTEGER,
	cpu_ns INTEGER,
	samples INTEGER,
	open_count INTEGER,
	open_ns INTEGER,
	read_count INTEGER,
	read_bytes INTEGER,
	read_ns INTEGER,
	storage_bytes INTEGER,
	decode_count INTEGER,
	decode_ns INTEGER,
	decode_bytes INTEGER,
	PRIMARY KEY (loader_id, epoch, task)
) WITHOUT ROWID;

-- What some loads made, one in 16. Since version 10.
CREATE TABLE t_made (
	loader_id INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	task INTEGER NOT NULL,
	tensor_count INTEGER,
	batch_bytes INTEGER,		-- of its tensors, arrays and strings
	PRIMARY KEY (loader_id, epoch, task)
) WITHOUT ROWID;

-- Stages of loaders that are made of such (tf.data, DALI), and kernels: operations that a stage calls
-- for an element. number, parent: of the stage in its process, as that of t_loader. Since version 11.
CREATE TABLE t_stage (
	stage_id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,
	number INTEGER NOT NULL,
	parent INTEGER,			-- takes its elements; of a kernel: calls it, where that is known
	kernel INTEGER,
	root INTEGER,			-- the training asks this one
	autotuned INTEGER,		-- the framework itself changes parallel and capacity
	parallel INTEGER,		-- calls at once that are asked for
	capacity INTEGER,		-- elements that its queue may hold; inputs that it has open
	threads INTEGER,		-- of a root: in the pool that the pipeline runs in
	name TEXT,
	kind TEXT,			-- view stage
	UNIQUE (pid, number)
);

-- What a stage did in a window of time, in which the batches of one epoch of a loader were asked for;
-- NULL: of several. busy_ns: in calls of it, over all threads; own_ns: without the stages and kernels that
-- it called itself. Since version 11.
CREATE TABLE t_stage_sum (
	stage_id INTEGER NOT NULL,
	begin_ns INTEGER NOT NULL,
	window_ns INTEGER NOT NULL,
	loader_id INTEGER,
	epoch INTEGER,
	elements INTEGER,
	busy_ns INTEGER,
	own_ns INTEGER,
	cpu_ns INTEGER,			-- of own_ns
	read_ns INTEGER,		-- of own_ns: opening and reading files
	ready INTEGER,			-- elements of a queue, summed over when it was asked
	PRIMARY KEY (stage_id, begin_ns)
) WITHOUT ROWID;

-- What the GPU did in the step of a batch, [begin_ns, begin_ns + step_ns). Busy: it runs a kernel or
-- graph. Of several devices of a process, busy time and gaps are the mean of those that get data
-- from the host (t_gpu_device), all else is of all of them. The gaps are all the rest of the step, each nanosecond in one
-- of them: gap_data + gap_h2d + gap_sync + gap_host + gap_other = step_ns - gpu_busy_ns. In the order in
-- which they are asked: the training thread waited for this batch; something was copied to the
-- device; the host had waited for the GPU, which ran dry by that; the host did not launch for
-- more than 10 us; else. Where only the host was seen (meta cuda_mode = cudart) what the GPU
-- alone knows is NULL, and kernel_count counts launches. Since version 3.
CREATE TABLE t_gpu_step (
	loader_id INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	task INTEGER NOT NULL,
	kernel_count INTEGER,
	graph_count INTEGER,
	memset_ns INTEGER,
	d2h_ns INTEGER,
	d2h_bytes INTEGER,
	h2d_pageable_bytes INTEGER,
	nccl_ns INTEGER,		-- of collectives, part of gpu_busy_ns
	gpu_compute_ns INTEGER,		-- part of gpu_busy_ns with more than collectives; since version 7
	gpu_loading_ns INTEGER,		-- kernels of a GPU loader, no part of gpu_busy_ns; since version 7
	sync_event_ns INTEGER,		-- the host was blocked, sums over its threads
	sync_stream_ns INTEGER,
	sync_context_ns INTEGER,
	gap_data_ns INTEGER,		-- the same as t_batch.gpu_idle_wait_ns
	gap_h2d_ns INTEGER,
	gap_sync_ns INTEGER,
	gap_host_ns INTEGER,
	gap_other_ns INTEGER,
	PRIMARY KEY (loader_id, epoch, task)
) WITHOUT ROWID;

-- The same of each device, where a process drives more than one. fed: it gets data from the host;
-- idle_wait_ns: it was idle while the training thread waited for this batch; peer_bytes: copied
-- between it and others. Since version 5.
CREATE TABLE t_gpu_device (
	loader_id INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	task INTEGER NOT NULL,
	device INTEGER NOT NULL,
	fed INTEGER NOT NULL,
	busy_ns INTEGER,
	idle_wait_ns INTEGER,
	kernel_count INTEGER,
	graph_count INTEGER,
	h2d_bytes INTEGER,
	peer_bytes INTEGER,
	PRIMARY KEY (loader_id, epoch, task, device)
) WITHOUT ROWID;

-- How long the host's threads were in calls of CUDA in the step of a batch, at the level api: the
-- thread that fetches the batches, and all others together. Calls that wait for the GPU; that copy,
-- which wait as well where the memory is pageable (loss.item()); that launch. Since version 5.
CREATE TABLE t_gpu_call (
	loader_id INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	task INTEGER NOT NULL,
	sync_ns INTEGER,
	copy_ns INTEGER,
	launch_ns INTEGER,
	launch_count INTEGER,
	other_sync_ns INTEGER,
	other_copy_ns INTEGER,
	other_launch_ns INTEGER,
	other_launch_count INTEGER,
	PRIMARY KEY (loader_id, epoch, task)
) WITHOUT ROWID;

-- Names of kernels; id: the class of the tally of the kind `kernel`. Since version 7.
CREATE TABLE t_kernel (id INTEGER PRIMARY KEY, symbol TEXT NOT NULL, name TEXT NOT NULL);

-- Totals by name. `live`: as one slot of one segment has them now, overwritten again and again; once
-- its process is over they are added to `total` and the segment is noted in `folded`, so that a
-- drain that is started anew does not add them twice. kind: decode, step, file, folder,
-- sample, kernel, wait.
CREATE TABLE t_live (
	segment TEXT NOT NULL,
	slot INTEGER NOT NULL,
	place INTEGER NOT NULL,
	kind TEXT NOT NULL,
	name TEXT NOT NULL,		-- library, step, path, other side of a wait
	detail TEXT NOT NULL,		-- format, module, dataset, kind of a wait
	class INTEGER NOT NULL,		-- width class, index of the sample, id of the kernel
	count INTEGER NOT NULL,
	ns INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	pixels INTEGER NOT NULL,	-- of libraries that unpack, whose class is 0: bytes
	slowest_ns INTEGER NOT NULL,
	error_ns INTEGER NOT NULL,	-- so much of ns may belong to others
	PRIMARY KEY (segment, slot, place)
) WITHOUT ROWID;

CREATE TABLE t_total (
	kind TEXT NOT NULL,
	name TEXT NOT NULL,
	detail TEXT NOT NULL,
	class INTEGER NOT NULL,
	count INTEGER NOT NULL,
	ns INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	pixels INTEGER NOT NULL,
	slowest_ns INTEGER NOT NULL,
	error_ns INTEGER NOT NULL,
	PRIMARY KEY (kind, name, detail, class)
) WITHOUT ROWID;

CREATE TABLE t_folded (segment TEXT PRIMARY KEY) WITHOUT ROWID;

-- What is not listed under `kind` took no more than this, each.
CREATE TABLE t_unlisted (kind TEXT PRIMARY KEY, ns INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE t_slow (ts_ns INTEGER NOT NULL, pid INTEGER, tid INTEGER, class TEXT, what TEXT,
	ns INTEGER, stack TEXT, UNIQUE (ts_ns, tid));
-- Nothing is known of the GPU from begin to end; no end: to the last.
CREATE TABLE t_gap (begin_ns INTEGER NOT NULL, end_ns INTEGER, why TEXT, pid INTEGER NOT NULL,
	PRIMARY KEY (pid, begin_ns)) WITHOUT ROWID;
CREATE TABLE t_loss (pid INTEGER NOT NULL, what TEXT NOT NULL, count INTEGER NOT NULL,
	PRIMARY KEY (pid, what)) WITHOUT ROWID;
-- Lines of code, sampled from outside. A stack is a process's Python frames as ids of t_frame, the
-- innermost first, separated by blanks. `count` samples of it represent `ns` of that part of a
-- thread's time. role: main (the thread that takes the batches), worker, thread (another thread of
-- the training's process, which held the interpreter meanwhile). phase: load, not_ready, receiving,
-- sampling, epoch_start, epoch_end, before, after, save (parts of a step, as in t_batch), step (the
-- others, or a whole one), other. loader_id: 0 where it is not known. Since version 9.
CREATE TABLE t_frame (
	id INTEGER PRIMARY KEY,
	file TEXT NOT NULL,
	function TEXT NOT NULL,
	line INTEGER NOT NULL,		-- 0: not known
	UNIQUE (file, function, line)
);

CREATE TABLE t_stack (
	role TEXT NOT NULL,
	loader_id INTEGER NOT NULL,
	phase TEXT NOT NULL,
	frames TEXT NOT NULL,
	count INTEGER NOT NULL,
	ns INTEGER NOT NULL,
	PRIMARY KEY (role, loader_id, phase, frames)
) WITHOUT ROWID;

-- Where each process is: its stack has been the same, as far as it was looked at, from since_ns to
-- seen_ns. Since version 9.
CREATE TABLE t_doing (
	pid INTEGER PRIMARY KEY,
	role TEXT NOT NULL,
	worker_id INTEGER,
	since_ns INTEGER NOT NULL,
	seen_ns INTEGER NOT NULL,
	frames TEXT NOT NULL
);

-- What the program said by dlprof_mark() or NVTX. Since version 2; ns: length of a range, NULL: it
-- is a moment, since version 4.
CREATE TABLE t_mark (ts_ns INTEGER NOT NULL, pid INTEGER, tid INTEGER NOT NULL, text TEXT,
	ns INTEGER, PRIMARY KEY (ts_ns, tid)) WITHOUT ROWID;
CREATE TABLE t_note (level TEXT NOT NULL, text TEXT NOT NULL, UNIQUE (level, text));

-- One row, whatever t_meta holds: 0 where the run is no distributed job.
CREATE VIEW t_rank AS SELECT
	IFNULL((SELECT CAST(value AS INTEGER) FROM t_meta WHERE key = 'rank'), 0) AS rank;

CREATE VIEW meta AS SELECT key, value FROM t_meta;

CREATE VIEW process AS SELECT pid, ppid, r.rank AS rank, role, worker_id, loader_id, start_ns,
	end_ns, exit, command, exit_status, runnable_milli / 1000.0 AS runnable, cores_allowed,
	private_begin_bytes, private_end_bytes, major_faults, swapped_bytes
FROM t_process LEFT JOIN t_use USING (pid, start_ticks), t_rank r;

CREATE VIEW thread AS SELECT r.rank AS rank, pid, tid, name, cpu_ns FROM t_thread, t_rank r;

CREATE VIEW loader AS SELECT loader_id, r.rank AS rank, kind, workers, prefetch_factor, in_order,
	persistent, batch_size, place
FROM t_loader, t_rank r;

CREATE VIEW epoch AS SELECT r.rank AS rank, loader_id, epoch, begin_ns, setup_ns, tid, nested,
	stop_begin_ns, stop_ns, save_ns
FROM t_epoch, t_rank r;

-- excluded: the first W batches of an iterator cannot overlap compute (W unknown: 8; W = 0: the
-- first pays what is done once). starved: NULL until the run is judged; of the GPU, where its idle
-- time is known.
CREATE VIEW batch AS SELECT r.rank AS rank, b.loader_id AS loader_id, epoch, batch, begin_ns,
	wait_ns, receive_ns, step_ns, compute_ns, worker_id, load_ns, ready_ns, head_ready, qdepth,
	hol_ns, h2d_ns, h2d_bytes, gpu_busy_ns, gpu_idle_wait_ns, sample_ns, fetch_ns, fetch_cpu_ns,
	fetch_count, free_ns, before_ns, backward_ns, between_ns, optimizer_ns, save_ns,
	CASE WHEN theta_ns IS NULL OR batch < MAX(IFNULL(workers, 8), 1) THEN NULL
	     ELSE MIN(wait_ns + IFNULL(free_ns, 0),
		IIF(gpu_idle_wait_ns >= 0, gpu_idle_wait_ns, wait_ns + IFNULL(free_ns, 0))) >= theta_ns
		AND IFNULL(head_ready, 0) = 0 END AS starved,
	CASE WHEN batch < MAX(IFNULL(workers, 8), 1) THEN 'epoch_start'
	     WHEN step_ns IS NULL THEN 'no_step' END AS excluded
FROM t_batch b JOIN t_loader l ON l.loader_id = b.loader_id,
	t_rank r
WHERE batch IS NOT NULL;

-- A row a window of time. kind: read, decode, transform, python, batch, shuffle, cache, interleave,
-- prefetch, reader, other. stage, parent: numbers. at_once: calls under way, on average; queue: elements
-- in it when it was asked, on average.
CREATE VIEW stage AS SELECT r.rank AS rank, loader_id, epoch, s.stage_id AS stage,
	(SELECT p.stage_id FROM t_stage p WHERE p.pid = s.pid AND p.number = s.parent) AS parent,
	name, kind, begin_ns, window_ns, elements, busy_ns, own_ns, cpu_ns, read_ns, parallel,
	busy_ns * 1.0 / NULLIF(window_ns, 0) AS at_once,
	CASE kind WHEN 'prefetch' THEN ready * 1.0 / NULLIF(elements, 0) END AS queue, capacity,
	kernel, root, autotuned, threads
FROM t_stage_sum JOIN t_stage s USING (stage_id), t_rank r;

-- tensor_count, batch_bytes: of one load in 16.
CREATE VIEW load AS SELECT r.rank AS rank, loader_id, epoch, batch, worker_id, pid,
	load_begin_ns AS begin_ns, load_ns, collate_ns, transfer_ns, cpu_ns, samples, open_count,
	open_ns, read_count, read_bytes, read_ns, storage_bytes, decode_count, decode_ns,
	decode_bytes, blocked_ns,
	MAX(0, load_ns - IFNULL(open_ns, 0) - IFNULL(read_ns, 0) - IFNULL(decode_ns, 0)
		- IFNULL(collate_ns, 0)) AS other_ns,
	tensor_count, batch_bytes
FROM t_batch LEFT JOIN t_made USING (loader_id, epoch, task), t_rank r
WHERE load_ns IS NOT NULL;

CREATE VIEW t_tally AS SELECT kind, name, detail, class,
	SUM(count) AS count,
	-- Of a sample, its slowest time.
	CASE kind WHEN 'sample' THEN MAX(ns) ELSE SUM(ns) END AS ns,
	SUM(bytes) AS bytes, SUM(pixels) AS pixels, MAX(slowest_ns) AS slowest_ns,
	SUM(error_ns) AS error_ns
FROM (SELECT kind, name, detail, class, count, ns, bytes, pixels, slowest_ns, error_ns FROM t_live
	UNION ALL SELECT * FROM t_total)
GROUP BY kind, name, detail, class;

-- width_class: an image was at most this wide; 0: not known. made_bytes: of what unpacks.
CREATE VIEW decode AS SELECT r.rank AS rank, name AS library, detail AS format,
	class AS width_class, count, ns, IIF(class > 0, pixels, 0) AS pixels, bytes, slowest_ns,
	IIF(class = 0 AND pixels > 0, pixels, NULL) AS made_bytes
FROM t_tally, t_rank r WHERE kind = 'decode';

-- What loads were blocked for. kind: asleep, lock (of other processes), thread (of the same one),
-- socket, pipe, other; name: the other side, '' where it has none.
CREATE VIEW blocked AS SELECT r.rank AS rank, detail AS kind, name, count, ns, bytes, slowest_ns
FROM t_tally, t_rank r WHERE kind = 'wait';

-- Own time of the dataset's __getitem__ and of each transform: what they spend in reads and
-- decoders, or in one another, is not theirs.
CREATE VIEW step AS SELECT r.rank AS rank, name, detail AS module, count, ns, slowest_ns
FROM t_tally, t_rank r WHERE kind = 'step';

-- The true time of a file lies in [ns - error_ns, ns + unlisted.ns].
CREATE VIEW file AS SELECT r.rank AS rank, name AS path, count, bytes, ns, slowest_ns, error_ns
FROM t_tally, t_rank r WHERE kind = 'file';

CREATE VIEW folder AS SELECT r.rank AS rank, name AS path, count, bytes, ns, slowest_ns, error_ns
FROM t_tally, t_rank r WHERE kind = 'folder';

-- The slowest samples; path: the first data file that was opened in it, or the last where the sample
-- before began with the same one.
CREATE VIEW sample AS SELECT r.rank AS rank, detail AS dataset, class AS sample, ns, name AS path
FROM t_tally, t_rank r WHERE kind = 'sample';

CREATE VIEW unlisted AS SELECT kind, ns FROM t_unlisted;

CREATE VIEW slow AS SELECT ts_ns, pid, tid, class, what, ns, stack FROM t_slow;

CREATE VIEW gpu_step AS SELECT r.rank AS rank, loader_id, epoch, batch, begin_ns, wait_ns, step_ns,
	gpu_busy_ns, gpu_idle_wait_ns, h2d_ns, h2d_bytes, kernel_count, graph_count, memset_ns, d2h_ns,
	d2h_bytes, h2d_pageable_bytes, nccl_ns, gpu_compute_ns,
	gpu_loading_ns, sync_event_ns, sync_stream_ns, sync_context_ns,
	gap_data_ns, gap_h2d_ns, gap_sync_ns, gap_host_ns, gap_other_ns
FROM t_gpu_step JOIN t_batch USING (loader_id, epoch, task), t_rank r
WHERE batch IS NOT NULL;

CREATE VIEW gpu_device AS SELECT r.rank AS rank, loader_id, epoch, batch, device,
	(SELECT value FROM t_meta WHERE key = 'gpu.' || device) AS name, fed, begin_ns, step_ns,
	busy_ns, idle_wait_ns, d.kernel_count AS kernel_count, d.graph_count AS graph_count,
	d.h2d_bytes AS h2d_bytes, peer_bytes
FROM t_gpu_device d JOIN t_batch USING (loader_id, epoch, task), t_rank r
WHERE batch IS NOT NULL;

CREATE VIEW gpu_call AS SELECT r.rank AS rank, loader_id, epoch, batch, begin_ns, step_ns, sync_ns,
	copy_ns, launch_ns, launch_count, other_sync_ns, other_copy_ns, other_launch_ns,
	other_launch_count
FROM t_gpu_call JOIN t_batch USING (loader_id, epoch, task), t_rank r
WHERE batch IS NOT NULL;

-- symbol: the name as the compiler mangled it, whole; NULL before version 7.
CREATE VIEW gpu_kernel AS SELECT r.rank AS rank, IFNULL(k.name, t.name) AS name, count, ns,
	slowest_ns, error_ns, symbol
FROM t_tally t LEFT JOIN t_kernel k ON k.id = t.class, t_rank r WHERE kind = 'kernel';

CREATE VIEW gap AS SELECT r.rank AS rank, begin_ns, end_ns, why, pid
FROM t_gap, t_rank r;

CREATE VIEW loss AS SELECT pid, what, count FROM t_loss;

CREATE VIEW mark AS SELECT r.rank AS rank, ts_ns, pid, tid, text, ns FROM t_mark, t_rank r;

CREATE VIEW frame AS SELECT id, file, function, line FROM t_frame;

CREATE VIEW stack AS SELECT r.rank AS rank, role, NULLIF(loader_id, 0) AS loader_id, phase, frames,
	count, ns
FROM t_stack, t_rank r;

CREATE VIEW doing AS SELECT r.rank AS rank, pid, role, worker_id, since_ns, seen_ns, frames
FROM t_doing, t_rank r;

CREATE VIEW note AS SELECT level, text FROM t_note;
