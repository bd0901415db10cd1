import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import type { ApiDeps } from '../../../api/deps.ts';
import { noopMetrics } from '../../../api/metrics.ts';
import { createStartRun } from '../../../api/runs/start-run.ts';
import type { WorkflowClient } from '../../../api/runs/workflow-client.ts';
import type { AdmitRun } from '../../../systems/postgres/admission/admit-run.ts';
import { admittedRun } from '../../support/admitted-run.ts';

test('an admitted run gets a 201 even if it cannot be read again after the wait', async () => {
  const run = admittedRun();
  const deps = {
    publicUrl: 'http://a.test',
    metrics: noopMetrics,
    acceptedIds: { add: () => undefined },
    notifications: { notify: () => undefined },
    postgresDisk: { isShort: () => false },
    admission: { admitRun: async () => ({ outcome: 'admitted', run }) },
    runs: { find: () => Promise.reject(new Error('the database is unavailable')) },
  } as unknown as ApiDeps; // no other dependency is used
  const startRun = createStartRun(deps, {
    workflows: { start: async () => undefined } as unknown as WorkflowClient,
    waitForEnd: async () => undefined,
    closing: new AbortController().signal,
  });
  const app = Fastify();
  app.decorateRequest('requestedWaitMs', 0);
  app.decorateRequest('operator', null);
  app.post('/', (request, reply) =>
    startRun(request, reply, {
      admission: {} as AdmitRun,
      files: [],
      waitSeconds: 1,
      flowIds: null,
    }),
  );
  await app.listen({ port: 0 });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo; // listening on TCP
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST' });
  expect(answer.status).toBe(201);
  expect(await answer.json()).toMatchObject({ data: { runId: run.runId } });
});
