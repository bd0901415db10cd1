import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type DaemonFolders,
  isRunning,
  startDaemon,
  stopDaemon,
} from '../../../dev/stack/daemon.ts';

let where: DaemonFolders;

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'flowrun-background-'));
  where = { logs: folder, pids: folder };
});

afterEach(async () => {
  await stopDaemon(where, 'sleeper');
  rmSync(where.pids, { recursive: true });
});

const sleeper = { name: 'sleeper', command: 'sleep', args: ['600'], ready: async () => true };

test('a daemon is found by another command and stopped once', async () => {
  await startDaemon(where, sleeper);
  expect(isRunning(where, 'sleeper')).toBe(true);
  expect(await stopDaemon(where, 'sleeper')).toBe(true);
  expect(isRunning(where, 'sleeper')).toBe(false);
  expect(await stopDaemon(where, 'sleeper')).toBe(false);
});

test('a process with the same id but another start time is not stopped', async () => {
  await startDaemon(where, sleeper);
  const file = join(where.pids, 'sleeper.pid');
  const honest = readFileSync(file, 'utf8');
  writeFileSync(file, honest.replace(/-\d+/g, '-1'));
  expect(isRunning(where, 'sleeper')).toBe(false);
  expect(await stopDaemon(where, 'sleeper')).toBe(false);
  writeFileSync(file, honest);
  expect(isRunning(where, 'sleeper')).toBe(true);
});

test('a daemon with another fingerprint does not count as running', async () => {
  await startDaemon(where, { ...sleeper, fingerprint: 'one' });
  expect(isRunning(where, 'sleeper', 'one')).toBe(true);
  expect(isRunning(where, 'sleeper', 'two')).toBe(false);
});

test('a process that exits before it is ready fails with the end of its log', async () => {
  const dying = { ...sleeper, command: 'sh', args: ['-c', 'echo the port is taken; exit 3'] };
  const never = { ...dying, ready: async () => false };
  await expect(startDaemon(where, never)).rejects.toThrow(/exited with 3\nthe port is taken/);
  expect(isRunning(where, 'sleeper')).toBe(false);
});

test('the error contains the beginning of a long log as well', async () => {
  const script = 'echo panic: the port is taken; seq -f "at %g" 1000; exit 2';
  const never = { ...sleeper, command: 'sh', args: ['-c', script], ready: async () => false };
  const start = startDaemon(where, never);
  await expect(start).rejects.toThrow(/with 2\npanic: the port is taken\nat 1\n/);
  await expect(start).rejects.toThrow(/at 4\n…\nat 981\n(at \d+\n)*at 1000$/);
});

test('a process that is not ready in time is stopped', async () => {
  const never = { ...sleeper, ready: async () => false, readyTimeoutMs: 300 };
  await expect(startDaemon(where, never)).rejects.toThrow(/not ready after 300 ms/);
  expect(isRunning(where, 'sleeper')).toBe(false);
});

test('a process that ignores the signal is killed after the timeout', async () => {
  const deaf = { ...sleeper, command: 'sh', args: ['-c', "trap '' TERM; exec sleep 600"] };
  await startDaemon(where, deaf);
  expect(await stopDaemon(where, 'sleeper', { timeoutMs: 200 })).toBe(true);
  expect(isRunning(where, 'sleeper')).toBe(false);
});
