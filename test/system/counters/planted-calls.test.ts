// The test of the counters must fail for one statement or one Docker call more. Here the service
// makes both for each run.

import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type CountedService,
  startCountedService,
} from '../../support/counters/counted-service.ts';
import { measure } from '../../support/counters/measure.ts';
import { runs, warmUp } from '../../support/counters/workloads.ts';
import { stackEnv } from '../../support/stack-env.ts';

let counted: CountedService;
beforeAll(async () => {
  const { postgresUrl } = stackEnv;
  counted = await startCountedService({ postgresUrl, preload: ['planted-calls.ts'] });
}, 240_000);
afterAll(() => counted?.close());

it('finds a planted statement and a planted Docker call', { timeout: 120_000 }, async () => {
  await warmUp(counted);
  await expect(measure(counted, runs(counted, 1))).rejects.toThrow(
    /statements: \d+ → \d+\n {2}docker calls: \d+ → \d+\n(?:.*\n)*? {2}docker: GET \/volumes: 0 → 1\n {2}worker: select 'planted': 0 → 1\n/,
  );
});
