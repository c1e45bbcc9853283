-- Selects the events of a run's trace, in the order of the trace file. The columns are:
--   lane, at     the lane's name, and its place among the lanes (a counter has no lane)
--   kind         slice:  follows the previous slice of its lane
--                nested: may begin within another slice of its lane, and is drawn below it
--                within: a part of the previous slice of its lane
--                moment, counter
--   begin_ns, ns when the event begins, and its length, by the run's clock
--   event        the event's name and arguments, without those that are NULL
-- A new type of event is one more SELECT. The result is sorted by its first three columns: the
-- first two place an event among all events, the third orders the events of one batch.
-- timeline.c makes `delivered` and `part`, trace_part.sql fills `part`.
-- ?1: 1 shows the whole run, 0 only what happened while the batches in `part` were made.
WITH shown AS NOT MATERIALIZED (SELECT id, loader, at, delivered.*,
		-- Without workers, the sampler runs at the start of a wait, else at the end.
		worker_id IS NULL AND IFNULL(load_begin_ns >= begin_ns, 0) AS is_made_here,
		IIF(sample_ns <= wait_ns, sample_ns, 0) AS sampled_ns,
		begin_ns + wait_ns AS end_ns
	FROM part CROSS JOIN delivered USING (loader_id, epoch)
	WHERE task BETWEEN first_task AND last_task),
received AS NOT MATERIALIZED (SELECT *,
		end_ns - IIF(is_made_here, 0, IFNULL(sampled_ns, 0)) AS received_ns
	FROM shown WHERE receive_ns > 0),
split AS NOT MATERIALIZED (SELECT *, end_ns + IFNULL(free_ns, 0) AS out_ns FROM shown
	WHERE before_ns NOT NULL)
