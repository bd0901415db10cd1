// Temporal: a given server, else the dev server with its database file. The dev server has one
// history shard, and one shard is throttled to 20 task loads a second: every hop of a workflow would
// wait for a 50 ms tick. The three limits are lifted.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { searchAttributeNames } from '../../../core/temporal/search-attributes.ts';
import type { Folders } from '../../lib/folders.ts';
import { step } from '../../lib/progress.ts';
import { runCommand } from '../../lib/run-command.ts';
import { isRunning, startDaemon, stopDaemon } from '../daemon.ts';
import { requireReachable } from '../external-server.ts';
import { acceptsConnections, ensurePort, readPort } from '../ports.ts';
import { findTemporal } from './temporal-binary.ts';

const name = 'temporal';
const raisedLimits = ['transfer', 'timer', 'visibility'];

export interface Temporal {
  address: string;
  uiUrl: string | null;
}

export interface TemporalOptions {
  externalAddress?: string | undefined;
  externalUiUrl?: string | undefined;
  /** Ports to take; without them the server has no UI and a free port of its own. */
  ports?: { grpc: number; ui: number };
}

export function ensureTemporal(folders: Folders, wish: TemporalOptions): Promise<Temporal> {
  return step(name, async (progress) => {
    if (wish.externalAddress) {
      await requireReachable('TEMPORAL_ADDRESS', wish.externalAddress);
      const value = { address: wish.externalAddress, uiUrl: wish.externalUiUrl ?? null };
      return { value, summary: `given by TEMPORAL_ADDRESS (${wish.externalAddress})` };
    }
    const program = await findTemporal(progress);
    const kept = wish.ports?.grpc ?? readPort(join(folders.data, `${name}.port`));
    if (
      kept !== undefined &&
      isRunning(folders, name, madeFor(wish)) &&
      (await serves(program, kept))
    ) {
      return { value: addressesOf(kept, wish), summary: `running on 127.0.0.1:${kept}` };
    }
    await stopTemporal(folders);
    progress('starting');
    const port = await start(folders, program, wish);
    const ui = wish.ports === undefined ? '' : `, UI on http://127.0.0.1:${wish.ports.ui}`;
    return { value: addressesOf(port, wish), summary: `started on 127.0.0.1:${port}${ui}` };
  });
}

export function stopTemporal(folders: Folders): Promise<boolean> {
  return stopDaemon(folders, name);
}

async function start(folders: Folders, program: string, wish: TemporalOptions): Promise<number> {
  const port = wish.ports?.grpc ?? (await ensurePort(folders.data, name));
  const database = await databaseFile(folders, program);
  const ui = wish.ports === undefined ? ['--headless'] : ['--ui-port', `${wish.ports.ui}`];
  const where = ['--ip', '127.0.0.1', '--port', `${port}`, '--db-filename', database];
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
    args: ['server', 'start-dev', ...where, ...ui, ...limits, ...attributes, ...quiet],
    cwd: folders.data,
    fingerprint: madeFor(wish),
    ready: () => serves(program, port),
  });
  return port;
}

/** The server makes its database but never migrates it: with another version it starts anew. */
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

/** A server with other ports than the wished ones is not the one that is wished for. */
function madeFor({ ports }: TemporalOptions): string {
  return ports === undefined ? 'headless' : `${ports.grpc}/${ports.ui}`;
}

function addressesOf(port: number, wish: TemporalOptions): Temporal {
  const uiUrl = wish.ports === undefined ? null : `http://127.0.0.1:${wish.ports.ui}`;
  return { address: `127.0.0.1:${port}`, uiUrl };
}

/** Serving, with the search attributes in place: they are the last thing the server sets up. */
async function serves(program: string, port: number): Promise<boolean> {
  if (!(await acceptsConnections(port))) return false;
  const ask = ['operator', 'search-attribute', 'list', '--address', `127.0.0.1:${port}`];
  const list = await runCommand(program, ask, { timeoutMs: 5000 }).catch(() => '');
  return searchAttributeNames.every((key) => list.includes(key));
}
