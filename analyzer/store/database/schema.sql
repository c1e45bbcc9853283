-- schema.sql - the tables and views of a dlprof database. Users may rely on views, not on tables.
-- Times are in nanoseconds of CLOCK_MONOTONIC, sizes in bytes. NULL means not observed; 0 never
-- does. schema.c sets user_version and application_id.

CREATE TABLE t_meta (
	key TEXT PRIMARY KEY,
	value TEXT
) WITHOUT ROWID;

CREATE TABLE t_process (
	pid INTEGER NOT NULL,
	-- When this life of the process began to record, in ns: no two lives with the same pid have the
	-- same value. In older runs: when the kernel started the process, in clock ticks.
	start_ticks INTEGER NOT NULL,
	ppid INTEGER,
	role TEXT NOT NULL,		-- main, worker, pin, other
	worker_id INTEGER,
	loader_id INTEGER,
	stream INTEGER,			-- of a worker; loader_id is set when its loader is known
	start_ns INTEGER,		-- when the process began to record
	end_ns INTEGER,			-- when it began to exit, or the drain saw that it had ended
	-- 'clean': ran its destructors; 'gone': ended without; 'exec': runs another program; NULL: lives
	exit TEXT,
	command TEXT,
	exit_status INTEGER,		-- status as from waitpid(); NULL: not known; since version 8
	PRIMARY KEY (pid, start_ticks)
) WITHOUT ROWID;

-- What a process used while it loaded, read from /proc by the drain. Since version 10.
CREATE TABLE t_use (
	pid INTEGER NOT NULL,
	start_ticks INTEGER NOT NULL,	-- as in t_process
	-- Mean number of the process's threads that ran or waited for a core, in thousandths. A
	-- worker was looked at only while it loaded a batch, any other process always.
	runnable_milli INTEGER,
	cores_allowed INTEGER,		-- cores in the process's affinity mask
	-- Memory that the process shares with no other, such as pages written since fork(). begin:
	-- after the process's first load or batch; end: when the drain last read it.
	private_begin_bytes INTEGER,
	private_end_bytes INTEGER,
	major_faults INTEGER,		-- since its first load or batch; includes faults on mapped files
	swapped_bytes INTEGER,		-- the largest value read
	PRIMARY KEY (pid, start_ticks)
) WITHOUT ROWID;

-- The busiest threads of the processes that take batches. Since version 10.
CREATE TABLE t_thread (
	pid INTEGER NOT NULL,
	tid INTEGER NOT NULL,
	name TEXT NOT NULL,		-- name in the kernel, up to 15 bytes
	cpu_ns INTEGER NOT NULL,	-- CPU time since the process got its first batch
	PRIMARY KEY (pid, tid)
) WITHOUT ROWID;

CREATE TABLE t_loader (
	loader_id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,
	-- Identifies the loader within its process: begin of the life that made it (ns), plus the
	-- loader's number in that life. In older runs: only that number, from 1.
	number INTEGER NOT NULL,
	kind TEXT,
	workers INTEGER,
	prefetch_factor INTEGER,
	in_order INTEGER,
	persistent INTEGER,
	batch_size INTEGER,
	theta_ns INTEGER,		-- a wait of this length starves the consumer (analysis/account/stall.h)
	place TEXT,			-- where the program makes it: "train.py:41 in main"; since version 6
	lacks_order INTEGER,		-- 1: no setting in_order, as before PyTorch 2.6; since version 15
	UNIQUE (pid, number)
);

