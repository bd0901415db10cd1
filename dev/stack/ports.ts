// Chooses ports for programs that listen a moment later. The kernel assigns ports from 32768 to
// outgoing connections, so a free one could be taken before its program listens. These are below
// that range, and assigned in turn, so that no two commands get the same port.

import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheFolder } from '../lib/folders.ts';
import { withFileLock } from './lock.ts';

/** Temporal stores ports as signed 16-bit numbers, which also ends at 32767. */
const firstPort = 20_000;
const lastPort = 32_767;
const releaseTimeoutMs = 1_000;

/**
 * Returns the server's last port if it is free, otherwise a new one, and stores it for the next
 * time.
 */
export async function ensurePort(data: string, server: string): Promise<number> {
  const file = join(data, `${server}.port`);
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

/** Waits, because the kernel releases the port of a killed process a moment after its end. */
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

/** Returns a free port on loopback. It is not assigned again until all others have been. */
export function freePort(): Promise<number> {
  const lastAssigned = join(cacheFolder(), 'last.port');
  return withFileLock(`${lastAssigned}.lock`, async () => {
    let port = readPort(lastAssigned) ?? randomInt(firstPort, lastPort);
    do port = port < lastPort ? port + 1 : firstPort;
    while (!(await isPortFree(port)));
    writeFileSync(lastAssigned, `${port}\n`);
    return port;
  });
}
