-- upsurge_reject_contexts, layout 1: made by the CREATE TABLE of a9b6785 (2026-11-21), with what a mirror and loads have kept.
BEGIN TRANSACTION;
CREATE TABLE upsurge_reject_contexts (
  id INTEGER PRIMARY KEY,
  context TEXT NOT NULL UNIQUE
);
INSERT INTO "upsurge_reject_contexts" VALUES(1,'{"upsurge_rejects":1,"table":"stock","rules":{"key":["id"],"mode":"upsert","rowids":"given"},"contract":"freeze","folder":"/data/shop","format":"csv","dialect":{"delimiter":",","quote":"\""},"fields":["id","n"]}');
INSERT INTO "upsurge_reject_contexts" VALUES(2,'{"upsurge_rejects":1,"table":"members","rules":{"key":["id"],"mode":"upsert","rowids":"given"},"contract":"freeze","folder":"/data/shop","format":"csv","dialect":{"delimiter":",","quote":"\""},"fields":["id","name"]}');
COMMIT;
