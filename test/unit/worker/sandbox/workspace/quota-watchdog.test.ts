import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createPauseState } from '../../../../../worker/sandbox/pause-state.ts';
import { watchDiskUsage } from '../../../../../worker/sandbox/workspace/quota-watchdog.ts';
import { makeWorkspace } from './workspace-folder.ts';

const patiently = { timeout: 20_000 };
/** Many times the interval. */
const aWhileMs = 1_000;

test('a paused sandbox is measured once, again after a write of the host, and always while it runs', async () => {
  const { root } = makeWorkspace();
  const pause = createPauseState();
  const end = new AbortController();
  onTestFinished(() => end.abort());
  let measurements = 0;
  const watched = {
    ...{ paths: [root], pause, signal: end.signal, everyMs: 20 },
    bounds: { workspaceBytes: 1024 ** 3, workspaceInodes: 1_000 },
    quotaUsage: async () => {
      measurements += 1;
      return null;
    },
  };
  const violations: string[] = [];
  const onViolation = (violation: string): number => violations.push(violation);
  void watchDiskUsage(watched, { onUsage: () => undefined, onViolation });
  pause.markPaused();
  await expect.poll(() => measurements, patiently).toBe(1);
  await sleep(aWhileMs);
  expect(measurements).toBe(1);
  pause.noteChange();
  await expect.poll(() => measurements, patiently).toBe(2);
  await sleep(aWhileMs);
  expect(measurements).toBe(2);
  pause.markRunning();
  await expect.poll(() => measurements, patiently).toBeGreaterThan(4);
  expect(violations).toEqual([]);
});
