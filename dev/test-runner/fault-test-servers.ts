// Servers that only the fault tests use, in their own folder beside the stacks.

import { type Folders, foldersOf } from '../lib/folders.ts';
import { stopPostgres } from '../stack/servers/postgres.ts';
import { stopPrivateEngine } from '../stack/servers/private-engine.ts';
import { stopRedis } from '../stack/servers/redis.ts';
import { stopTemporalServer } from '../stack/servers/temporal-server.ts';

export function faultTestFolders(): Folders {
  return foldersOf('faults-own');
}

/** Stops those that run. */
export async function stopFaultTestServers(): Promise<void> {
  const folders = faultTestFolders();
  await stopTemporalServer(folders);
  await stopRedis(folders);
  await stopPostgres(folders);
  await stopPrivateEngine();
}
