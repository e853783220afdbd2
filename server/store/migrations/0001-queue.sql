-- The queue. One row per kind of fact: what a job is (jobs), where it stands (job_runtime),
-- how it ended (job_outcomes), what ran (attempts), what happened (job_events).
-- Times are integers, milliseconds since the epoch. JSON columns hold what no claim reads.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- Counts are kept, not counted: `status` costs the same with ten jobs and with a million.
CREATE TABLE counters (
  name TEXT PRIMARY KEY,
  n    INTEGER NOT NULL CHECK (n >= 0)
) WITHOUT ROWID;
INSERT INTO counters VALUES ('blocked', 0), ('queued', 0), ('running', 0), ('done', 0), ('dead', 0),
  ('canceled', 0), ('delayed', 0), ('backing_off', 0), ('log_bytes', 0);

-- The head columns repeat the first due job of the lane in claim order, so that a claim reads
-- one index over lanes, however many jobs and lanes wait (see transitions/lanes, refreshHead).
CREATE TABLE lanes (
  name               TEXT PRIMARY KEY,
  slots              INTEGER NOT NULL DEFAULT 1 CHECK (slots BETWEEN 1 AND 10000),
  paused             INTEGER NOT NULL DEFAULT 0 CHECK (paused IN (0, 1)),
  pause_on_failure   INTEGER NOT NULL DEFAULT 0 CHECK (pause_on_failure IN (0, 1)),
  timeout_ms         INTEGER CHECK (timeout_ms > 0),
  cancel_grace_ms    INTEGER CHECK (cancel_grace_ms > 0),
  max_retries        INTEGER CHECK (max_retries >= 0),
  retry_delay_ms     INTEGER CHECK (retry_delay_ms > 0),
  retry_max_delay_ms INTEGER CHECK (retry_max_delay_ms > 0),
  running            INTEGER NOT NULL DEFAULT 0 CHECK (running >= 0),
  queued             INTEGER NOT NULL DEFAULT 0 CHECK (queued >= 0),
  delayed            INTEGER NOT NULL DEFAULT 0 CHECK (delayed >= 0),
  blocked            INTEGER NOT NULL DEFAULT 0 CHECK (blocked >= 0),
  head_priority      INTEGER,
  head_run_at        INTEGER,
  head_id            INTEGER
) WITHOUT ROWID;
CREATE INDEX lanes_claim ON lanes (head_priority DESC, head_run_at, head_id)
  WHERE head_id IS NOT NULL AND paused = 0 AND running < slots;

-- Environment snapshots, once per distinct content, dropped with their last job.
CREATE TABLE environments (
  id      INTEGER PRIMARY KEY,
  digest  TEXT NOT NULL UNIQUE,
  content TEXT NOT NULL CHECK (json_valid(content))
);

CREATE TABLE jobs (
  id                 INTEGER PRIMARY KEY AUTOINCREMENT,
  -- No reference: an empty lane may be removed while its finished jobs are kept.
  lane               TEXT NOT NULL,
  argv               TEXT NOT NULL CHECK (json_valid(argv)),
  cwd                TEXT NOT NULL,
  label              TEXT,
  tags               TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(tags)),
  max_retries        INTEGER NOT NULL CHECK (max_retries >= 0),
  max_crashes        INTEGER NOT NULL CHECK (max_crashes >= 0),
  retry_delay_ms     INTEGER NOT NULL CHECK (retry_delay_ms > 0),
  retry_max_delay_ms INTEGER NOT NULL CHECK (retry_max_delay_ms > 0),
  timeout_ms         INTEGER CHECK (timeout_ms > 0),
  cancel_grace_ms    INTEGER NOT NULL CHECK (cancel_grace_ms > 0),
  split              INTEGER NOT NULL DEFAULT 0 CHECK (split IN (0, 1)),
  key                TEXT,
  on_need_failure    TEXT NOT NULL DEFAULT 'cancel' CHECK (on_need_failure IN ('cancel', 'dead', 'release')),
  rerun_of           INTEGER,
  environment_id     INTEGER NOT NULL REFERENCES environments (id),
  env                TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(env)),
  umask              INTEGER NOT NULL CHECK (umask BETWEEN 0 AND 511),
  created_at         INTEGER NOT NULL
);
CREATE INDEX jobs_label ON jobs (label, id) WHERE label IS NOT NULL;
CREATE INDEX jobs_lane ON jobs (lane, id);
CREATE INDEX jobs_key ON jobs (key, id) WHERE key IS NOT NULL;
CREATE INDEX jobs_environment ON jobs (environment_id);

