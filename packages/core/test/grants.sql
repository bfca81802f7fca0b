-- What a role needs to enqueue, to work and to operate. It never creates or changes a table.
grant usage on schema queue to app;
grant select on queue.migrations, queue.all_jobs to app;
grant select, insert, update, delete on queue.jobs, queue.job_keys, queue.lanes, queue.workers, queue.effects to app;
grant usage on sequence queue.jobs_id_seq to app;
grant select, insert on queue.jobs_archive to app;
grant select, update, delete on queue.jobs_archive_default to app;
grant execute on function queue.maintain_archive() to app;
