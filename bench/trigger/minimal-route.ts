// The lower limit of a trigger: one route with only the necessary steps. It looks up the key,
// queries Redis, finds the flow, calls the admission function and starts the workflow. It uses the
// service's own functions, so the statements are the same.

import { randomBytes, randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import { createFlowStore } from '../../systems/postgres/accounts/flow-store.ts';
import { createKeyStore, type KeyRecord } from '../../systems/postgres/accounts/key-store.ts';
import { createAdmission } from '../../systems/postgres/admission/admission.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { createPool } from '../../systems/postgres/client/pool.ts';
import { createRunStore } from '../../systems/postgres/runs/run-store.ts';
import { connectRedis } from '../../systems/redis/connect.ts';
import { connectTemporal } from '../../systems/temporal/connect.ts';
import { endWithParent, readSetting, reportToParent } from '../support/child.ts';

export interface MinimalSetting {
  databaseUrl: string;
  redisUrl: string;
  temporalAddress: string;
  taskQueue: string;
}

endWithParent();
const setting = readSetting() as MinimalSetting; // trigger.ts starts this program
const pool = createPool(setting.databaseUrl, { applicationName: 'minimal', max: 20 });
const redis = connectRedis({ url: setting.redisUrl, name: 'minimal', onError: () => undefined });
const { client } = connectTemporal({
  namespace: 'default',
  connection: { address: setting.temporalAddress },
});
const sealer = createSealer(randomBytes(32));
const keys = createKeyStore(pool);
const flows = createFlowStore(pool, sealer);
const runs = createRunStore(pool, sealer);
const admissions = createAdmission(pool, sealer);
const nothingGiven = {
  ...{ triggerType: 'api' as const, requestId: null, name: null, labels: {} },
  ...{ partialMessages: false, callbackUrl: null, idempotencyKey: null, timeoutSeconds: 3_600 },
  ...{ model: null, maxTurns: null, maxBudgetUsd: null, outputSchema: null, retryOf: null },
  config: {
    ...{ env: {}, mcpServers: {}, mcpMode: 'merge' as const, appendSystemPrompt: null },
    ...{ disallowedTools: [], context: {} },
  },
};
const bucket = `
redis.call('HSET', KEYS[1], 'parts', 1, 'at', 2)
redis.call('PEXPIRE', KEYS[1], 60000)
return { 1, 1 }`;

const app = Fastify();
app.post('/flows/:flowId/runs', async (request, reply) => {
  const { flowId } = request.params as { flowId: string }; // the route's own type
  const { prompt } = request.body as { prompt: string };
  const key = await keys.findByKey((request.headers.authorization ?? '').slice('Bearer '.length));
  if (key === null) return reply.code(401).send();
  await redis.eval(bucket, 1, `minimal:${key.keyId}`);
  await flows.find(flowId);
  const run = await admit(key, { flowId, prompt });
  await client.workflow.start('runWorkflow', {
    workflowId: `run/${run.runId}`,
    taskQueue: setting.taskQueue,
    args: [{ runId: run.runId, projectId: key.projectId, flowId }],
  });
  await runs.markWorkflowStarted(run.runId);
  return reply.code(201).send({ data: run });
});

async function admit(key: KeyRecord, { flowId, prompt }: { flowId: string; prompt: string }) {
  const { keyId, projectId, name: keyName, createdBy: keyCreatedBy } = key;
  const request = { flowId, projectId, keyId, keyName, keyCreatedBy, prompt };
  const admission = await admissions.admitRun({ ...nothingGiven, ...request, runId: randomUUID() });
  if (admission.outcome !== 'admitted') throw new Error('not admitted');
  return admission.run;
}

const url = await app.listen({ host: '127.0.0.1', port: 0 });
reportToParent({ url });
