-- The 20 jobs that lost most GPU hours to waiting for data.
-- A rank whose GPU is not known counts as one GPU. With the 1e-6 added, all engines round halves up.
with lost as (
	select job_id, attempt, name, owner, coalesce(gpus, ranks_seen) as gpu_count,
		time_s / 3600 as spent, stall_ratio as ratio, at_most, culprit
	from job where stall_ratio is not null
)
select job_id, attempt, name, owner, gpu_count as gpus,
	round(spent * 100 + 1e-6) / 100 as hours,
	round(ratio * 1000 + 1e-6) / 10 as stall_percent,
	at_most as stall_is_at_most,
	round(gpu_count * spent * ratio * 100 + 1e-6) / 100 as gpu_hours_lost,
	culprit as culprit_rank
from lost
order by 9 desc, job_id, attempt
limit 20