CREATE TRIGGER jobs_are_immutable BEFORE UPDATE ON jobs BEGIN
  SELECT RAISE(ABORT, 'a job is written once and never changed');
END;
CREATE TRIGGER jobs_drop_environment AFTER DELETE ON jobs BEGIN
  DELETE FROM environments WHERE id = OLD.environment_id
    AND NOT EXISTS (SELECT 1 FROM jobs WHERE environment_id = OLD.environment_id);
END;

-- The only mutable lifecycle row; exists only while the job is blocked, queued or running.
-- due: 1 once next_run_at has come (jobs added without a delay are due at once, whatever the
-- clock says). It keeps delayed jobs out of the claim's index; what people see is derived from it
-- and the clock by the queries.
CREATE TABLE job_runtime (
  job_id              INTEGER PRIMARY KEY REFERENCES jobs (id),
  state               TEXT NOT NULL CHECK (state IN ('blocked', 'queued', 'running')),
  lane                TEXT NOT NULL,
  key                 TEXT,
  priority            INTEGER NOT NULL CHECK (priority BETWEEN -2147483648 AND 2147483647),
  next_run_at         INTEGER NOT NULL,
  due                 INTEGER NOT NULL CHECK (due IN (0, 1)),
  backing_off         INTEGER NOT NULL DEFAULT 0 CHECK (backing_off IN (0, 1)),
  attempts            INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  failures            INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  crashes             INTEGER NOT NULL DEFAULT 0 CHECK (crashes >= 0),
  needs_left          INTEGER NOT NULL DEFAULT 0 CHECK (needs_left >= 0),
  worker_id           TEXT,
  fence               INTEGER NOT NULL DEFAULT 0 CHECK (fence >= 0),
  lease_until         INTEGER,
  cancel_requested_at INTEGER,
  retry_forced        INTEGER NOT NULL DEFAULT 0 CHECK (retry_forced IN (0, 1)),
  CHECK ((state = 'running') = (worker_id IS NOT NULL)),
  CHECK ((state = 'running') = (lease_until IS NOT NULL)),
  CHECK (cancel_requested_at IS NULL OR state = 'running'),
  CHECK (retry_forced = 0 OR state = 'running'),
  CHECK (state <> 'blocked' OR needs_left > 0),
  CHECK (due = 0 OR backing_off = 0)
);
-- The claim order of a lane, read from the index alone. Terminal, delayed and blocked jobs are not in it.
CREATE INDEX runtime_claim ON job_runtime (lane, priority DESC, next_run_at, job_id)
  WHERE state = 'queued' AND due = 1;
CREATE INDEX runtime_delayed ON job_runtime (next_run_at, job_id, lane, backing_off) WHERE state = 'queued' AND due = 0;
-- Lists by state and phase: 'queued00' scheduled, 'queued01' retrying, 'queued10' due; each is one run of ids,
-- the lane beside it. An expression, so that no query about state or due prefers this index to its own.
CREATE INDEX runtime_phase ON job_runtime (state || due || backing_off, job_id, lane);
CREATE INDEX runtime_worker ON job_runtime (worker_id, job_id) WHERE state = 'running';
CREATE UNIQUE INDEX runtime_key ON job_runtime (key) WHERE key IS NOT NULL;

