-- Jobs that came back to life with `--with-dependents`, whose dependents are still to come back: a transaction
-- brings a bounded part of them, the smallest id first, and `settle` goes on from here.
CREATE TABLE revivals (
  -- The need as it was when its end settled them. No reference: it may be pruned meanwhile.
  need_id INTEGER PRIMARY KEY,
  -- The next of them.
  next_id INTEGER NOT NULL
);
CREATE INDEX revivals_next ON revivals (next_id, need_id);

-- Which rerun stands for a job that was canceled.
CREATE INDEX jobs_rerun ON jobs (rerun_of, id) WHERE rerun_of IS NOT NULL;

-- A sleep that was really slept: it is over whenever the job runs again, and `until` still says when that was to be.
ALTER TABLE checkpoints ADD COLUMN slept INTEGER NOT NULL DEFAULT 0 CHECK (slept IN (0, 1));
