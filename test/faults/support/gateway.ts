import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { foldersOf } from '../../../worker/supervisor/folders.ts';
import type { Service } from '../../support/service.ts';

/** Resolves with how long it took until the run's socket was answered, however it was answered. */
export async function untilGatewayAnswers(service: Service, runId: string): Promise<number> {
  const began = performance.now();
  const { socketFile } = foldersOf(service.dataDir, { runId, generation: 1 });
  while (!(await answers(socketFile))) await sleep(10);
  return performance.now() - began;
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    request({ socketPath, path: '/nothing', timeout: 1_000 }, (response) => {
      response.resume();
      resolve(true);
    })
      .on('error', () => resolve(false))
      .end();
  });
}
