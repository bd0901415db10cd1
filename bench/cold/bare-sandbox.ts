// The lower limit of a cold start: the same container as the service would make, created and
// started by two calls to the engine, with its spool read directly. The service's own steps
// (Temporal, Postgres, Redis, the stream) are missing; the ratio shows their cost.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEngine, type Engine } from '../../systems/docker/engine.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import type { Sample } from '../measure/scenario.ts';
import { type BareOptions, prepareBare } from './bare-container.ts';
import { isInit, saysText } from './first-text.ts';

interface BareSandbox {
  run(): Promise<Sample>;
  close(): Promise<void>;
}

const settleMs = 300;

export function openBareSandbox(options: BareOptions): BareSandbox {
  const instance = `bare-${randomUUID().slice(0, 8)}`;
  const engine = createEngine({ dockerHost: stackEnv.dockerHost, instance });
  return {
    async run() {
      const sample = await runOnce(engine, options);
      await sleep(settleMs);
      return sample;
    },
    close: async () => undefined,
  };
}

async function runOnce(engine: Engine, options: BareOptions): Promise<Sample> {
  const bare = await prepareBare(engine, options);
  const { host, spool } = bare;
  const startedAt = performance.now();
  const container = await bare.create();
  try {
    await container.start({ abortSignal: bare.deadline });
    await spool.untilLine(() => true);
    const limiting = bare.applyCpuLimit(container);
    const init = (await spool.untilLine(isInit)) - startedAt;
    const value = (await spool.untilLine(saysText)) - startedAt;
    await limiting;
    host.closeInput();
    await container.wait({ abortSignal: bare.deadline });
    return { value, also: { init } };
  } finally {
    await bare.remove(container);
  }
}