CREATE TABLE t_epoch (
	loader_id INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	begin_ns INTEGER,		-- when DataLoader.__iter__ was called
	setup_ns INTEGER,		-- duration of DataLoader.__iter__, which starts the workers
	stream INTEGER,			-- as in event.h
	generation INTEGER,		-- as in event.h; tells, with stream, the epoch of a record
	-- Since version 6. tid: the thread that took the batches. nested: 1 if the epoch's waits
	-- are parts of other waits of that thread. stop_begin_ns, stop_ns: begin and duration of
	-- the call that ended the epoch and its workers.
	tid INTEGER,
	nested INTEGER,
	stop_begin_ns INTEGER,
	stop_ns INTEGER,
	save_ns INTEGER,		-- saving checkpoints after the epoch's end; since version 12
	sample_ns INTEGER,		-- part of setup_ns in which samples were chosen; since version 14
	PRIMARY KEY (loader_id, epoch)
) WITHOUT ROWID;

-- One row for each task: how it was loaded, and how the training got the batch. batch: the batch's
-- ordinal in the epoch, in the order of delivery; NULL: the batch was loaded, but never delivered.
CREATE TABLE t_batch (
	loader_id INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	task INTEGER NOT NULL,
	batch INTEGER,
	begin_ns INTEGER,
	wait_ns INTEGER,
	receive_ns INTEGER,
	-- Since version 10. sample_ns: part of wait_ns in which the training's thread chose
	-- samples. fetch_*: part of the hand-over in which descriptors of tensors were fetched from
	-- workers. If a thread that pins memory fetches them, all its fetches since the previous
	-- batch count. free_ns: time of freeing an older batch just after the delivery. It counts
	-- as waiting, but is not in wait_ns or compute_ns.
	sample_ns INTEGER,
	fetch_ns INTEGER,
	fetch_cpu_ns INTEGER,
	fetch_count INTEGER,
	free_ns INTEGER,
	step_ns INTEGER,
	compute_ns INTEGER,
	-- Since version 12. Parts of compute_ns: before the backward pass, in it, between it and the
	-- optimizer, in the optimizer, saving checkpoints. The rest came after. NULL: not observed.
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

-- What loads produced. One load in 16 has a row. Since version 10.
CREATE TABLE t_made (
	loader_id INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	task INTEGER NOT NULL,
	tensor_count INTEGER,
	batch_bytes INTEGER,		-- size of the batch's tensors, arrays and strings
	object_count INTEGER,		-- its Python objects, counted up to 16,385; since version 16
	PRIMARY KEY (loader_id, epoch, task)
) WITHOUT ROWID;

-- Stages of loaders that are pipelines (tf.data, DALI), and kernels: operations that a stage runs
-- for each element. number identifies a stage within its process. Since version 11.
CREATE TABLE t_stage (
	stage_id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,
	number INTEGER NOT NULL,
	parent INTEGER,			-- the stage that takes its elements or, if known, runs the kernel
	kernel INTEGER,
	root INTEGER,			-- 1: the training calls this stage
	autotuned INTEGER,		-- 1: the framework chooses the columns parallel and capacity
	parallel INTEGER,		-- number of calls at once, as the program sets it
	capacity INTEGER,		-- most elements in its queue; of an interleave: most inputs open
	threads INTEGER,		-- of a root: number of threads in the pipeline's pool
	name TEXT,
	kind TEXT,			-- listed at the view stage
	UNIQUE (pid, number)
);

-- What a stage did in a window of time. Since version 11. loader_id, epoch: the epoch whose batches
-- the training took in the window; NULL: it took batches of several. busy_ns: time in calls of the
-- stage, summed over threads. own_ns: busy_ns without the time of the stages and kernels that it
-- called.
CREATE TABLE t_stage_sum (
	stage_id INTEGER NOT NULL,
	begin_ns INTEGER NOT NULL,
	window_ns INTEGER NOT NULL,
	loader_id INTEGER,
	epoch INTEGER,
	elements INTEGER,
	busy_ns INTEGER,
	own_ns INTEGER,
	cpu_ns INTEGER,			-- part of own_ns in which threads ran on a core
	read_ns INTEGER,		-- part of own_ns in which files were opened and read
	ready INTEGER,			-- elements in the stage's queue, summed over the calls
	PRIMARY KEY (stage_id, begin_ns)
) WITHOUT ROWID;

-- What the GPU did in the step of a batch, [begin_ns, begin_ns + step_ns). Since version 3. The GPU
-- is busy while it runs a kernel or graph. The rest of the step is divided into gaps: gap_data +
-- gap_h2d + gap_sync + gap_host + gap_other = step_ns - gpu_busy_ns. Each nanosecond counts in the
-- first gap that applies. gap_data: the training thread waited for this batch. gap_h2d: something
-- was copied to the device. gap_sync: the host waited for the GPU, whose queue ran empty. gap_host:
-- the host launched nothing for more than 10 us. gap_other: the rest. If a process uses several
-- devices, busy time and gaps are means over those that get data from the host (t_gpu_device); all
-- other columns are sums over all devices. If only the host was observed (meta cuda_mode = cudart),
-- columns about the GPU are NULL, and kernel_count is the number of launches.
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
	nccl_ns INTEGER,		-- part of gpu_busy_ns in which collectives ran
	gpu_compute_ns INTEGER,		-- part of gpu_busy_ns in which other kernels ran; since version 7
	gpu_loading_ns INTEGER,		-- of a GPU loader's kernels, not in gpu_busy_ns; since version 7
	sync_event_ns INTEGER,		-- sync_*: time in which the host was blocked, summed over threads
	sync_stream_ns INTEGER,
	sync_context_ns INTEGER,
	gap_data_ns INTEGER,		-- equals t_batch.gpu_idle_wait_ns
	gap_h2d_ns INTEGER,
	gap_sync_ns INTEGER,
	gap_host_ns INTEGER,
	gap_other_ns INTEGER,
	PRIMARY KEY (loader_id, epoch, task)
) WITHOUT ROWID;

