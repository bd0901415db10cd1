import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Service, type ServiceOptions, startService } from '../../test/support/service.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import { startChild } from '../limits/child.ts';

/** The service as in production: its sources, its log level, API and worker as processes. */
export interface BenchService extends Service {
  /** Where the offline model also listens, for bare containers. */
  modelSocket: string;
  modelUrl: string;
}

/** Set by the command for all scenarios. */
export const plantedDelayVariable = 'BENCH_PLANTED_DELAY_MS';

const manyRuns = 100_000;

export async function startBenchService(
  options: Pick<ServiceOptions, 'agent' | 'env' | 'flow'> = {},
): Promise<BenchService> {
  const folder = mkdtempSync(join(stackEnv.dataDir, 'm-'));
  const modelSocket = join(folder, 's');
  const program = new URL('./model.ts', import.meta.url);
  const model = startChild<never, { url: string }>(program, { socketPath: modelSocket });
  const { url: modelUrl } = await model.answer();
  const env = {
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    ANTHROPIC_BASE_URL: modelUrl,
    ...plantedDelay(),
    ...options.env,
  };
  const service = await startService({ ...options, env, sources: true });
  await service.database.pool.query('update projects set max_concurrent_runs = $1', [manyRuns]);
  return {
    ...service,
    modelSocket,
    modelUrl,
    async stop() {
      await service.stop();
      await model.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const settleMs = 300;

/** Waits until all runs have ended, so that the next measurement does not overlap with them. */
export async function untilNoSandbox({ sandboxes }: Pick<Service, 'sandboxes'>): Promise<void> {
  while ((await sandboxes.list()).length > 0) await sleep(50);
  await sleep(settleMs);
}

function plantedDelay(): Record<string, string> {
  const delayMs = process.env[plantedDelayVariable];
  if (delayMs === undefined) return {};
  const preload = new URL('./plant-delay.ts', import.meta.url);
  return { NODE_OPTIONS: `--import=${preload.href}`, [plantedDelayVariable]: delayMs };
}
