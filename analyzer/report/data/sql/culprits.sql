-- The 20 ranks that cost most: they wait for data, and the others of their job wait for them.
-- A rank whose GPU is not known counts as one GPU. With the 1e-6 added, all engines round halves up.
with held as (
	select s.job_id as job_id, s.attempt as attempt, s.rank_id as rank_id, sum(s.width) as steps
	from step s
	join rank r on r.job_id = s.job_id and r.attempt = s.attempt and r.rank_id = s.rank_id
	where s.stall_us > 0 and r.is_culprit = 1
	group by s.job_id, s.attempt, s.rank_id
),
slow as (
	select j.job_id as job_id, j.attempt as attempt, j.name as name, r.rank_id as culprit,
		r.node as node, r.gpu as gpu, r.cause as cause,
		r.wait_s / r.time_s as own, j.stall_ratio as ratio,
		r.blame_s * coalesce(j.gpus, j.ranks_seen) / 3600 as hours
	from job j
	join rank r on r.job_id = j.job_id and r.attempt = j.attempt
	where r.is_culprit = 1 and r.time_s > 0
)
select s.job_id as job_id, s.attempt as attempt, s.name as name, s.culprit as culprit_rank,
	s.node as node, s.gpu as gpu, s.cause as cause,
	round(s.own * 1000 + 1e-6) / 10 as stall_percent_of_the_rank,
	round(s.ratio * 1000 + 1e-6) / 10 as stall_percent_of_the_job,
	coalesce(h.steps, 0) as steps_it_held_up,
	round(s.hours * 100 + 1e-6) / 100 as gpu_hours_lost
from slow s
left join held h on h.job_id = s.job_id and h.attempt = s.attempt and h.rank_id = s.culprit
where s.hours is not null
order by 11 desc, 1, 2, 4
limit 20
