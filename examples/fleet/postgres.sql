-- Loads what `dlprof-report export --csv -o FOLDER` wrote, in FOLDER: psql -f postgres.sql. Jobs that are
-- there already are replaced. Once before: dlprof-report sql tables | psql
\set ON_ERROR_STOP on
begin;
lock table job in share row exclusive mode; -- one at a time, as two may bring the same job
create temporary table new_job (like job) on commit drop;
create temporary table new_rank (like rank) on commit drop;
create temporary table new_step (like step) on commit drop;
create temporary table new_batch (like batch) on commit drop;
\copy new_job from 'job.csv' with (format csv, header)
\copy new_rank from 'rank.csv' with (format csv, header)
\copy new_step from 'step.csv' with (format csv, header)
\copy new_batch from 'batch.csv' with (format csv, header)
delete from batch using new_job as n where batch.job_id = n.job_id and batch.attempt = n.attempt;
delete from step using new_job as n where step.job_id = n.job_id and step.attempt = n.attempt;
delete from rank using new_job as n where rank.job_id = n.job_id and rank.attempt = n.attempt;
delete from job using new_job as n where job.job_id = n.job_id and job.attempt = n.attempt;
insert into job select * from new_job;
insert into rank select * from new_rank;
insert into step select * from new_step;
insert into batch select * from new_batch;
commit;
