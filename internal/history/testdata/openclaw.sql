-- Tables of OpenClaw 2026.9.6 that hold transcripts, with the columns that are read or constrained.
CREATE TABLE session_windows (
  session_id TEXT NOT NULL PRIMARY KEY,
  session_key TEXT NOT NULL,
  session_scope TEXT NOT NULL DEFAULT 'conversation'
    CHECK (session_scope IN ('conversation', 'shared-main', 'group', 'channel')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  chat_type TEXT CHECK (chat_type IS NULL OR chat_type IN ('direct', 'group', 'channel')),
  spawned_by TEXT,
  display_name TEXT
) STRICT;
CREATE TABLE transcript_events (
  session_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  event_json TEXT,
  created_at INTEGER NOT NULL,
  event_zstd BLOB,
  event_utf8_bytes INTEGER CHECK (event_utf8_bytes IS NULL OR event_utf8_bytes >= 0),
  navigation_json TEXT,
  PRIMARY KEY (session_id, seq),
  CHECK ((event_json IS NOT NULL AND event_zstd IS NULL) OR (event_json IS NULL AND event_zstd IS NOT NULL))
) STRICT;
INSERT INTO session_windows VALUES
  ('d1', 'agent:kate:main', 'shared-main', 1, 1, 'direct', NULL, 'Buoys'),
  ('g1', 'agent:kate:telegram:group:-1', 'group', 2, 2, 'group', NULL, NULL),
  ('g2', 'agent:kate:discord:x', 'channel', 3, 3, NULL, NULL, NULL),
  ('g3', 'agent:kate:slack:room:7', 'conversation', 3, 3, NULL, NULL, NULL),
  ('s1', 'agent:kate:subagent:a', 'conversation', 4, 4, NULL, 'agent:kate:main', NULL),
  ('s2', 'agent:kate:subagent:b', 'conversation', 5, 5, NULL, 'agent:kate:telegram:group:-1', NULL),
  ('s3', 'agent:kate:subagent:c', 'conversation', 6, 6, NULL, 'agent:kate:subagent:b', NULL),
  ('cold', 'agent:kate:cron', 'conversation', 7, 7, 'direct', NULL, NULL);
INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES
  ('d1', 0, '{"type":"session","version":4,"id":"d1","cwd":"/home/kate/coast"}', 1),
  ('d1', 1, '{"type":"message","id":"a","timestamp":"2026-03-01T12:00:00Z","message":{"role":"user","content":"list the buoys"}}', 1),
  ('d1', 2, '{"type":"model_change","id":"b"}', 1),
  ('d1', 3, '{"type":"message","id":"a","timestamp":"2026-03-01T12:00:00Z","message":{"role":"user","content":"list the buoys"}}', 1),
  ('d1', 4, 'torn', 1),
  ('g1', 0, '{"type":"message","id":"a","message":{"role":"user","content":"a group"}}', 1),
  ('g2', 0, '{"type":"message","id":"a","message":{"role":"user","content":"a channel"}}', 1),
  ('g3', 0, '{"type":"message","id":"a","message":{"role":"user","content":"a room"}}', 1),
  ('s1', 0, '{"type":"message","id":"a","timestamp":"2026-03-01T12:00:00Z","message":{"role":"user","content":"count them"}}', 1),
  ('s2', 0, '{"type":"message","id":"a","message":{"role":"user","content":"the group''s task"}}', 1),
  ('s3', 0, '{"type":"message","id":"a","message":{"role":"user","content":"a task of the group''s task"}}', 1);
