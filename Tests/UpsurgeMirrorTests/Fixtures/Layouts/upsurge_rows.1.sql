-- upsurge_rows, layout 1: made by the CREATE TABLE of ed5029c (2026-11-22), with what a mirror and loads have kept.
BEGIN TRANSACTION;
CREATE TABLE upsurge_rows (
  "table" TEXT NOT NULL COLLATE NOCASE,
  "key" TEXT NOT NULL,
  owned_by TEXT NOT NULL,
  key_columns TEXT NOT NULL COLLATE NOCASE,
  source TEXT NOT NULL,
  run INTEGER,
  gone INTEGER NOT NULL,
  PRIMARY KEY ("key", "table", owned_by)
) WITHOUT ROWID;
INSERT INTO "upsurge_rows" VALUES('members','1','crm','["id"]','members.csv',5,0);
INSERT INTO "upsurge_rows" VALUES('members','2','crm','["id"]','members.csv',5,0);
INSERT INTO "upsurge_rows" VALUES('members','3','crm','["id"]','members.csv',5,0);
INSERT INTO "upsurge_rows" VALUES('members','9','crm','["id"]','members.csv',4,0);
COMMIT;
