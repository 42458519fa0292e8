-- upsurge_unaccepted, layout 1: made by the CREATE TABLE of aa20e91 (2026-11-25), with what a mirror and loads have kept.
BEGIN TRANSACTION;
CREATE TABLE upsurge_unaccepted (
  "table" TEXT NOT NULL COLLATE NOCASE,
  owned_by TEXT NOT NULL,
  "key" TEXT NOT NULL,
  PRIMARY KEY ("table", owned_by, "key")
) WITHOUT ROWID;
INSERT INTO "upsurge_unaccepted" VALUES('members','crm','9');
COMMIT;
