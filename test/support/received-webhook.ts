// The posts of a receiver, as a client of the service reads them.

import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { isGenuine } from '../../dev/demo/webhook-receiver.ts';
import { standardWebhookSecretOf } from '../../lib/standard-webhook-secret.ts';
import { ensureWebhookSecrets } from '../../systems/postgres/accounts/webhook-secret.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import type { RunRecord } from './api-client.ts';
import type { Service } from './service.ts';
import type { ReceivedPost, WebhookReceiver } from './webhook-receiver.ts';

export const postsOf = (
  { posts }: Pick<WebhookReceiver, 'posts'>,
  { runId }: { runId: string },
): ReceivedPost[] => posts.filter(({ headers }) => headers['x-service-run-id'] === runId);

/** Waits until the receiver has this number of posts about the run. */
export async function untilPosted(
  receiver: Pick<WebhookReceiver, 'posts'>,
  run: { runId: string },
  count: number,
): Promise<void> {
  const posted = () => postsOf(receiver, run).length;
  await expect.poll(posted, { timeout: 90_000 }).toBe(count);
}

/** Waits for a state of the run's webhook, and reads the run. */
export async function untilWebhook(
  { readRun }: Pick<Service, 'readRun'>,
  { runId }: { runId: string },
  state: string,
): Promise<RunRecord> {
  const current = async () => (await readRun(runId)).webhook.state;
  await expect.poll(current, { timeout: 60_000 }).toBe(state);
  return readRun(runId);
}

/** Exactly the documented fields, in the documented order. */
export function expectBody(
  service: Pick<Service, 'flowId' | 'projectId'>,
  post: ReceivedPost | undefined,
  expected: Record<string, unknown>,
): void {
  const { runId, flowId = service.flowId, agentStatus, startedAt, finishedAt, ...rest } = expected;
  const { error, exitCode, result, costUsd, usage, labels, files, sessionId } = rest;
  const { projectId } = service;
  const whole = {
    ...{ runId, flowId, projectId, status: 'sleep', agentStatus, triggerType: 'api' },
    ...{ startedAt, finishedAt, error, exitCode, result, costUsd, usage, labels, files },
    sessionId,
  };
  expect(post?.body).toBe(JSON.stringify(whole));
}

/** Verifies the signature as a client does, with the project's secret. */
export async function expectSigned(
  { database, encryptionKey, projectId }: Pick<Service, 'database' | 'encryptionKey' | 'projectId'>,
  post: ReceivedPost | undefined,
): Promise<void> {
  const sealer = createSealer(encryptionKey);
  const { secret } = await ensureWebhookSecrets(database.pool, sealer, projectId);
  expect(isSignedWith(secret, post)).toBe(true);
  expect(isStandardSignedWith(secret, post)).toBe(true);
}

/** Verifies the post like a library for Standard Webhooks, with the secret in that form. */
export function isStandardSignedWith(secret: string, post: ReceivedPost | undefined): boolean {
  const { headers = {}, body = '' } = post ?? {};
  const key = Buffer.from(standardWebhookSecretOf(secret).slice('whsec_'.length), 'base64');
  const base = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.');
  const expected = createHmac('sha256', key).update(base).digest('base64');
  return String(headers['webhook-signature']).split(' ').includes(`v1,${expected}`);
}

export const isSignedWith = (
  secret: string,
  post: ReceivedPost | undefined,
  header: 'x-service-signature' | 'x-service-signature-next' = 'x-service-signature',
): boolean =>
  isGenuine({ body: post?.body ?? '', signature: String(post?.headers[header]) }, secret);
