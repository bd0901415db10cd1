// `npm run demo`: creates a flow, runs it over HTTP, follows the stream, and receives the webhook.

import { randomUUID } from 'node:crypto';
import { print } from '../lib/progress.ts';
import { exitWithError } from '../lib/setup-error.ts';
import { type Api, createApi, dataOf } from './api.ts';
import { ensureDemoStack } from './demo-stack.ts';
import { makeFlow } from './make-flow.ts';
import { showFiles, showNextSteps, showRecord, showWebhook } from './show.ts';
import { title } from './title.ts';
import { watchStream } from './watch-stream.ts';
import { startReceiver } from './webhook-receiver.ts';

const prompt = 'Write hello.md: a short greeting to someone who runs this demo for the first time.';

await demonstrate().catch(exitWithError);

async function demonstrate(): Promise<void> {
  const startedAt = Date.now();
  const stack = await ensureDemoStack();
  const url = stack.env.PUBLIC_URL ?? '';
  const receiver = await startReceiver(stack.dependencies.authority);
  try {
    title('Create a project, a flow and a key with the command line');
    const flow = await makeFlow(stack.env);
    const api = createApi(url, flow.key);
    const runId = await trigger(api, flow.flowId, receiver.url);
    title('Follow its stream');
    await watchStream(api, runId);
    await showFiles(api, runId);
    await showWebhook(stack.env, receiver.received);
    await showRecord(api, runId);
    await showNextSteps(stack.env, { ...flow, runId });
    title(`Done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
  } finally {
    receiver.close();
  }
}

async function trigger(api: Api, flowId: string, callbackUrl: string): Promise<string> {
  title(`Start a run over HTTP: “${prompt}”`);
  const headers = { 'idempotency-key': `demo-${randomUUID()}` };
  const body = { prompt, name: 'The demo', labels: { purpose: 'demo' }, callbackUrl };
  const send = () => api.call('POST', `/api/v1/flows/${flowId}/runs`, { headers, body });
  const first = await send();
  const { runId } = await dataOf<{ runId: string }>(first);
  print(`  ${first.status} run ${runId}`);
  const second = await send();
  const again = await dataOf<{ runId: string }>(second);
  print(`  ${second.status} run ${again.runId} (sent again with the same idempotency key)`);
  if (again.runId !== runId) throw new Error('the same idempotency key started a second run');
  return runId;
}
