-- upsurge_feeds, layout 4: made by the CREATE TABLE of ed5029c (2026-11-22), with what a mirror and loads have kept.
BEGIN TRANSACTION;
CREATE TABLE upsurge_feeds (
  "table" TEXT NOT NULL COLLATE NOCASE,
  owned_by TEXT NOT NULL,
  feed TEXT NOT NULL,
  files TEXT NOT NULL,
  etag TEXT,
  last_modified TEXT,
  settings TEXT,
  records INTEGER,
  checked_at TEXT NOT NULL,
  good_at TEXT,
  delivered_at TEXT,
  failures INTEGER NOT NULL,
  exit_code INTEGER NOT NULL,
  message TEXT,
  PRIMARY KEY ("table", owned_by)
);
INSERT INTO "upsurge_feeds" VALUES('members','crm','{"kind":"snapshot","source":["/data/shop/members.csv"],"key":["id"],"headers":{}}','[{"name":"/data/shop/members.csv","bytes":26,"hash":"74a89a3d87ad81fb","stamp":[1795709863083133343,1795709863083133343,16261653]}]',NULL,NULL,'fa545204abe914ba',3,'2026-11-26T16:17:43Z','2026-11-26T16:17:43Z','2026-11-26T16:17:43Z',2,4,'nothing is swept: 1 of 4 records could not be read, or have no key, so the rows they are about cannot be told from rows that are gone');
INSERT INTO "upsurge_feeds" VALUES('stock','','{"kind":"snapshot","source":["/data/shop/in"],"key":["id"],"headers":{}}','[{"name":"/data/shop/in/b.csv","bytes":15,"hash":"73d9e2aff6871c2f","stamp":[1795709863083133343,1795709863083133343,16261822]}]',NULL,NULL,'fb66788cc57aa769',2,'2026-11-26T16:17:43Z','2026-11-26T16:17:43Z','2026-11-26T16:17:43Z',0,2,NULL);
INSERT INTO "upsurge_feeds" VALUES('big','','{"kind":"snapshot","source":["/data/shop/big.csv"],"key":["id"],"headers":{}}','[{"name":"/data/shop/big.csv","bytes":3389,"hash":"abdf5f9d73cfaa8","stamp":[1795709863369313411,1795709863369313411,16262188]}]',NULL,NULL,'1d7759976418f3c',400,'2026-11-26T16:17:43Z','2026-11-26T16:17:43Z','2026-11-26T16:17:43Z',0,0,NULL);
COMMIT;
