import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { acquireLock, withFileLock } from '../../../dev/stack/lock.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'flowrun-lock-'));
  file = join(folder, 'lock');
});

afterEach(() => rmSync(folder, { recursive: true }));

test('a lock has one holder, and is free after its release', async () => {
  const first = await acquireLock(file);
  expect(first).toBeDefined();
  expect(await acquireLock(file)).toBeUndefined();
  await first?.release();
  const second = await acquireLock(file);
  expect(second).toBeDefined();
  await second?.release();
});

test('ten concurrent holders of a lock run one after the other', async () => {
  let inside = 0;
  let most = 0;
  const work = () =>
    withFileLock(file, async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((done) => setTimeout(done, 5));
      inside -= 1;
    });
  await Promise.all(Array.from({ length: 10 }, work));
  expect(most).toBe(1);
});

test('the lock of a killed process is free', async () => {
  const script = `
    const { acquireLock } = await import('./dev/stack/lock.ts');
    await acquireLock(${JSON.stringify(file)});
    console.log('held');
    setInterval(() => {}, 1000);`;
  const args = ['--input-type=module', '-e', script];
  const holder = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  expect(await acquireLock(file)).toBeUndefined();
  holder.kill('SIGKILL');
  const freed = await acquireLock(file, { wait: true });
  expect(freed).toBeDefined();
  await freed?.release();
});
