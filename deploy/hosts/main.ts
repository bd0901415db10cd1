// The command of the service `hosts` in primary.yml.

import { runHostsCommand } from './main-command.ts';

process.exitCode = await runHostsCommand(process.argv.slice(2), {
  secrets: '/secrets',
  postgres: { host: 'postgres', port: 5432 },
  redis: { host: 'redis', port: 6379 },
  temporalIngress: '/control/caddy.sock',
});