CREATE TABLE job_outcomes (
  job_id      INTEGER PRIMARY KEY REFERENCES jobs (id),
  state       TEXT NOT NULL CHECK (state IN ('done', 'dead', 'canceled')),
  lane        TEXT NOT NULL,
  reason      TEXT CHECK (reason IN ('process_exit', 'timeout', 'spawn_failed', 'worker_crash', 'canceled',
                'dependency', 'log_limit', 'unknown')),
  exit_code   INTEGER,
  signal      TEXT,
  error       TEXT,
  priority    INTEGER NOT NULL,
  attempts    INTEGER NOT NULL CHECK (attempts >= 0),
  failures    INTEGER NOT NULL CHECK (failures >= 0),
  crashes     INTEGER NOT NULL CHECK (crashes >= 0),
  fence       INTEGER NOT NULL CHECK (fence >= 0),
  finished_at INTEGER NOT NULL,
  -- The prerequisite whose end settled it by policy.
  settled_by  INTEGER,
  CHECK ((state = 'done') = (reason IS NULL)),
  CHECK (settled_by IS NULL OR reason = 'dependency')
);
CREATE INDEX outcomes_state ON job_outcomes (state, job_id, lane);
-- Retention takes the oldest of some states: those of other states are not even looked at.
CREATE INDEX outcomes_age ON job_outcomes (state, finished_at, job_id);

CREATE TRIGGER runtime_excludes_outcome BEFORE INSERT ON job_runtime
WHEN EXISTS (SELECT 1 FROM job_outcomes WHERE job_id = NEW.job_id) BEGIN
  SELECT RAISE(ABORT, 'a job is live or terminal, never both');
END;
CREATE TRIGGER outcome_excludes_runtime BEFORE INSERT ON job_outcomes
WHEN EXISTS (SELECT 1 FROM job_runtime WHERE job_id = NEW.job_id)
  OR EXISTS (SELECT 1 FROM attempts WHERE job_id = NEW.job_id AND state = 'running') BEGIN
  SELECT RAISE(ABORT, 'a terminal job has no runtime row and no running attempt');
END;

CREATE TABLE attempts (
  job_id        INTEGER NOT NULL REFERENCES jobs (id),
  number        INTEGER NOT NULL CHECK (number >= 1),
  state         TEXT NOT NULL CHECK (state IN ('running', 'succeeded', 'failed', 'timed_out', 'abandoned', 'canceled')),
  worker_id     TEXT NOT NULL,
  fence         INTEGER NOT NULL CHECK (fence >= 1),
  -- Where its process lives: a pid means nothing elsewhere. Copied from the worker that claimed it,
  -- and left as they are when a reaper takes the attempt over.
  host          TEXT NOT NULL,
  boot_id       TEXT NOT NULL,
  pid_namespace TEXT NOT NULL,
  pid           INTEGER,
  pid_start     TEXT,
  waiting_since INTEGER NOT NULL,
  started_at    INTEGER NOT NULL,
  finished_at   INTEGER,
  exit_code     INTEGER,
  signal        TEXT,
  reason        TEXT CHECK (reason IN ('process_exit', 'timeout', 'spawn_failed', 'worker_crash', 'canceled',
                  'log_limit', 'unknown')),
  error         TEXT,
  stdout_path   TEXT,
  stderr_path   TEXT,
  stdout_bytes  INTEGER,
  stderr_bytes  INTEGER,
  PRIMARY KEY (job_id, number),
  CHECK ((state = 'running') = (finished_at IS NULL)),
  CHECK (state <> 'succeeded' OR reason IS NULL)
) WITHOUT ROWID;
CREATE UNIQUE INDEX attempts_running ON attempts (job_id) WHERE state = 'running';
CREATE INDEX attempts_started ON attempts (started_at);

CREATE TABLE job_events (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id     INTEGER,
  attempt    INTEGER,
  event_type TEXT NOT NULL CHECK (event_type IN ('added', 'released', 'claimed', 'succeeded', 'failed', 'timed_out',
               'reaped', 'retried', 'rescheduled', 'dead', 'cancel_requested', 'canceled', 'slept', 'checkpointed',
               'pruned', 'lane_changed')),
  at         INTEGER NOT NULL,
  worker_id  TEXT,
  detail     TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(detail)),
  CHECK ((event_type = 'lane_changed') = (job_id IS NULL))
);
CREATE INDEX events_job ON job_events (job_id, id) WHERE job_id IS NOT NULL;
CREATE INDEX events_pruned ON job_events (at, id) WHERE event_type = 'pruned';
CREATE TRIGGER events_are_append_only BEFORE UPDATE ON job_events BEGIN
  SELECT RAISE(ABORT, 'the ledger is append-only');
END;

