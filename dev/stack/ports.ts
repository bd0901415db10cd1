// Ports for programs that are told theirs and take it a moment later. The kernel gives the ports from
// 32768 on to every connection that goes out, so one that was free when it was chosen may be taken when
// its program listens: ours lie below. They are dealt in turn, so that no two commands get the same.

import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheFolder } from '../lib/folders.ts';
import { withFileLock } from './lock.ts';

/** Temporal keeps a port in sixteen bits with a sign, too. */
const firstPort = 20_000;
const lastPort = 32_767;
const releaseTimeoutMs = 1_000;

/** The port a part had the last time where that is free, else a new one, kept for the next time. */
export async function ensurePort(data: string, part: string): Promise<number> {
  const file = join(data, `${part}.port`);
  const last = readPort(file);
  const isUsable = last !== undefined && last <= lastPort && (await becomesFree(last));
  const port = isUsable ? last : await freePort();
  writeFileSync(file, `${port}\n`);
  return port;
}

export function readPort(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

/** A process that was killed lets go of its port a moment after it has stopped to exist. */
async function becomesFree(port: number): Promise<boolean> {
  const deadline = Date.now() + releaseTimeoutMs;
  while (!(await isPortFree(port))) {
    if (Date.now() > deadline) return false;
    await sleep(50);
  }
  return true;
}

export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}

export function acceptsConnections(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host, timeout: 5000 });
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}

/** A port on loopback that nobody has, and that nobody else is given before all others were. */
export function freePort(): Promise<number> {
  const lastDealt = join(cacheFolder(), 'last.port');
  return withFileLock(`${lastDealt}.lock`, async () => {
    let port = readPort(lastDealt) ?? randomInt(firstPort, lastPort);
    do port = port < lastPort ? port + 1 : firstPort;
    while (!(await isPortFree(port)));
    writeFileSync(lastDealt, `${port}\n`);
    return port;
  });
}
