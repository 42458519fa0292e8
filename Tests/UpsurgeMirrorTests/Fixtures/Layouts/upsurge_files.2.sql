-- upsurge_files, layout 2: made by the CREATE TABLE of 3627904 (2026-11-22), with what a mirror and loads have kept.
BEGIN TRANSACTION;
CREATE TABLE upsurge_files (
  "table" TEXT NOT NULL COLLATE NOCASE,
  hash TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  name TEXT NOT NULL,
  stamp TEXT NOT NULL,
  taken_at TEXT NOT NULL,
  PRIMARY KEY ("table", hash, bytes, name)
) WITHOUT ROWID;
INSERT INTO "upsurge_files" VALUES('stock','73d9e2aff6871c2f',15,'/data/shop/in/b.csv','[{"name":"/data/shop/in/b.csv","bytes":15,"hash":"73d9e2aff6871c2f","stamp":[1795709863083133343,1795709863083133343,16261822]}]','2026-11-26T16:17:43Z');
INSERT INTO "upsurge_files" VALUES('stock','85de8e8dfd67739b',9,'/data/shop/in/a.csv','[{"name":"/data/shop/in/a.csv","bytes":9,"hash":"85de8e8dfd67739b","stamp":[1795709863083133343,1795709863083133343,16261683]}]','2026-11-26T16:17:43Z');
COMMIT;
