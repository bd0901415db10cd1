// Kills processes at a failpoint, and restarts them.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Failpoint } from '../../core/failpoint.ts';
import type { Service } from './service.ts';
import type { ServiceProcess } from './service-process.ts';

const timeoutMs = 120_000;

/** The failpoint stays armed until the next restart. */
export async function restartWithFailpoint(
  process: ServiceProcess,
  name: Failpoint,
): Promise<void> {
  await process.kill('SIGTERM');
  await process.start({ FAILPOINT: name });
}

/** Cleans up after a failed test. */
export async function restartStopped({ api, worker }: Service): Promise<void> {
  for (const process of [api, worker]) if (!process.isRunning()) await process.start();
}

/**
 * Fails unless the process was killed at the failpoint, because a failpoint that is not reached
 * proves nothing. Runs `meanwhile` before the restart, and returns the time of the restart.
 */
export async function restartAfterFailpoint(
  process: ServiceProcess,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<number> {
  const late = sleep(timeoutMs, 'still running', { ref: false });
  expect(await Promise.race([process.exited(), late])).toEqual({ code: null, signal: 'SIGKILL' });
  await meanwhile();
  const startedAt = performance.now();
  await process.start();
  return startedAt;
}