-- What each device did in the step of a batch, if a process uses several. Since version 5. fed: 1
-- if the device gets data from the host. idle_wait_ns: time in which the device idled while the
-- training thread waited for this batch. peer_bytes: bytes copied to or from other devices.
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

-- How long threads of the host were in CUDA calls in the step of a batch. Since version 5. Calls
-- are recorded at level api. other_*: calls of all threads but the one that takes the batches.
-- sync: calls that wait for the GPU. copy: calls that copy; if memory is pageable, these also wait,
-- as in loss.item(). launch: calls that launch kernels and graphs.
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

-- What the GPU did in each part of a batch's step. Since version 13. The parts before, backward,
-- between and optimizer are those of t_batch; "after" is the rest of the step, with saving. NULL: the
-- parts did not follow one another. idle_*: time in which the GPU idled, but not for data or copies.
-- launched_*: run time of the kernels launched in the part (level api). refill_ns: if the GPU idled at
-- the end of the wait for the batch, the time from then until its next kernel.
CREATE TABLE t_gpu_part (
	loader_id INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	task INTEGER NOT NULL,
	refill_ns INTEGER,
	idle_before_ns INTEGER, idle_backward_ns INTEGER, idle_between_ns INTEGER,
	idle_optimizer_ns INTEGER, idle_after_ns INTEGER,
	launched_before_ns INTEGER, launched_backward_ns INTEGER, launched_between_ns INTEGER,
	launched_optimizer_ns INTEGER, launched_after_ns INTEGER,
	PRIMARY KEY (loader_id, epoch, task)
) WITHOUT ROWID;

-- Names of kernels. id: the `class` of the kernel's tally. Since version 7.
CREATE TABLE t_kernel (id INTEGER PRIMARY KEY, symbol TEXT NOT NULL, name TEXT NOT NULL);

