-- upsurge_refusals, layout 1: made by the CREATE TABLE of aa20e91 (2026-11-25), with what a mirror and loads have kept.
BEGIN TRANSACTION;
CREATE TABLE upsurge_refusals (
  "table" TEXT NOT NULL COLLATE NOCASE,
  owned_by TEXT NOT NULL,
  content TEXT,
  digest TEXT NOT NULL,
  guards TEXT NOT NULL,
  reason TEXT NOT NULL,
  refused_at TEXT NOT NULL,
  rows_known INTEGER NOT NULL,
  PRIMARY KEY ("table", owned_by, digest)
) WITHOUT ROWID;
INSERT INTO "upsurge_refusals" VALUES('members','crm','7811ffceb64a0adf','4247958bbb4da196','max-delete: 10.0%, min-rows: 1, min-ratio: 0.5, allow-empty: false, sweep: hard, options: 963f7dac160c4a99','1 of 4 records could not be read, or have no key, so the rows they are about cannot be told from rows that are gone','2026-11-26T16:17:43Z',1);
INSERT INTO "upsurge_refusals" VALUES('members','crm','dd1a6bfc6c9ebec5','a8792c33b60d11c5','max-delete: 10.0%, min-rows: 1, min-ratio: 0.5, allow-empty: false, sweep: hard, options: 963f7dac160c4a99','2 of 3 rows of table members are not in the delivery, more than the max-delete of 10%','2026-11-26T16:17:43Z',1);
COMMIT;
