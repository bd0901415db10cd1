// The limit of a trigger: one route that does what a trigger must do and nothing around it. It looks
// the key up, asks Redis, finds the flow, calls the admission function, starts the workflow.

import { createHash, randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import { createPool } from '../../systems/postgres/pool.ts';
import { connectRedis } from '../../systems/redis/connect.ts';
import { connectTemporal } from '../../systems/temporal/connect.ts';
import { endWithParent, readSetting, tellParent } from '../support/child.ts';

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
const sealed = Buffer.alloc(200);
const bucket = `
redis.call('HSET', KEYS[1], 'parts', 1, 'at', 2)
redis.call('PEXPIRE', KEYS[1], 60000)
return { 1, 1 }`;

interface KeyRow {
  id: string;
  project_id: string;
  name: string;
  created_by: string;
}

const app = Fastify();
app.post('/flows/:flowId/runs', async (request, reply) => {
  const { flowId } = request.params as { flowId: string }; // the route's own
  const { prompt } = request.body as { prompt: string };
  const secret = (request.headers.authorization ?? '').slice('Bearer '.length);
  const hash = createHash('sha256').update(secret).digest();
  const keys = await pool.query<KeyRow>('select * from api_keys where key_hash = $1', [hash]);
  const key = keys.rows[0];
  if (key === undefined) return reply.code(401).send();
  await redis.eval(bucket, 1, `minimal:${key.id}`);
  await pool.query('select * from flows where id = $1', [flowId]);
  const run = await admit(key, { flowId, prompt });
  await client.workflow.start('runWorkflow', {
    workflowId: `run/${run.id}`,
    taskQueue: setting.taskQueue,
    args: [{ runId: run.id, projectId: key.project_id, flowId }],
  });
  const started = 'update runs set workflow_started_at = db_clock() where id = $1';
  await pool.query(started, [run.id]);
  return reply.code(201).send({ data: run });
});

async function admit(key: KeyRow, { flowId, prompt }: { flowId: string; prompt: string }) {
  const { rows } = await pool.query<{ id: string }>(
    `select (a.run).* from admit_run(
       $1, $2, $3, 'api', null, '{}', $4, false, null, $5, $6, $7, '{}', true, 3600, null, $8,
       '24 hours', '30 s') a`,
    [randomUUID(), flowId, key.project_id, prompt, key.id, key.name, key.created_by, sealed],
  );
  if (rows[0] === undefined) throw new Error('not admitted');
  return rows[0];
}

const url = await app.listen({ host: '127.0.0.1', port: 0 });
tellParent({ url });
