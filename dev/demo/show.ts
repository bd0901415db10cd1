import { print } from '../lib/progress.ts';
import { commandHint, startCommandHint } from '../stack/command-hint.ts';
import type { ServiceEnv } from '../stack/service-env.ts';
import { type Api, dataOf } from './api.ts';
import { type DemoFlow, webhookSecretOf } from './make-flow.ts';
import { workflowIdOf } from './operator.ts';
import { indented, title } from './title.ts';
import { type Delivery, isGenuine } from './webhook-receiver.ts';

const webhookTimeoutMs = 60_000;

export async function showFiles(api: Api, runId: string): Promise<void> {
  title('Read its files');
  const list = await api.call('GET', `/api/v1/runs/${runId}/files`);
  const files = await dataOf<{ path: string; size: number }[]>(list);
  for (const { path, size } of files) print(`  ${path}  ${size} bytes`);
  const hello = files.find(({ path }) => path === 'hello.md');
  if (hello === undefined) throw new Error('the agent wrote no hello.md');
  const content = await api.call('GET', `/api/v1/runs/${runId}/files/${hello.path}`);
  print(`\n${(await content.text()).replace(/^/gm, '  │ ')}`);
}

export async function showWebhook(env: ServiceEnv, received: Promise<Delivery>): Promise<void> {
  title('Receive the webhook that reports the end');
  const delivery = await withTimeout(received);
  const secret = await webhookSecretOf(env);
  if (!isGenuine(delivery, secret)) throw new Error('the webhook signature is invalid');
  print(indented(JSON.parse(delivery.body)));
  print(`  X-Service-Signature: ${delivery.signature}`);
  print('  The signature is valid.');
}

export async function showRecord(api: Api, runId: string): Promise<void> {
  title('Read the run');
  print(indented(await dataOf(await api.call('GET', `/api/v1/runs/${runId}`))));
}

interface DemoRun extends DemoFlow {
  runId: string;
}

/** Prints what the reader can do next: open the workflow, and start a run by hand. */
export async function showNextSteps(
  env: ServiceEnv,
  { flowId, key, runId }: DemoRun,
): Promise<void> {
  const { PUBLIC_URL: url, TEMPORAL_UI_URL: ui, TEMPORAL_NAMESPACE: namespace } = env;
  if (ui !== undefined) {
    const workflowId = await workflowIdOf(env, runId);
    title('Open the run in the Temporal UI');
    print(`  ${ui}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`);
  }
  title('Start the next run');
  print(`  KEY=${key}
  curl -s ${url}/api/v1/flows/${flowId}/runs \\
    -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
    -d '{"prompt": "Write a poem about durable workflows to poem.txt"}'
  curl -N -H "Authorization: Bearer $KEY" ${url}/api/v1/runs/RUN_ID/stream`);
  print(`\nThe stack stays up. To stop it:\n  ${commandHint('npm run stop')}`);
  print(`To repeat the demo:\n  ${startCommandHint('npm run demo')}`);
}

async function withTimeout<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new Error(`no webhook arrived within ${webhookTimeoutMs / 1000} s`);
    timer = setTimeout(() => reject(error), webhookTimeoutMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
