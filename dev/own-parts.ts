// Servers that the fault tests have for themselves, in a folder beside those of the stacks.

import { type Folders, foldersOf } from './folders.ts';
import { stopPostgres } from './parts/postgres.ts';
import { stopPrivateEngine } from './parts/private-engine.ts';
import { stopRedis } from './parts/redis.ts';
import { stopTemporalServer } from './parts/temporal-server.ts';

export function ownPartsFolders(): Folders {
  return foldersOf('faults-own');
}

/** Ends all of them; those that do not run change nothing. */
export async function stopOwnParts(): Promise<void> {
  const folders = ownPartsFolders();
  await stopTemporalServer(folders);
  await stopRedis(folders);
  await stopPostgres(folders);
  await stopPrivateEngine();
}
