import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { ensurePort, freePort } from '../../../dev/stack/ports.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flowrun-ports-'));
  vi.stubEnv('FLOWRUN_CACHE', folder);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const script = `
  const { freePort } = await import('${join(repository, 'dev/stack/ports.ts')}');
  console.log((await Promise.all(Array.from({ length: 10 }, () => freePort()))).join(' '));
`;

async function tenPorts(): Promise<number[]> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return said.trim().split(' ').map(Number);
}

test('concurrent commands get different ports, outside the range for outgoing connections', async () => {
  const ports = (await Promise.all([tenPorts(), tenPorts(), tenPorts()])).flat();
  expect(ports).toHaveLength(30);
  expect(new Set(ports).size).toBe(30);
  for (const port of ports) expect(port).toBeLessThan(32_768);
});

test('a port in use is skipped', async () => {
  const port = await freePort();
  const taken = createServer().listen(port, '127.0.0.1');
  await once(taken, 'listening');
  try {
    writeFileSync(join(folder, 'last.port'), `${port - 1}\n`);
    expect(await freePort()).toBeGreaterThan(port);
  } finally {
    taken.close();
  }
});

test('the first port follows the last', async () => {
  writeFileSync(join(folder, 'last.port'), '32767\n');
  const port = await freePort();
  expect(port).toBeGreaterThanOrEqual(20_000);
  expect(port).toBeLessThan(20_100);
});

test('a server keeps its port, unless it is in the range for outgoing connections', async () => {
  const port = await ensurePort(folder, 'redis');
  expect(await ensurePort(folder, 'redis')).toBe(port);
  writeFileSync(join(folder, 'redis.port'), '45871\n');
  const other = await ensurePort(folder, 'redis');
  expect(other).toBeLessThan(32_768);
  expect(await ensurePort(folder, 'redis')).toBe(other);
});
