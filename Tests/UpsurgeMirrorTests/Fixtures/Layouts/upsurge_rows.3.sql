-- upsurge_rows, layout 3: made by the CREATE TABLE of f3d24d3 (2026-11-23), with what a mirror and loads have kept.
BEGIN TRANSACTION;
CREATE TABLE upsurge_rows (
  "table" TEXT NOT NULL COLLATE NOCASE,
  "key" TEXT NOT NULL,
  owned_by TEXT NOT NULL,
  key_columns TEXT NOT NULL COLLATE NOCASE,
  source TEXT NOT NULL,
  run INTEGER,
  gone INTEGER NOT NULL,
  stored INTEGER NOT NULL,
  content INTEGER,
  content_columns TEXT,
  edit TEXT,
  PRIMARY KEY ("key", "table", owned_by)
) WITHOUT ROWID;
INSERT INTO "upsurge_rows" VALUES('members','1','crm','["id"]','members.csv',5,0,1,-3492987803714408722,'["id","name"]',NULL);
INSERT INTO "upsurge_rows" VALUES('members','2','crm','["id"]','members.csv',5,0,1,1779734438679784092,'["id","name"]',NULL);
INSERT INTO "upsurge_rows" VALUES('members','3','crm','["id"]','members.csv',5,0,1,-7876706875633170821,'["id","name"]',NULL);
INSERT INTO "upsurge_rows" VALUES('members','9','crm','["id"]','members.csv',4,0,1,-2947250727721412581,'["id","name"]',NULL);
COMMIT;
