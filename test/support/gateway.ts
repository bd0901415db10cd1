import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import type { Service } from './service.ts';

/** Resolves with the time until the run's socket gave any answer. */
export async function untilGatewayAnswers(service: Service, runId: string): Promise<number> {
  const began = performance.now();
  const { socketFile } = foldersOf(service.dataDir, { runId, generation: 1 });
  while (!(await answers(socketFile))) await sleep(10);
  return performance.now() - began;
}

const responseTimeoutMs = 250;

/** The socket of a frozen process accepts a connection and never answers. */
function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(responseTimeoutMs);
    request({ socketPath, path: '/nothing', signal }, (response) => {
      response.resume();
      resolve(true);
    })
      .on('error', () => resolve(false))
      .end();
  });
}
