import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OfflineModel } from '../../offline-model/server.ts';
import { type Service, startService } from '../../test/support/service.ts';
import type { Sample } from '../measure/scenario.ts';
import { coldPrompt, isInit, saysText } from './first-text.ts';

interface ColdService {
  service: Service;
  model: OfflineModel;
  /** A folder beside the service's own, for the baseline container. */
  bareDir: string;
  /** Runs one run to its end. The value of the sample is the time to its first text. */
  run(): Promise<Sample>;
  close(): Promise<void>;
}

const settleMs = 300;

export async function openColdService(env: Record<string, string> = {}): Promise<ColdService> {
  const service = await startService({ agent: 'real', env: { LOG_LEVEL: 'info', ...env } });
  const bareDir = join(service.dataDir, 'b');
  mkdirSync(bareDir, { recursive: true });
  return {
    service,
    model: service.model,
    bareDir,
    async run() {
      const sample = await timeRun(service);
      await untilGone(service);
      return sample;
    },
    close: () => service.stop(),
  };
}

async function timeRun(service: Service): Promise<Sample> {
  const startedAt = performance.now();
  const { runId } = await service.trigger({ prompt: coldPrompt });
  const also = { answered: performance.now() - startedAt };
  const seen: { init?: number; text?: number } = {};
  for await (const { event, data } of service.stream(runId)) {
    if (event === 'system' && isInit(data)) seen.init ??= performance.now() - startedAt;
    if (event === 'assistant' && saysText(data)) seen.text ??= performance.now() - startedAt;
  }
  if (seen.init === undefined || seen.text === undefined) {
    throw new Error(`run ${runId} ended without a text: ${service.worker.log().slice(-2_000)}`);
  }
  return { value: seen.text, also: { ...also, init: seen.init } };
}

/** Waits until the run has ended, so that the next measurement does not overlap with it. */
export async function untilGone({ sandboxes }: Pick<Service, 'sandboxes'>): Promise<void> {
  while ((await sandboxes.list()).length > 0) await sleep(50);
  await sleep(settleMs);
}
