-- Machines whose ranks wait for data more than the other ranks of the same jobs, and more often
-- than by chance. In three of its jobs or more, such a machine waited most of all machines, by at
-- least a point. The number of these jobs is four standard deviations above what chance gives. A
-- rank whose GPU is not known counts as one GPU. With the 1e-6 added, all engines round halves up.
with part as (
	select job_id, attempt, node, count(*) as ranks, sum(wait_s / time_s) as ratios,
		sum(coalesce(blame_s, 0)) as blame
	from rank where time_s > 0 and wait_s is not null and node is not null
	group by job_id, attempt, node
),
beside as (
	select job_id, attempt, node, ratios / ranks as mean, blame,
		count(*) over (partition by job_id, attempt) as nodes,
		sum(ratios) over (partition by job_id, attempt) - ratios as other_ratios,
		sum(ranks) over (partition by job_id, attempt) - ranks as other_ranks,
		row_number() over (partition by job_id, attempt order by ratios / ranks desc, node) as place
	from part
),
test as (
	select b.node as machine, b.mean as mean, b.other_ratios / b.other_ranks as others,
		1.0 / b.nodes as chance,
		case when b.place = 1 and b.mean - b.other_ratios / b.other_ranks >= 0.01
			then 1 else 0 end as worst,
		b.blame * coalesce(j.gpus, j.ranks_seen) / 3600 as hours
	from beside b
	join job j on j.job_id = b.job_id and j.attempt = b.attempt
	where b.nodes > 1
)
select machine as node, count(*) as jobs, sum(worst) as jobs_where_it_waited_most,
	round(avg(mean) * 1000 + 1e-6) / 10 as stall_percent,
	round(avg(others) * 1000 + 1e-6) / 10 as stall_percent_of_the_others,
	round(sum(hours * worst) * 100 + 1e-6) / 100 as gpu_hours_lost
from test
group by machine
having sum(worst) >= 3 and sum(worst) > sum(chance)
	and (sum(worst) - sum(chance)) * (sum(worst) - sum(chance))
		> 16 * sum(chance * (1 - chance))
order by 6 desc, 1
