// Run by docker compose, see first.yml.

import { obey } from './main-command.ts';

process.exitCode = await obey(process.argv.slice(2), {
  secrets: '/secrets',
  postgres: { host: 'postgres', port: 5432 },
  redis: { host: 'redis', port: 6379 },
  temporalEntrance: '/control/caddy.sock',
});
