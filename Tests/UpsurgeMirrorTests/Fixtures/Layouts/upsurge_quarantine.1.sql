-- upsurge_quarantine, layout 1: made by the CREATE TABLE of b0dd8db (2026-11-21), with what a mirror and loads have kept.
BEGIN TRANSACTION;
CREATE TABLE upsurge_quarantine (
  id INTEGER PRIMARY KEY,
  "table" TEXT NOT NULL COLLATE NOCASE,
  key TEXT,
  key_columns TEXT,
  version,
  rules TEXT NOT NULL,
  columns TEXT NOT NULL,
  record TEXT NOT NULL,
  file TEXT,
  number INTEGER,
  line INTEGER,
  byte INTEGER,
  added_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
INSERT INTO "upsurge_quarantine" VALUES(1,'orders','[1]','["id NUMERIC"]',NULL,'{"key":["id"],"mode":"upsert"}','["coupon"]','{"id":1,"total":5,"coupon":"A"}','orders.csv',1,2,16,'2026-11-26T16:17:43.363Z');
CREATE INDEX upsurge_quarantine_key ON upsurge_quarantine ("table", key);
COMMIT;
