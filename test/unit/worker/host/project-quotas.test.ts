import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  createProjectQuotas,
  isUsedUp,
  parseUsage,
  quotaFor,
} from '../../../../worker/host/quota/project-quotas.ts';
import { boundsOf } from '../../../../worker/sandbox/deps.ts';
import { foldersOf } from '../../../../worker/sandbox/sandbox-paths.ts';

const bounds = boundsOf({ bounds: {} });
const { bytes: maxBytes, inodes: maxInodes } = quotaFor(bounds);
const atMost = { bytes: 0, inodes: 0, maxBytes, maxInodes };

/** A folder on a file system that has no project quotas on any kernel. */
function memoryFolder(): string {
  const folder = mkdtempSync('/dev/shm/quotas-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function quotasOf(dataDir: string) {
  const warnings: unknown[] = [];
  const logger = { warn: (...line: unknown[]) => void warnings.push(line.at(-1)) };
  return { quotas: createProjectQuotas({ dataDir, logger }), warnings };
}

test('the quota lies above what the watchdogs allow, and counts as used up before it is full', () => {
  const bytes = bounds.spoolBytes + bounds.workspaceBytes;
  const inodes = bounds.workspaceInodes + 10; // with the spool and the folders
  expect(isUsedUp.bytes({ ...atMost, bytes })).toBe(false);
  expect(isUsedUp.bytes({ ...atMost, bytes: maxBytes })).toBe(true);
  expect(isUsedUp.inodes({ ...atMost, inodes })).toBe(false);
  expect(isUsedUp.inodes({ ...atMost, inodes: maxInodes })).toBe(true);
});

test('a quota counts as used up one byte or file beyond half of its margin, and not at it', () => {
  const bytes = maxBytes - 8 * 1024 ** 2;
  expect([bytes, bytes + 1].map((each) => isUsedUp.bytes({ ...atMost, bytes: each }))).toEqual([
    false,
    true,
  ]);
  const inodes = maxInodes - 50;
  expect([inodes, inodes + 1].map((each) => isUsedUp.inodes({ ...atMost, inodes: each }))).toEqual([
    false,
    true,
  ]);
});

test('released limits are never used up', () => {
  const released = { bytes: 5, inodes: 5, maxBytes: 0, maxInodes: 0 };
  expect([isUsedUp.bytes(released), isUsedUp.inodes(released)]).toEqual([false, false]);
});

test('reads use and limits', () => {
  expect(parseUsage('4096 3 8192 10')).toEqual({
    bytes: 4096,
    inodes: 3,
    maxBytes: 8192,
    maxInodes: 10,
  });
  expect(parseUsage('')).toBeNull();
});

test('without project quotas the state is off, and nothing is limited', async () => {
  const dataDir = memoryFolder();
  const { quotas, warnings } = quotasOf(dataDir);
  const folders = foldersOf(dataDir, { runId: 'run', generation: 1 });
  mkdirSync(folders.spool, { recursive: true });
  expect(await quotas.state()).toBe('off');
  await quotas.assign(folders, bounds);
  expect(await quotas.usage(folders)).toBeNull();
  await quotas.release(folders.root);
  expect(warnings).toEqual([]);
});

test('a folder that cannot be read leaves the state unknown', async () => {
  const { quotas, warnings } = quotasOf(join(memoryFolder(), 'missing'));
  expect(await quotas.state()).toBe('unknown');
  expect(warnings).toEqual(['project_quotas_unknown']);
});
