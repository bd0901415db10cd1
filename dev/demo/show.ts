import { print } from '../lib/progress.ts';
import { commandHint, startCommandHint } from '../stack/command-hint.ts';
import type { ServiceEnv } from '../stack/service-env.ts';
import { type Api, dataOf } from './api.ts';
import { type DemoFlow, webhookSecretOf } from './make-flow.ts';
import { workflowIdOf } from './operator.ts';
import { indented, title } from './title.ts';
import { type Delivery, isGenuine } from './webhook-receiver.ts';

const webhookWithinMs = 60_000;

export async function showFiles(api: Api, runId: string): Promise<void> {
  title('The files it left');
  const list = await api.call('GET', `/api/v1/runs/${runId}/files`);
  const files = await dataOf<{ path: string; size: number }[]>(list);
  for (const { path, size } of files) print(`  ${path}  ${size} bytes`);
  const wanted = files.find(({ path }) => path === 'hello.md');
  if (wanted === undefined) throw new Error('the agent wrote no hello.md');
  const content = await api.call('GET', `/api/v1/runs/${runId}/files/${wanted.path}`);
  print(`\n${(await content.text()).replace(/^/gm, '  │ ')}`);
}

export async function showWebhook(env: ServiceEnv, received: Promise<Delivery>): Promise<void> {
  title('The webhook that reports the end, over https');
  const delivery = await withinTime(received);
  const secret = await webhookSecretOf(env);
  if (!isGenuine(delivery, secret)) throw new Error('the signature is not the project’s');
  print(indented(JSON.parse(delivery.body)));
  print(`  X-Service-Signature: ${delivery.signature}`);
  print('  The signature is genuine.');
}

export async function showRecord(api: Api, runId: string): Promise<void> {
  title('The run, as it stands');
  print(indented(await dataOf(await api.call('GET', `/api/v1/runs/${runId}`))));
}

export interface Made extends DemoFlow {
  runId: string;
}

/** What the reader can do next: look at the workflow, and start the next run by hand. */
export async function showNextSteps(env: ServiceEnv, { flowId, key, runId }: Made): Promise<void> {
  const { PUBLIC_URL: url, TEMPORAL_UI_URL: ui, TEMPORAL_NAMESPACE: namespace } = env;
  if (ui !== undefined) {
    const workflowId = await workflowIdOf(env, runId);
    title('This run in the Temporal UI');
    print(`  ${ui}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`);
  }
  title('The next one is yours');
  print(`  KEY=${key}
  curl -s ${url}/api/v1/flows/${flowId}/runs \\
    -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
    -d '{"prompt": "Write a poem about durable workflows to poem.txt"}'
  curl -N -H "Authorization: Bearer $KEY" ${url}/api/v1/runs/RUN_ID/stream`);
  print(`\nThe stack stays up; this ends it:\n  ${commandHint('npm run stop')}`);
  print(`and this shows it once more:\n  ${startCommandHint('npm run demo')}`);
}

async function withinTime<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new Error(`no webhook came within ${webhookWithinMs / 1000} s`);
    timer = setTimeout(() => reject(error), webhookWithinMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
