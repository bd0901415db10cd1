// Stops a stack: the service first, then its sandboxes, then its servers. Every step may find its
// work done already, so a second `npm run stop` changes nothing.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { foldersOf, rootFolder } from '../lib/folders.ts';
import { isRunning } from './daemon.ts';
import { isStackLocked } from './lock.ts';
import { removeSandboxes } from './remove-sandboxes.ts';
import { runningEngines, stopEngine } from './servers/engine.ts';
import { stopGvisorEngine } from './servers/gvisor-engine.ts';
import { stopModel } from './servers/model.ts';
import { stopPostgres } from './servers/postgres.ts';
import { stopRedis } from './servers/redis.ts';
import { stopTemporal } from './servers/temporal.ts';
import { stopService } from './service.ts';
import { readStackFile } from './service-env.ts';

const servers = {
  'gvisor engine': stopGvisorEngine,
  model: stopModel,
  temporal: stopTemporal,
  redis: stopRedis,
  postgres: stopPostgres,
};

/** Returns what it stopped, in order. */
export async function stopStack(stack: string): Promise<string[]> {
  const folders = foldersOf(stack);
  const ended = await stopService(folders);
  for (const socket of await runningEngines(readStackFile(folders).DOCKER_HOST)) {
    const removed = await removeSandboxes(socket, folders.data);
    if (removed > 0) ended.push(removed === 1 ? '1 sandbox' : `${removed} sandboxes`);
  }
  for (const [name, stop] of Object.entries(servers)) {
    if (await stop(folders)) ended.push(name);
  }
  if (await stopEngine(() => isAnotherStackUp(stack))) ended.push('docker');
  return ended;
}

/** Stacks share the engine: it must not stop while another stack is running or starting. */
async function isAnotherStackUp(stack: string): Promise<boolean> {
  const others = readdirSync(rootFolder(), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== stack)
    .map((entry) => entry.name);
  for (const other of others) {
    const pids = join(rootFolder(), other, 'pids');
    if (!existsSync(pids)) continue;
    const names = readdirSync(pids).map((file) => file.replace(/\.pid$/, ''));
    const where = { logs: pids, pids };
    if (names.some((name) => isRunning(where, name)) || (await isStackLocked(other))) return true;
  }
  return false;
}