-- Totals by name. A row of t_live is the present state of a tally in a segment. When the segment's
-- process has ended, the segment's rows are added to t_total, and its name to t_folded: a restarted
-- drain must not add them again. kind: decode, step, file, folder, sample, kernel, wait.
CREATE TABLE t_live (
	segment TEXT NOT NULL,
	slot INTEGER NOT NULL,
	place INTEGER NOT NULL,
	kind TEXT NOT NULL,
	name TEXT NOT NULL,		-- of a library, step, file, folder or kernel; a wait's peer
	detail TEXT NOT NULL,		-- format; 'dataset' or 'transform'; a sample's dataset; a wait's kind
	class INTEGER NOT NULL,		-- width class, or index of the sample, or id of the kernel
	count INTEGER NOT NULL,
	ns INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	pixels INTEGER NOT NULL,	-- if `class` is 0 (the library only unpacks), a number of bytes
	slowest_ns INTEGER NOT NULL,
	error_ns INTEGER NOT NULL,	-- most of ns that may belong to other names
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

-- Names of a kind without a row: none of them took longer than ns.
CREATE TABLE t_unlisted (kind TEXT PRIMARY KEY, ns INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE t_slow (ts_ns INTEGER NOT NULL, pid INTEGER, tid INTEGER, class TEXT, what TEXT,
	ns INTEGER, stack TEXT, UNIQUE (ts_ns, tid));
-- Times in which the GPU was not observed. end_ns: NULL if the time lasts to the run's end.
CREATE TABLE t_gap (begin_ns INTEGER NOT NULL, end_ns INTEGER, why TEXT, pid INTEGER NOT NULL,
	PRIMARY KEY (pid, begin_ns)) WITHOUT ROWID;
CREATE TABLE t_loss (pid INTEGER NOT NULL, what TEXT NOT NULL, count INTEGER NOT NULL,
	PRIMARY KEY (pid, what)) WITHOUT ROWID;
-- The drain's stack samples: lines of code (t_frame), and equal stacks (t_stack). Since version 9.
-- frames: ids of t_frame, the innermost first, separated by blanks. count: samples with this stack.
-- ns: the time for which they stand. role: whose stack it is. main: of the thread that takes the
-- batches; worker; thread: of another thread of the training's process, which held the interpreter.
-- For main in steps also holder: of such a thread, while main waited for it; python: of main, while
-- it held the interpreter. phase: load; not_ready, receiving, sampling, epoch_start, epoch_end
-- (parts of the waits); before, after, save (parts of a step), step (its other parts, or a whole
-- step); between_epochs (of any two, counted as after); other. loader_id: 0 if unknown.
CREATE TABLE t_frame (
	id INTEGER PRIMARY KEY,
	file TEXT NOT NULL,
	function TEXT NOT NULL,
	line INTEGER NOT NULL,		-- 0: unknown
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

-- Where each process is now. seen_ns: when its stack was last sampled; since_ns: when its thread's
-- last record ended. Since version 9.
CREATE TABLE t_doing (
	pid INTEGER PRIMARY KEY,
	role TEXT NOT NULL,
	worker_id INTEGER,
	since_ns INTEGER NOT NULL,
	seen_ns INTEGER NOT NULL,
	frames TEXT NOT NULL
);

-- Marks that the program set through dlprof_mark() or NVTX. Since version 2. ns (since version 4):
-- length of a range; NULL: the mark is a moment.
CREATE TABLE t_mark (ts_ns INTEGER NOT NULL, pid INTEGER, tid INTEGER NOT NULL, text TEXT,
	ns INTEGER, PRIMARY KEY (ts_ns, tid)) WITHOUT ROWID;
CREATE TABLE t_note (level TEXT NOT NULL, text TEXT NOT NULL, UNIQUE (level, text));

-- Always has one row. rank: 0 if the run is not part of a distributed job.
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
	stop_begin_ns, stop_ns, save_ns, sample_ns
FROM t_epoch, t_rank r;

-- excluded: why statistics leave the batch out. 'epoch_start': it is one of the epoch's first W
-- batches, whose loads began before any step (W: number of workers; 8 if unknown; at least 1).
-- 'no_step': the step's length is unknown. starved: 1 if the batch was not ready, and the GPU idled for
-- theta or longer in the wait (idle time unknown: if the wait took theta). NULL until the run ends.
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

-- A row for each stage and window of time. kind: read, decode, transform, python, batch, shuffle,
-- cache, interleave, prefetch, reader, other. at_once: mean number of calls at the same time.
-- queue: mean number of elements in the stage's queue when it was called.
CREATE VIEW stage AS SELECT r.rank AS rank, loader_id, epoch, s.stage_id AS stage,
	(SELECT p.stage_id FROM t_stage p WHERE p.pid = s.pid AND p.number = s.parent) AS parent,
	name, kind, begin_ns, window_ns, elements, busy_ns, own_ns, cpu_ns, read_ns, parallel,
	busy_ns * 1.0 / NULLIF(window_ns, 0) AS at_once,
	CASE kind WHEN 'prefetch' THEN ready * 1.0 / NULLIF(elements, 0) END AS queue, capacity,
	kernel, root, autotuned, threads
FROM t_stage_sum JOIN t_stage s USING (stage_id), t_rank r;

-- tensor_count and batch_bytes are known for one load in 16.
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
	-- The time of a sample is that of its slowest load.
	CASE kind WHEN 'sample' THEN MAX(ns) ELSE SUM(ns) END AS ns,
	SUM(bytes) AS bytes, SUM(pixels) AS pixels, MAX(slowest_ns) AS slowest_ns,
	SUM(error_ns) AS error_ns
FROM (SELECT kind, name, detail, class, count, ns, bytes, pixels, slowest_ns, error_ns FROM t_live
	UNION ALL SELECT * FROM t_total)
GROUP BY kind, name, detail, class;

-- width_class: images are at most this wide; 0: unknown. made_bytes: output of unpacking libraries.
CREATE VIEW decode AS SELECT r.rank AS rank, name AS library, detail AS format,
	class AS width_class, count, ns, IIF(class > 0, pixels, 0) AS pixels, bytes, slowest_ns,
	IIF(class = 0 AND pixels > 0, pixels, NULL) AS made_bytes
FROM t_tally, t_rank r WHERE kind = 'decode';

-- What loads waited for. kind: asleep, lock (other processes may hold it), thread (of the same
-- process), socket, pipe, write, program, sync, other. name: the peer, or ''. bytes: what the peer
-- sent; for kind thread, what all other threads received from sockets meanwhile.
CREATE VIEW blocked AS SELECT r.rank AS rank, detail AS kind, name, count, ns, bytes, slowest_ns
FROM t_tally, t_rank r WHERE kind = 'wait';

-- Time of the dataset's __getitem__, and of each transform, without reads, decoders and inner
-- steps.
CREATE VIEW step AS SELECT r.rank AS rank, name, detail AS module, count, ns, slowest_ns
FROM t_tally, t_rank r WHERE kind = 'step';

-- A file's true time is between ns - error_ns and ns + the ns of the row 'file' in the view unlisted.
CREATE VIEW file AS SELECT r.rank AS rank, name AS path, count, bytes, ns, slowest_ns, error_ns
FROM t_tally, t_rank r WHERE kind = 'file';

CREATE VIEW folder AS SELECT r.rank AS rank, name AS path, count, bytes, ns, slowest_ns, error_ns
FROM t_tally, t_rank r WHERE kind = 'folder';

-- The slowest samples. path: the first data file that the sample opened. If the sample before
-- opened that file first, too: the last data file that it opened.
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

CREATE VIEW gpu_part AS SELECT r.rank AS rank, loader_id, epoch, batch, begin_ns, step_ns, refill_ns,
	idle_before_ns, idle_backward_ns, idle_between_ns, idle_optimizer_ns, idle_after_ns,
	launched_before_ns, launched_backward_ns, launched_between_ns, launched_optimizer_ns,
	launched_after_ns
FROM t_gpu_part JOIN t_batch USING (loader_id, epoch, task), t_rank r
WHERE batch IS NOT NULL;

-- symbol: the kernel's name as the compiler mangled it; NULL before version 7.
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
