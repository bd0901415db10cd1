// Processes that die at a failpoint, and come back.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Failpoint } from '../../../core/failpoint.ts';
import type { Service } from '../../support/service.ts';
import type { ServiceProcess } from '../../support/service-process.ts';
import type { Evidence } from '../evidence.ts';
import type { Client } from './transcript.ts';
import type { World } from './world.ts';

const patienceMs = 120_000;
/** All that must hold holds so long after the process that died was started again. */
const healedWithinMs = 60_000;

/** For the rest of this life of it. */
export async function armed(process: ServiceProcess, name: Failpoint): Promise<void> {
  await process.kill('SIGTERM');
  await process.start({ FAILPOINT: name });
}

/** Whatever became of the test before. */
export async function startStopped({ api, worker }: Service): Promise<void> {
  for (const process of [api, worker]) if (!process.isRunning()) await process.start();
}

/**
 * It must have died at the failpoint: one that nobody reaches shows nothing. When it was started. What
 * else is to happen happens before.
 */
export async function diesAndComesBack(
  process: ServiceProcess,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<number> {
  const late = sleep(patienceMs, 'it lives', { ref: false });
  expect(await Promise.race([process.exited(), late])).toEqual({ code: null, signal: 'SIGKILL' });
  await meanwhile();
  const startedAt = performance.now();
  await process.start();
  return startedAt;
}

/** What was left is judged before the same time is over. */
export async function expectHealed(
  world: World,
  runId: string,
  { clients, startedAt }: { clients: Client[]; startedAt: number },
): Promise<Evidence> {
  const withinMs = healedWithinMs - (performance.now() - startedAt);
  const seen = Promise.all(clients.map((client) => client.seenEnd(withinMs)));
  const evidence = await world.expectInvariants(runId, { clients, withinMs });
  await seen;
  return evidence;
}
