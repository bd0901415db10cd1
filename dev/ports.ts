import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const soonMs = 1_000;

/** The port a part had the last time where that is free, else a new one, kept for the next time. */
export async function keptPort(data: string, part: string, find = freePort): Promise<number> {
  const file = join(data, `${part}.port`);
  const last = readPort(file);
  const port = last !== undefined && (await isSoonFree(last)) ? last : await find();
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
async function isSoonFree(port: number): Promise<boolean> {
  const deadline = Date.now() + soonMs;
  while (!(await isFree(port))) {
    if (Date.now() > deadline) return false;
    await sleep(50);
  }
  return true;
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}

export function answers(port: number, host = '127.0.0.1'): Promise<boolean> {
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

/** For whoever keeps a port in sixteen bits with a sign, as Temporal does in Postgres. */
export async function freeLowPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 2 ** 15);
    if (await isFree(port)) return port;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
