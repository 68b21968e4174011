-- Tables of OpenCode 1.18 that hold conversations, with the columns that are read.
CREATE TABLE `session` (`id` text PRIMARY KEY, `project_id` text NOT NULL, `parent_id` text, `slug` text NOT NULL,
  `directory` text NOT NULL, `title` text NOT NULL, `version` text NOT NULL, `time_created` integer NOT NULL,
  `time_updated` integer NOT NULL);
CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text NOT NULL, `time_created` integer NOT NULL,
  `time_updated` integer NOT NULL, `data` text NOT NULL,
  CONSTRAINT `fk_message_session_id_session_id_fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE);
CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text NOT NULL, `session_id` text NOT NULL,
  `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL,
  CONSTRAINT `fk_part_message_id_message_id_fk` FOREIGN KEY (`message_id`) REFERENCES `message`(`id`) ON DELETE CASCADE);
INSERT INTO session VALUES
  ('ses_1', 'p', NULL, 'buoys', '/home/kate/coast', 'Buoys', '1.18.0', 1, 1),
  ('ses_2', 'p', 'ses_1', 'count', '/home/kate/coast', 'Count', '1.18.0', 2, 2);
INSERT INTO message VALUES
  ('msg_a', 'ses_1', 1772366400000, 1, '{"role":"user","time":{"created":1772366400000}}'),
  ('msg_b', 'ses_1', 1772366400000, 1, '{"role":"assistant"}'),
  ('msg_c', 'ses_2', 1772366400000, 1, '{"role":"user"}'),
  ('msg_d', 'ses_2', 1772366400000, 1, '{"role":"stranger"}');
INSERT INTO part VALUES
  ('prt_1', 'msg_a', 'ses_1', 1, 1, '{"type":"text","text":"list the buoys"}'),
  ('prt_2', 'msg_a', 'ses_1', 1, 1, '{"type":"text","text":"a file","synthetic":true}'),
  ('prt_3', 'msg_b', 'ses_1', 1, 1, '{"type":"tool","tool":"bash","state":{"input":{"command":"ls"},"output":"buoy.txt"}}'),
  ('prt_4', 'msg_b', 'ses_1', 1, 1, '{"type":"brand-new"}'),
  ('prt_5', 'msg_c', 'ses_2', 1, 1, '{"type":"text","text":"count them"}');
