-- upsurge_pending, layout 1: made by the CREATE TABLE of c170bb8 (2026-11-21), with what a mirror and loads have kept.
BEGIN TRANSACTION;
CREATE TABLE upsurge_pending ("table" TEXT NOT NULL, "index" TEXT NOT NULL,
  position INTEGER NOT NULL, "column" TEXT NOT NULL, PRIMARY KEY ("index", position)) WITHOUT ROWID;
INSERT INTO "upsurge_pending" VALUES('big','big_id_v',0,'id');
INSERT INTO "upsurge_pending" VALUES('big','big_id_v',1,'v');
INSERT INTO "upsurge_pending" VALUES('big','big_v',0,'v');
COMMIT;