CREATE TABLE workers (
  id            TEXT PRIMARY KEY,
  kind          TEXT NOT NULL CHECK (kind IN ('server', 'work')),
  host          TEXT NOT NULL,
  boot_id       TEXT NOT NULL,
  pid_namespace TEXT NOT NULL,
  pid           INTEGER NOT NULL,
  pid_start     TEXT,
  lanes         TEXT CHECK (lanes IS NULL OR json_valid(lanes)),
  slots         INTEGER,
  concurrency   INTEGER NOT NULL CHECK (concurrency >= 1),
  started_at    INTEGER NOT NULL,
  heartbeat_at  INTEGER NOT NULL,
  -- Raised by each heartbeat; a reaper compares it with its own ticks, never with a clock.
  heartbeats    INTEGER NOT NULL DEFAULT 0,
  schema        INTEGER NOT NULL
) WITHOUT ROWID;

-- Prerequisites, fixed at add, so that no cycle can be written. need_id may outlive its job.
CREATE TABLE job_needs (
  job_id    INTEGER NOT NULL REFERENCES jobs (id),
  need_id   INTEGER NOT NULL CHECK (need_id < job_id),
  satisfied INTEGER NOT NULL DEFAULT 0 CHECK (satisfied IN (0, 1)),
  PRIMARY KEY (job_id, need_id)
) WITHOUT ROWID;
CREATE INDEX needs_reverse ON job_needs (need_id, job_id);

-- Ended jobs whose dependents were too many for one transaction: `settle` goes on from here.
CREATE TABLE settlements (
  job_id INTEGER PRIMARY KEY REFERENCES jobs (id)
);

-- Stages that finished, and durable sleeps. A sleep's `until` is when it is over.
CREATE TABLE checkpoints (
  job_id  INTEGER NOT NULL REFERENCES jobs (id),
  name    TEXT NOT NULL,
  kind    TEXT NOT NULL CHECK (kind IN ('stage', 'sleep')),
  attempt INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  stdout  BLOB,
  until   INTEGER,
  -- The sleep that the running attempt asked for; cleared when it is over or the job ends otherwise.
  pending INTEGER NOT NULL DEFAULT 0 CHECK (pending IN (0, 1)),
  PRIMARY KEY (job_id, name),
  CHECK ((kind = 'stage') = (stdout IS NOT NULL)),
  CHECK ((kind = 'sleep') = (until IS NOT NULL)),
  CHECK (kind = 'sleep' OR pending = 0)
);

-- Log files whose rows are pruned and which are still to be deleted: a crash between the two leaves no file behind.
CREATE TABLE pruned_files (
  path  TEXT PRIMARY KEY
) WITHOUT ROWID;

-- Kept counts. `delayed` and `backing_off` speak of queued jobs whose time has not been seen to come.
CREATE TRIGGER runtime_counts_insert AFTER INSERT ON job_runtime BEGIN
  UPDATE counters SET n = n + 1 WHERE name = NEW.state;
  UPDATE counters SET n = n + 1 WHERE name = 'delayed' AND NEW.state = 'queued' AND NEW.due = 0;
  UPDATE counters SET n = n + 1 WHERE name = 'backing_off' AND NEW.state = 'queued' AND NEW.backing_off = 1;
  UPDATE lanes SET queued = queued + (NEW.state = 'queued'), delayed = delayed + (NEW.state = 'queued' AND NEW.due = 0),
    running = running + (NEW.state = 'running'), blocked = blocked + (NEW.state = 'blocked') WHERE name = NEW.lane;
END;
CREATE TRIGGER runtime_counts_delete AFTER DELETE ON job_runtime BEGIN
  UPDATE counters SET n = n - 1 WHERE name = OLD.state;
  UPDATE counters SET n = n - 1 WHERE name = 'delayed' AND OLD.state = 'queued' AND OLD.due = 0;
  UPDATE counters SET n = n - 1 WHERE name = 'backing_off' AND OLD.state = 'queued' AND OLD.backing_off = 1;
  UPDATE lanes SET queued = queued - (OLD.state = 'queued'), delayed = delayed - (OLD.state = 'queued' AND OLD.due = 0),
    running = running - (OLD.state = 'running'), blocked = blocked - (OLD.state = 'blocked') WHERE name = OLD.lane;
