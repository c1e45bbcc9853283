-- Adds to `part` those batches of loader ?1 that the trace shows, as ranges of tasks in an epoch, each
-- with the time from its first load or wait to its last step. ?2, ?3: first and last epoch. ?4: most
-- batches to take; ?5: batches to skip first. ?6: number of longest waits to show (-1: all batches);
-- ?7, ?8: number of tasks to show before and after each longest wait.
WITH chosen AS NOT MATERIALIZED (SELECT epoch, task, wait_ns
	FROM delivered WHERE loader_id = ?1 AND epoch BETWEEN ?2 AND ?3
	ORDER BY epoch, place LIMIT ?4 OFFSET ?5),
worst AS (SELECT epoch, task FROM chosen WHERE ?6 >= 0 AND wait_ns NOT NULL
	ORDER BY wait_ns DESC, epoch, task LIMIT ?6),
apart AS (SELECT *, task - LAG(task, 1, task) OVER in_epoch > ?7 + ?8 + 1 AS begins_range
	FROM worst WINDOW in_epoch AS (PARTITION BY epoch ORDER BY task)),
numbered AS (SELECT *, SUM(begins_range) OVER (PARTITION BY epoch ORDER BY task) AS number
	FROM apart),
ranges AS (SELECT epoch, MIN(task) AS first_task, MAX(task) AS last_task
	FROM chosen WHERE ?6 < 0 GROUP BY epoch
	UNION ALL SELECT epoch, MIN(task) - ?7, MAX(task) + ?8 FROM numbered GROUP BY epoch, number),
timed AS (SELECT ranges.*, MIN(MIN(begin_ns, IFNULL(load_begin_ns, begin_ns))) AS from_ns,
		MAX(begin_ns + IFNULL(wait_ns, 0) + IFNULL(compute_ns, 0)) AS to_ns
	FROM ranges CROSS JOIN delivered
	ON loader_id = ?1 AND delivered.epoch = ranges.epoch AND task BETWEEN first_task AND last_task
	GROUP BY ranges.epoch, first_task)
-- If a range has the first task of its epoch, its time starts when the epoch's iterator was made.
INSERT INTO part SELECT NULL, ?1, printf('loader %d: ', ?1), 1000 * MIN(MAX(?1, 0), 1000), epoch,
	first_task, last_task,
	IIF(?6 < 0, MIN(from_ns) OVER (), IFNULL((SELECT MIN(begin_ns, from_ns) FROM t_epoch
		WHERE loader_id = ?1 AND epoch = timed.epoch AND first_task <= 0), from_ns)),
	IIF(?6 < 0, MAX(to_ns) OVER (), to_ns)
	FROM timed ORDER BY epoch, first_task
