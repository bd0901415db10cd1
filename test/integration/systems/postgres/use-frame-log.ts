// The log of a new run for every test, with functions that write to it.

import { beforeEach } from 'vitest';
import type { Frame } from '../../../../core/frames/frame.ts';
import type { Run } from '../../../../core/runs/run.ts';
import type { Batch } from '../../../../systems/postgres/log/append-frames.ts';
import { createFrameStore } from '../../../../systems/postgres/log/frame-store.ts';
import type { LogLease } from '../../../../systems/postgres/log/lease.ts';
import { createRunStore } from '../../../../systems/postgres/runs/run-store.ts';
import { testSealer } from '../../../support/database.ts';
import { setupScenario } from './setup-scenario.ts';

export function useFrameLog() {
  const { database, scenario } = setupScenario();
  // Empty until `beforeEach`, so that it can be a constant.
  const run = {} as Run;
  beforeEach(async () => {
    Object.assign(run, await scenario.run());
  });
  const frames = () => createFrameStore(database.pool);
  const runs = () => createRunStore(database.pool, testSealer);
  return {
    database,
    run,
    frames,
    runs,
    async lease() {
      const taken = await frames().takeLease(run.runId, 'host', 60_000);
      if (!taken) throw new Error('the lease is taken');
      return taken;
    },
    /** The lease of one more run. */
    async leased(): Promise<LogLease> {
      const { runId } = await scenario.run();
      const taken = await frames().takeLease(runId, 'host', 60_000);
      if (!taken) throw new Error('the lease is taken');
      return { runId, token: taken.token };
    },
    batch: (token: number, given: Partial<Batch>): Batch => ({
      ...{ runId: run.runId, token, generation: 1, fromOffset: 0, toOffset: 1 },
      ...{ frames: [], facts: {} },
      ...given,
    }),
  };
}

export const chat = (n: number | string): Frame => ({
  event: 'assistant',
  data: `{"n":${n}}`,
  channel: 'chat',
});

export const output = (text: string): Frame => ({
  event: 'output',
  data: JSON.stringify({ data: text }),
  channel: 'output',
});
