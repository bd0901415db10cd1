-- Up Migration

-- What config_fields says.
alter table runs drop column had_config;
