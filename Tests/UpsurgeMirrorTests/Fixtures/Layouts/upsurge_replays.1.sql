-- upsurge_replays, layout 1: made by the CREATE TABLE of a9b6785 (2026-11-21), with what a mirror and loads have kept.
BEGIN TRANSACTION;
CREATE TABLE upsurge_replays (
  path TEXT PRIMARY KEY,
  done_bytes INTEGER NOT NULL,
  done_hash INTEGER NOT NULL,
  kept_bytes INTEGER NOT NULL,
  kept_hash INTEGER NOT NULL,
  whole INTEGER NOT NULL,
  updated_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
INSERT INTO "upsurge_replays" VALUES('/data/shop/bad.ndjson',311,-3750763034362895579,0,-1205034819632174695,0,'2026-11-26T16:17:43.410Z');
COMMIT;
