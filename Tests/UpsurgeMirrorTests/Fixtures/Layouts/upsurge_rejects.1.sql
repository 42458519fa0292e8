-- upsurge_rejects, layout 1: made by the CREATE TABLE of a9b6785 (2026-11-21), with what a mirror and loads have kept.
BEGIN TRANSACTION;
CREATE TABLE upsurge_reject_contexts (
  id INTEGER PRIMARY KEY,
  context TEXT NOT NULL UNIQUE
);
INSERT INTO "upsurge_reject_contexts" VALUES(1,'{"upsurge_rejects":1,"table":"stock","rules":{"key":["id"],"mode":"upsert","rowids":"given"},"contract":"freeze","folder":"/data/shop","format":"csv","dialect":{"delimiter":",","quote":"\""},"fields":["id","n"]}');
INSERT INTO "upsurge_reject_contexts" VALUES(2,'{"upsurge_rejects":1,"table":"members","rules":{"key":["id"],"mode":"upsert","rowids":"given"},"contract":"freeze","folder":"/data/shop","format":"csv","dialect":{"delimiter":",","quote":"\""},"fields":["id","name"]}');
CREATE TABLE upsurge_rejects (
  id INTEGER PRIMARY KEY,
  "table" TEXT NOT NULL COLLATE NOCASE,
  context INTEGER NOT NULL,
  file TEXT,
  record INTEGER,
  line INTEGER,
  byte INTEGER,
  "column" TEXT,
  code TEXT NOT NULL,
  reason TEXT NOT NULL,
  raw NOT NULL,
  raw_cut INTEGER NOT NULL DEFAULT 0,
  added_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
INSERT INTO "upsurge_rejects" VALUES(1,'stock',1,'in/b.csv',2,3,9,'n','ragged','expected 2 fields, found 3: the record goes on behind column n, the last one','3,x,y',0,'2026-11-26T16:17:43.148Z');
INSERT INTO "upsurge_rejects" VALUES(2,'members',2,'members.csv',4,5,26,'id','ragged','expected 2 fields, found 1: the record ends with column id','8',0,'2026-11-26T16:17:43.225Z');
COMMIT;
