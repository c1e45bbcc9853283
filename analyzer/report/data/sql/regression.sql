-- Revisions after which a job waits more for data than at the revision before. Compared are jobs of
-- one name, dataset, storage and number of GPUs, five or more of each revision. Their ratios differ
-- by two points or more, and by three standard errors. With the 1e-6 added, all engines round
-- halves up.
with run as (
	select name as task, coalesce(dataset, 'not known') as data,
		coalesce(storage, 'not known') as place, coalesce(gpus, ranks_seen) as gpu_count,
		revision as code, stall_ratio as ratio, started_unix_s as began, time_s / 3600 as hours
	from job
	where stall_ratio is not null and revision is not null and name is not null
),
cell as (
	select task, data, place, gpu_count, code, count(*) as jobs, avg(ratio) as mean,
		sum(ratio * ratio) as squares, sum(hours) * gpu_count as gpu_hours
	from run group by task, data, place, gpu_count, code
),
spread as (
	select task, (sum(squares) - sum(jobs * mean * mean)) / nullif(sum(jobs) - count(*), 0) as variance
	from cell group by task
),
turn as (
	select task, code, row_number() over (partition by task order by min(began), code) as place
	from run group by task, code having count(*) >= 5
),
pair as (
	select s.task as task, s.code as old_code, t.code as new_code, a.jobs as old_jobs, b.jobs as new_jobs,
		a.mean as old_mean, b.mean as new_mean, b.gpu_hours as gpu_hours,
		a.jobs * b.jobs * 1.0 / (a.jobs + b.jobs) as weight
	from turn s
	join turn t on t.task = s.task and t.place = s.place + 1
	join cell a on a.task = s.task and a.code = s.code
	join cell b on b.task = t.task and b.code = t.code and b.data = a.data and b.place = a.place
		and b.gpu_count = a.gpu_count
),
change as (
	select task, old_code, new_code, sum(old_jobs) as before, sum(new_jobs) as after,
		sum(weight * old_mean) / sum(weight) as old_ratio,
		sum(weight * new_mean) / sum(weight) as new_ratio, sum(weight) as weights,
		sum(gpu_hours) as hours
	from pair group by task, old_code, new_code
)
select c.task as name, old_code as revision_before, new_code as revision_after,
	before as jobs_before, after as jobs_after,
	round(old_ratio * 1000 + 1e-6) / 10 as stall_percent_before,
	round(new_ratio * 1000 + 1e-6) / 10 as stall_percent_after,
	round((new_ratio - old_ratio) * hours * 100 + 1e-6) / 100 as gpu_hours_lost_by_it
from change c
join spread s on s.task = c.task
where before >= 5 and after >= 5 and new_ratio - old_ratio >= 0.02
	and (new_ratio - old_ratio) * (new_ratio - old_ratio) * weights > 9 * variance
order by 8 desc, 1, 2, 3
