// Processes that die at a failpoint, and come back.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Failpoint } from '../../core/failpoint.ts';
import type { Service } from './service.ts';
import type { ServiceProcess } from './service-process.ts';

const timeoutMs = 120_000;

/** For the rest of this life of it. */
export async function restartWithFailpoint(
  process: ServiceProcess,
  name: Failpoint,
): Promise<void> {
  await process.kill('SIGTERM');
  await process.start({ FAILPOINT: name });
}

/** Whatever became of the test before. */
export async function restartStopped({ api, worker }: Service): Promise<void> {
  for (const process of [api, worker]) if (!process.isRunning()) await process.start();
}

/**
 * It must have died at the failpoint: one that nobody reaches shows nothing. When it was started. What
 * else is to happen happens before.
 */
export async function restartAfterFailpoint(
  process: ServiceProcess,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<number> {
  const late = sleep(timeoutMs, 'it lives', { ref: false });
  expect(await Promise.race([process.exited(), late])).toEqual({ code: null, signal: 'SIGKILL' });
  await meanwhile();
  const startedAt = performance.now();
  await process.start();
  return startedAt;
}