END;
-- Three, so that a claim or an end, which changes neither of the last two, pays for the first alone.
CREATE TRIGGER runtime_counts_state AFTER UPDATE OF state ON job_runtime WHEN OLD.state <> NEW.state BEGIN
  UPDATE counters SET n = n - 1 WHERE name = OLD.state;
  UPDATE counters SET n = n + 1 WHERE name = NEW.state;
  UPDATE lanes SET
    queued = queued + (NEW.state = 'queued') - (OLD.state = 'queued'),
    running = running + (NEW.state = 'running') - (OLD.state = 'running'),
    blocked = blocked + (NEW.state = 'blocked') - (OLD.state = 'blocked')
  WHERE name = NEW.lane;
END;
CREATE TRIGGER runtime_counts_delayed AFTER UPDATE OF state, due ON job_runtime
WHEN (OLD.state = 'queued' AND OLD.due = 0) <> (NEW.state = 'queued' AND NEW.due = 0) BEGIN
  UPDATE counters SET n = n + iif(NEW.state = 'queued' AND NEW.due = 0, 1, -1) WHERE name = 'delayed';
  UPDATE lanes SET delayed = delayed + iif(NEW.state = 'queued' AND NEW.due = 0, 1, -1) WHERE name = NEW.lane;
END;
CREATE TRIGGER runtime_counts_backing_off AFTER UPDATE OF state, backing_off ON job_runtime
WHEN (OLD.state = 'queued' AND OLD.backing_off = 1) <> (NEW.state = 'queued' AND NEW.backing_off = 1) BEGIN
  UPDATE counters SET n = n + iif(NEW.state = 'queued' AND NEW.backing_off = 1, 1, -1) WHERE name = 'backing_off';
END;
CREATE TRIGGER outcome_counts_insert AFTER INSERT ON job_outcomes BEGIN
  UPDATE counters SET n = n + 1 WHERE name = NEW.state;
END;
CREATE TRIGGER outcome_counts_delete AFTER DELETE ON job_outcomes BEGIN
  UPDATE counters SET n = n - 1 WHERE name = OLD.state;
END;
CREATE TRIGGER attempts_count_bytes AFTER UPDATE OF stdout_bytes, stderr_bytes ON attempts BEGIN
  UPDATE counters SET n = n + coalesce(NEW.stdout_bytes, 0) - coalesce(OLD.stdout_bytes, 0)
    + (NEW.stderr_path IS NOT NEW.stdout_path) * coalesce(NEW.stderr_bytes, 0)
    - (OLD.stderr_path IS NOT OLD.stdout_path) * coalesce(OLD.stderr_bytes, 0)
  WHERE name = 'log_bytes';
END;
CREATE TRIGGER attempts_uncount_bytes AFTER DELETE ON attempts BEGIN
  UPDATE counters SET n = n - coalesce(OLD.stdout_bytes, 0)
    - (OLD.stderr_path IS NOT OLD.stdout_path) * coalesce(OLD.stderr_bytes, 0)
  WHERE name = 'log_bytes';
END;

-- Every job from whichever side it is on.
CREATE VIEW job_view AS
SELECT j.id, j.lane, j.argv, j.cwd, j.label, j.tags, j.max_retries, j.max_crashes, j.retry_delay_ms,
  j.retry_max_delay_ms, j.timeout_ms, j.cancel_grace_ms, j.split, j.key, j.on_need_failure, j.rerun_of,
  j.environment_id, j.env, j.umask, j.created_at,
  coalesce(r.state, o.state) AS state,
  coalesce(r.priority, o.priority) AS priority,
  coalesce(r.attempts, o.attempts) AS attempts,
  coalesce(r.failures, o.failures) AS failures,
  coalesce(r.crashes, o.crashes) AS crashes,
  coalesce(r.fence, o.fence) AS fence,
  r.next_run_at, r.due, r.backing_off, r.needs_left, r.worker_id, r.cancel_requested_at,
  o.reason, o.exit_code, o.signal, o.error, o.finished_at, o.settled_by
FROM jobs j
LEFT JOIN job_runtime r ON r.job_id = j.id
LEFT JOIN job_outcomes o ON o.job_id = j.id;
