// Redis: the server of REDIS_URL, or the stack's own. It stores nothing on disk, because everything
// in it can be restored from Postgres.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultCapacity } from '../../../config/host-resources.ts';
import { redisMaxMemory, redisPolicy } from '../../../core/redis-memory.ts';
import { installPackages } from '../../lib/apt.ts';
import type { Folders } from '../../lib/folders.ts';
import { step } from '../../lib/progress.ts';
import { findOnPath } from '../../lib/run-command.ts';
import { ensureSecret } from '../../lib/secrets.ts';
import { isRunning, startDaemon, stopDaemon } from '../daemon.ts';
import { requireReachable } from '../external-server.ts';
import { acceptsConnections, ensurePort, readPort } from '../ports.ts';
import type { ServerTls } from './server-tls.ts';

const name = 'redis';

/** Hosts of tests have up to so many slots, and share one Redis. */
const testSlots = 20;

export interface RedisOptions {
  /** A server to use instead. */
  externalUrl?: string | undefined;
  tls?: ServerTls;
  maxMemory?: string;
}

export function ensureRedis(
  folders: Folders,
  { externalUrl, ...options }: RedisOptions = {},
): Promise<string> {
  const { tls } = options;
  return step(name, async (progress) => {
    if (externalUrl) {
      await requireReachable('REDIS_URL', externalUrl);
      return { value: externalUrl, summary: 'set by REDIS_URL' };
    }
    const lastPort = readPort(join(folders.data, `${name}.port`));
    if (
      lastPort !== undefined &&
      isRunning(folders, name) &&
      (await acceptsConnections(lastPort))
    ) {
      return { value: urlOf(folders, lastPort, tls), summary: `running on 127.0.0.1:${lastPort}` };
    }
    await stopRedis(folders);
    const port = await start(folders, options, progress);
    return { value: urlOf(folders, port, tls), summary: `started on 127.0.0.1:${port}` };
  });
}

export function stopRedis(folders: Folders): Promise<boolean> {
  return stopDaemon(folders, name);
}

async function start(
  folders: Folders,
  { tls, maxMemory = redisMaxMemory(Math.max(defaultCapacity(), testSlots)) }: RedisOptions,
  progress: (doing: string) => void,
): Promise<number> {
  if (findOnPath('redis-server', ['/usr/bin']) === undefined) {
    await installPackages(['redis-server'], progress);
  }
  const port = await ensurePort(folders.data, name);
  const settings = join(folders.data, 'redis.conf');
  const lines = [
    ...portLines(port, tls),
    'bind 127.0.0.1',
    `requirepass ${passwordOf(folders)}`,
    `dir ${folders.data}`,
    'save ""',
    'appendonly no',
    `maxmemory ${maxMemory}`,
    `maxmemory-policy ${redisPolicy}`,
  ];
  writeFileSync(settings, `${lines.join('\n')}\n`, { mode: 0o600 });
  const command = findOnPath('redis-server', ['/usr/bin']) ?? 'redis-server';
  const ready = () => acceptsConnections(port);
  await startDaemon(folders, { name, command, args: [settings], cwd: folders.data, ready });
  return port;
}

const portLines = (port: number, tls: ServerTls | undefined): string[] =>
  tls === undefined
    ? [`port ${port}`]
    : [
        'port 0',
        `tls-port ${port}`,
        `tls-cert-file ${tls.certificate}`,
        `tls-key-file ${tls.key}`,
        `tls-ca-cert-file ${tls.ca}`,
      ];

function urlOf(folders: Folders, port: number, tls: ServerTls | undefined): string {
  return `${tls === undefined ? 'redis' : 'rediss'}://:${passwordOf(folders)}@127.0.0.1:${port}/0`;
}

function passwordOf(folders: Folders): string {
  return ensureSecret(join(folders.data, 'redis.secret'));
}
