// Servers that only this suite uses and may kill. The stack's servers are never touched. Their
// folder lies among those of the stacks, so servers that a killed test leaves behind are found and
// ended.

import { rmSync } from 'node:fs';
import { stopDaemon } from '../../../dev/stack/daemon.ts';
import type { RuntimeEntry } from '../../../dev/stack/engine-api.ts';
import { ensurePostgres } from '../../../dev/stack/servers/postgres.ts';
import {
  copyImage,
  ensurePrivateEngine,
  stopPrivateEngine,
} from '../../../dev/stack/servers/private-engine.ts';
import { ensureRedis, type RedisOptions } from '../../../dev/stack/servers/redis.ts';
import {
  ensureTemporalServer,
  stopTemporalServer,
} from '../../../dev/stack/servers/temporal-server.ts';
import {
  faultTestFolders,
  stopFaultTestServers,
} from '../../../dev/test-runner/fault-test-servers.ts';
import { stackEnv } from '../../support/stack-env.ts';

/** One server. Its address stays the same over restarts. */
export interface FaultServer {
  address: string;
  /** Kills it at once. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** Removes the data of earlier tests. */
export async function resetServers(): Promise<void> {
  await stopFaultTestServers();
  rmSync(faultTestFolders().data, { recursive: true, force: true });
}

export async function ownPostgres(): Promise<FaultServer> {
  const folders = faultTestFolders();
  const start = () => ensurePostgres(folders);
  return ownPart(start, () => stopDaemon(folders, 'postgres', { signal: 'SIGQUIT' }));
}

export async function ownRedis(options?: Pick<RedisOptions, 'maxMemory'>): Promise<FaultServer> {
  const folders = faultTestFolders();
  const start = () => ensureRedis(folders, options);
  return ownPart(start, () => stopDaemon(folders, 'redis', { signal: 'SIGKILL' }));
}

/** The production server, with its databases on this suite's Postgres. */
export async function ownTemporal(postgresUrl: string): Promise<FaultServer> {
  const folders = faultTestFolders();
  const start = () => ensureTemporalServer(folders, postgresUrl);
  return ownPart(start, () => stopTemporalServer(folders, 'SIGKILL'));
}

/** With the scripted agent's image in it. */
export async function ownEngine(
  liveRestore: boolean,
  runtimes: Record<string, RuntimeEntry> = {},
): Promise<FaultServer> {
  const start = async () => `unix://${await ensurePrivateEngine({ liveRestore, runtimes })}`;
  const engine = await ownPart(start, () => stopPrivateEngine('SIGKILL'));
  await copyImage(stackEnv.dockerHost.replace(/^unix:\/\//, ''), stackEnv.scriptedImage);
  return engine;
}

async function ownPart(
  start: () => Promise<string>,
  kill: () => Promise<boolean>,
): Promise<FaultServer> {
  const address = await start();
  return {
    address,
    async kill() {
      if (!(await kill())) throw new Error(`nothing ran at ${address}`);
    },
    async start() {
      const again = await start();
      if (again !== address) throw new Error(`${address} has become ${again}`);
    },
  };
}