SELECT lane, at, kind, begin_ns, ns, json_patch('{}', event) FROM (
SELECT id, place, 0, loader || 'training' AS lane, at, 'slice' AS kind, begin_ns, wait_ns AS ns,
	json_object('name', IIF(head_ready, 'wait (ready)', 'wait'),
		'args', json_object('epoch', epoch + 0, 'batch', batch, 'worker', worker_id,
			'head_of_line_s', hol_ns / 1e9, 'sample_s', sample_ns / 1e9,
			'fetch_s', fetch_ns / 1e9, 'fetch_count', fetch_count,
			'free_s', free_ns / 1e9, 'gpu_idle_s', gpu_idle_wait_ns / 1e9)) AS event
	FROM shown
UNION ALL SELECT id, place, 1, loader || 'training', at, 'within', begin_ns, sampled_ns,
	'{"name":"sample"}'
	FROM shown WHERE is_made_here AND sampled_ns > 0
UNION ALL SELECT id, place, 2, loader || 'training', at, 'within', received_ns - receive_ns,
	receive_ns, '{"name":"receive"}'
	FROM received
-- Fetches are scattered over the time of receiving. They are drawn as one slice at its end.
UNION ALL SELECT id, place, 3, loader || 'training', at, 'within', received_ns - fetch_ns, fetch_ns,
	'{"name":"fetch"}'
	FROM received WHERE fetch_ns BETWEEN 1 AND receive_ns
UNION ALL SELECT id, place, 4, loader || 'training', at, 'within', end_ns - sampled_ns, sampled_ns,
	'{"name":"sample"}'
	FROM shown WHERE NOT is_made_here AND sampled_ns > 0
UNION ALL SELECT id, place, 5, loader || 'training', at, 'slice', end_ns, free_ns,
	'{"name":"free"}'
	FROM shown WHERE free_ns > 0
UNION ALL SELECT id, place, 6, loader || 'training', at, 'slice', end_ns + IFNULL(free_ns, 0),
	compute_ns,
	json_object('name', 'compute', 'args', json_object('epoch', epoch + 0, 'batch', batch))
	FROM shown
-- Each part of a step is a sum, drawn as one slice. The parts are drawn in their usual order.
UNION ALL SELECT id, place, 6.1, loader || 'training', at, 'within', out_ns, before_ns,
	'{"name":"before backward"}'
	FROM split WHERE before_ns > 0
UNION ALL SELECT id, place, 6.2, loader || 'training', at, 'within', out_ns + before_ns,
	backward_ns, '{"name":"backward"}'
	FROM split WHERE backward_ns > 0
UNION ALL SELECT id, place, 6.3, loader || 'training', at, 'within',
	out_ns + before_ns + backward_ns, between_ns, '{"name":"between"}'
	FROM split WHERE between_ns > 0
UNION ALL SELECT id, place, 6.4, loader || 'training', at, 'within',
	out_ns + before_ns + backward_ns + IFNULL(between_ns, 0), optimizer_ns,
	'{"name":"optimizer"}'
	FROM split WHERE optimizer_ns > 0
UNION ALL SELECT id, place, 6.5, loader || 'training', at, 'within', out_ns + before_ns +
	backward_ns + IFNULL(between_ns, 0) + IFNULL(optimizer_ns, 0), save_ns, '{"name":"save"}'
	FROM split WHERE save_ns > 0
UNION ALL SELECT id, place, 7, loader || IFNULL('worker ' || worker_id, 'loads'),
	at + 1 + MIN(IFNULL(worker_id, -1), 900), 'slice', load_begin_ns, load_ns,
	json_object('name', 'load', 'args', json_object('epoch', epoch + 0, 'batch', batch,
		'open_s', open_ns / 1e9, 'read_s', read_ns / 1e9, 'decode_s', decode_ns / 1e9,
		'collate_s', collate_ns / 1e9, 'cpu_s', cpu_ns / 1e9, 'samples', samples,
		'read_bytes', read_bytes))
	FROM shown
UNION ALL SELECT id, place, 8, NULL, NULL, 'counter', begin_ns, NULL,
	json_object('name', loader || 'finished batches', 'args', json_object('value', qdepth))
	FROM shown WHERE qdepth >= 0
UNION ALL SELECT id, place, 9, NULL, NULL, 'counter', begin_ns, NULL,
	json_object('name', loader || 'GPU busy',
		'args', json_object('value', 1.0 * gpu_busy_ns / (1.0 * wait_ns + compute_ns)))
	FROM shown WHERE gpu_busy_ns >= 0 AND wait_ns + compute_ns > 0
UNION ALL SELECT 1 << 40, loader_id, epoch, printf('loader %d: iterators', loader_id), 1000000,
	'slice', begin_ns, setup_ns,
	json_object('name', 'make iterator', 'args', json_object('epoch', epoch + 0))
	FROM t_epoch
UNION ALL SELECT 2 << 40, ts_ns, tid,
	printf('slow operations of thread %d (process %d)', tid, pid), 1000000, 'nested', ts_ns, ns,
	json_object('name', IFNULL(as_it_is(class), 'operation'),
		'args', json_object('what', redact_call(what)))
	FROM t_slow
UNION ALL SELECT 3 << 40, begin_ns, 0, 'GPU not recorded', 1000000, 'slice', begin_ns,
	IFNULL(end_ns, (SELECT CAST(value AS INTEGER) FROM t_meta WHERE key = 'end_ns')) - begin_ns,
	json_object('name', IFNULL(redact_text(why), 'gap'))
	FROM t_gap
UNION ALL SELECT 4 << 40, ts_ns, tid, 'marks', 1000000, 'moment', ts_ns, NULL,
	json_object('name', IFNULL(redact_mark(text), ''), 's', 'p')
	FROM t_mark WHERE ns IS NULL
-- Of ranges that begin together, the longest, which is the outermost, comes first.
UNION ALL SELECT 5 << 40, ts_ns, -ns, printf('ranges of thread %d (process %d)', tid, pid), 1000000,
	'nested', ts_ns, ns,
	json_object('name', IFNULL(NULLIF(redact_mark(text), ''), 'range'))
	FROM t_mark WHERE ns NOT NULL
-- For each window of a stage's sums: the mean number of its calls at the same time.
UNION ALL SELECT 6 << 40, begin_ns, stage_id, NULL, NULL, 'counter', begin_ns, NULL,
	json_object('name', printf('loader %d: %s (stage %d)', loader_id, as_it_is(name), stage_id),
		'args', json_object('value', 1.0 * busy_ns / window_ns))
	FROM t_stage_sum JOIN t_stage USING (stage_id)
	WHERE name NOT NULL AND loader_id NOT NULL AND busy_ns >= 0 AND window_ns > 0
ORDER BY 1, 2, 3)
WHERE ?1 OR id < 1 << 40 OR EXISTS (SELECT 1 FROM part WHERE begin_ns BETWEEN from_ns AND to_ns)
