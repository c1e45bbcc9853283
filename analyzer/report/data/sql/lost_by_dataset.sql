-- By dataset: which costs most GPU hours of waiting?
-- A rank whose GPU is not known counts as one GPU. With the 1e-6 added, all engines round halves up.
with lost as (
	select coalesce(dataset, 'not known') as label, stall_ratio as ratio,
		coalesce(gpus, ranks_seen) * time_s / 3600 as hours
	from job where stall_ratio is not null
)
select label as dataset, count(*) as jobs,
	round(sum(hours) * 100 + 1e-6) / 100 as gpu_hours,
	round(sum(hours * ratio) * 100 + 1e-6) / 100 as gpu_hours_lost,
	round(sum(hours * ratio) / sum(hours) * 1000 + 1e-6) / 10 as lost_percent
from lost where hours > 0
group by label
order by 4 desc, 1
