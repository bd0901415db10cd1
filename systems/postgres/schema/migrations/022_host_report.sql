-- Up Migration

-- What a host says of its engine, image, disk and clock: JSON, for people to read; nothing is decided
-- by it.
alter table hosts add column report json;
