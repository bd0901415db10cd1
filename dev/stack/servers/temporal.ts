// Temporal: the server of TEMPORAL_ADDRESS, or the dev server with a database file. The dev server
// has one history shard, and a shard is limited to 20 task loads per second, so every workflow step
// would wait up to 50 ms. The three limits are raised.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { searchAttributeNames } from '../../../core/temporal/search-attribute-names.ts';
import type { Folders } from '../../lib/folders.ts';
import { step } from '../../lib/progress.ts';
import { runCommand } from '../../lib/run-command.ts';
import { isRunning, startDaemon, stopDaemon } from '../daemon.ts';
import { requireReachable } from '../external-server.ts';
import { acceptsConnections, ensurePort, readPort } from '../ports.ts';
import { findTemporal } from './temporal-binary.ts';

const name = 'temporal';
const raisedLimits = ['transfer', 'timer', 'visibility'];
/** Percent by which Go's heap grows between collections. */
const rareCollections = '400';

export interface Temporal {
  address: string;
  uiUrl: string | null;
}

export interface TemporalOptions {
  externalAddress?: string | undefined;
  externalUiUrl?: string | undefined;
  /** The ports to use. Without them, the server has no UI, and a free port is chosen. */
  ports?: { grpc: number; ui: number };
  /** Keeps all data in memory instead of on disk. */
  inMemory?: boolean;
}

export function ensureTemporal(folders: Folders, options: TemporalOptions): Promise<Temporal> {
  return step(name, async (progress) => {
    if (options.externalAddress) {
      await requireReachable('TEMPORAL_ADDRESS', options.externalAddress);
      const value = { address: options.externalAddress, uiUrl: options.externalUiUrl ?? null };
      return { value, summary: `set by TEMPORAL_ADDRESS (${options.externalAddress})` };
    }
    const program = await findTemporal(progress);
    const lastPort = options.ports?.grpc ?? readPort(join(folders.data, `${name}.port`));
    if (
      lastPort !== undefined &&
      isRunning(folders, name, madeFor(options)) &&
      (await serves(program, lastPort))
    ) {
      return { value: addressesOf(lastPort, options), summary: `running on 127.0.0.1:${lastPort}` };
    }
    await stopTemporal(folders);
    progress('starting');
    const port = await start(folders, program, options);
    const ui = options.ports === undefined ? '' : `, UI on http://127.0.0.1:${options.ports.ui}`;
    return { value: addressesOf(port, options), summary: `started on 127.0.0.1:${port}${ui}` };
  });
}

export function stopTemporal(folders: Folders): Promise<boolean> {
  return stopDaemon(folders, name);
}

async function start(folders: Folders, program: string, options: TemporalOptions): Promise<number> {
  const port = options.ports?.grpc ?? (await ensurePort(folders.data, name));
  const storage = options.inMemory ? [] : ['--db-filename', await databaseFile(folders, program)];
  const ui = options.ports === undefined ? ['--headless'] : ['--ui-port', `${options.ports.ui}`];
  const address = ['--ip', '127.0.0.1', '--port', `${port}`, ...storage];
  const limits = raisedLimits.flatMap((queue) => [
    '--dynamic-config-value',
    `history.${queue}ProcessorMaxPollRPS=2000`,
  ]);
  const attributes = searchAttributeNames.flatMap((key) => [
    '--search-attribute',
    `${key}=Keyword`,
  ]);
  const quiet = ['--log-level', 'warn', '--ui-disable-news-fetch'];
  await startDaemon(folders, {
    name,
    command: program,
    args: ['server', 'start-dev', ...address, ...ui, ...limits, ...attributes, ...quiet],
    cwd: folders.data,
    env: { ...process.env, ...(options.inMemory && { GOGC: rareCollections }) },
    fingerprint: madeFor(options),
    ready: () => serves(program, port),
  });
  return port;
}

/** The server never migrates its database, so another version starts with an empty one. */
async function databaseFile(folders: Folders, program: string): Promise<string> {
  const file = join(folders.data, 'temporal.db');
  const madeBy = join(folders.data, 'temporal.version');
  const version = await runCommand(program, ['--version']);
  if (!existsSync(madeBy) || readFileSync(madeBy, 'utf8') !== version) {
    for (const end of ['', '-shm', '-wal']) rmSync(`${file}${end}`, { force: true });
    writeFileSync(madeBy, version);
  }
  return file;
}

/** Identifies the ports, so that a server with other ports is restarted. */
function madeFor({ ports }: TemporalOptions): string {
  return ports === undefined ? 'headless' : `${ports.grpc}/${ports.ui}`;
}

function addressesOf(port: number, options: TemporalOptions): Temporal {
  const uiUrl = options.ports === undefined ? null : `http://127.0.0.1:${options.ports.ui}`;
  return { address: `127.0.0.1:${port}`, uiUrl };
}

/**
 * Whether the server has its search attributes, which it sets up last, and only in a new database.
 * In one of an earlier version of this repository, the new ones are added here.
 */
async function serves(program: string, port: number): Promise<boolean> {
  if (!(await acceptsConnections(port))) return false;
  const attributes = (...args: string[]): Promise<string> => {
    const command = ['operator', 'search-attribute', ...args, '--address', `127.0.0.1:${port}`];
    return runCommand(program, command, { timeoutMs: 5000 }).catch(() => '');
  };
  const list = await attributes('list');
  const missing = searchAttributeNames.filter((key) => !list.includes(key));
  if (missing.length === 0 || missing.length === searchAttributeNames.length) {
    return missing.length === 0;
  }
  const added = missing.flatMap((key) => ['--name', key, '--type', 'Keyword']);
  await attributes('create', ...added);
  return (await attributes('list')).includes(missing.at(-1) ?? '');
}
