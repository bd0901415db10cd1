import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createEngine } from '../../systems/docker/engine.ts';
import { ensureWebhookSecrets } from '../../systems/postgres/accounts/webhook-secret.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { createRunStore } from '../../systems/postgres/runs/run-store.ts';
import {
  databaseText,
  environmentsBelow,
  historyText,
  processList,
} from '../support/collect-all-output.ts';
import { script } from '../support/prompts.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';
import { collect } from '../support/stream-story.ts';
import { answerWith, startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const canary = (what: string): string => `${what}${randomBytes(8).toString('hex')}`;
const prompt = canary('prompt');
const callbackToken = canary('token');

let service: Service;
let receiver: WebhookReceiver;
/** All secrets by name. None may be found where it does not belong. */
let secrets: Record<string, string>;
let runId: string;
let workflowId: string;
let whileRunning: Record<string, string>;

beforeAll(async () => {
  [service, receiver] = await Promise.all([startService(), startReceiver(answerWith(500))]);
  const { database, encryptionKey, projectId } = service;
  const sealer = createSealer(encryptionKey);
  const { secret: webhookSecret } = await ensureWebhookSecrets(database.pool, sealer, projectId);
  secrets = {
    prompt,
    callbackToken,
    webhookSecret,
    apiKey: service.key,
    modelKey: service.modelKey,
    encryptionKey: encryptionKey.toString('base64'),
  };
  const run = await service.trigger({
    prompt: `${prompt} ${script([
      { shell: 'env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\\0" "\\n"' },
      { hang: true },
    ])}`,
    callbackUrl: `${receiver.url}/hook?token=${callbackToken}`,
  });
  runId = run.runId;
  workflowId = (await createRunStore(database.pool, sealer).find(runId))?.workflowId ?? '';
  await vi.waitFor(async () => {
    const announced = await database.pool.query(`select 1 from frames where event = 'user'`);
    expect(announced.rowCount).toBe(2);
  }, patiently);
  whileRunning = await lookAtSandbox();
  await service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 1 } });
  await service.untilEnded(runId);
  await vi.waitFor(() => expect(receiver.posts.length).toBeGreaterThan(1), patiently);
}, 240_000);
afterAll(() => Promise.all([service?.stop(), receiver?.close()]));

const patiently = { timeout: 90_000, interval: 100 };

async function lookAtSandbox(): Promise<Record<string, string>> {
  const [sandbox] = await service.sandboxes.list();
  const { docker } = createEngine({
    dockerHost: stackEnv.dockerHost,
    instance: service.instance,
  });
  const inspected = await docker.getContainer(sandbox?.containerId ?? '').inspect();
  return {
    inspected: JSON.stringify(inspected),
    environments: environmentsBelow(inspected.State.Pid),
    processes: processList(),
  };
}

function expectNone(text: string | undefined, names: string[] = Object.keys(secrets)): void {
  expect(text?.length).toBeGreaterThan(100);
  expect(names.filter((name) => text?.includes(secrets[name] ?? ''))).toEqual([]);
}

describe('a secret', () => {
  it('is in no workflow history', async () => {
    const text = await historyText(workflowId);
    expect(text).toContain(runId);
    expect(text).toContain('startSandbox');
    expectNone(text);
  });

  it('is in no log, even if every interface received it', () => {
    expect(service.api.log()).toContain(runId);
    expect(service.worker.log()).toContain(runId);
    expectNone(service.api.log());
    expectNone(service.worker.log());
  });

  it('is not in the engine’s description of the container', () => {
    expect(whileRunning['inspected']).toContain(runId);
    expectNone(whileRunning['inspected']);
  });

  it('is not in the environment of any process of the sandbox', () => {
    expect(whileRunning['environments']).toContain('/home/agent');
    expectNone(whileRunning['environments']);
  });

  it('is in no process list', () => {
    expect(whileRunning['processes']).toContain('worker/main.js');
    expectNone(whileRunning['processes']);
  });

  it('is not visible to the agent, except its own prompt', async () => {
    const { data } = await service.call<{ entries: unknown[] }>(
      'GET',
      `/runs/${runId}/logs?format=structured&channel=all&limit=1000`,
    );
    const seen = JSON.stringify(data.entries);
    expect(seen).toContain('ANTHROPIC_API_KEY=sandbox');
    const { prompt: _own, ...foreign } = secrets;
    expectNone(seen, Object.keys(foreign));
  });

  it('is not in the database in a usable form', async () => {
    const text = await databaseText(service.database.pool);
    expect(text).toContain(runId);
    expectNone(text, ['apiKey', 'modelKey', 'webhookSecret', 'encryptionKey']);
  });

  it('is not on the stream, except the prompt', async () => {
    const events = await collect(service.stream(runId));
    expectNone(JSON.stringify(events), ['apiKey', 'modelKey', 'webhookSecret', 'callbackToken']);
  });
});
