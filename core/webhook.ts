import type { StoredFiles } from './files/stored-files.ts';
import { costUsdOf } from './metering/call-cost.ts';
import { errorOf, type RunEnd } from './runs/end-cause.ts';
import type { Run } from './runs/run.ts';

/** The events that a webhook endpoint can subscribe to. */
export const endpointEvents = [
  'run.started',
  'run.finished',
  'session.idle',
  'session.ended',
  'interaction.asked',
  'delivery.dropped',
  'schedule.missed',
  'budget.reached',
] as const;

export type EndpointEvent = (typeof endpointEvents)[number];

/** An operator can request `endpoint.test` for every endpoint, so it needs no subscription. */
export type WebhookEvent = EndpointEvent | 'endpoint.test';

/** The body of `endpoint.test`. */
export function testEventBody(test: { projectId: string; endpointId: string; at: Date }): string {
  const { projectId, endpointId, at } = test;
  return JSON.stringify({ projectId, endpointId, sentAt: at.toISOString() });
}

/** A run at its end, within the transaction that ends it. */
interface FinishedRun {
  run: Run;
  end: RunEnd;
  finishedAt: Date;
  files: StoredFiles | null;
}

/**
 * The body of `run.finished`, or of `session.ended`, which also has the ID of the session. It is
 * stored when the run ends, so that every attempt sends the same bytes. The interface promises that
 * its fields are never null.
 */
export function webhookBody({ run, end, finishedAt, files }: FinishedRun): string {
  const error = errorOf(end);
  return JSON.stringify({
    runId: run.runId,
    flowId: run.flowId,
    projectId: run.projectId,
    status: 'sleep',
    agentStatus: run.agentStatus ?? 'error',
    triggerType: run.triggerType,
    startedAt: (run.startedAt ?? run.createdAt).toISOString(),
    finishedAt: finishedAt.toISOString(),
    ...(error === null ? {} : { error }),
    exitCode: end.exitCode,
    result: run.result,
    costUsd: costUsdOf(run.spending),
    usage: run.usage,
    labels: run.labels,
    files,
    ...(run.offlineModel ? { offlineModel: true } : {}),
    ...(run.sessionId === null ? {} : { sessionId: run.sessionId }),
  });
}

/** The signed text: timestamp and body. */
export function signatureBase(unixSeconds: number, body: string): string {
  return `${unixSeconds}.${body}`;
}

/** The signed text of Standard Webhooks. */
export function standardSignatureBase(
  deliveryId: string,
  unixSeconds: number,
  body: string,
): string {
  return `${deliveryId}.${unixSeconds}.${body}`;
}

interface AttemptHeaders {
  event: WebhookEvent;
  /** Null for an event that no run has caused. */
  runId: string | null;
  deliveryId: string;
  attempt: number;
  unixSeconds: number;
  signature: AttemptSignature;
  /** The signature with the next secret; null unless the secret is rotated. */
  nextSignature: AttemptSignature | null;
}

export interface AttemptSignature {
  /** Hex HMAC-SHA256 of the signature base, keyed with the secret. */
  hmac: string;
  /** Base64 HMAC-SHA256 of the base of Standard Webhooks, with the same key. */
  standardHmac: string;
}

/**
 * The headers of the interface and those of Standard Webhooks. `X-Service-Signature` always has one
 * signature, because receivers may split it at its commas.
 */
export function webhookHeaders(attempt: AttemptHeaders): Record<string, string> {
  const { unixSeconds, signature, nextSignature } = attempt;
  const timed = ({ hmac }: AttemptSignature): string => `t=${unixSeconds},v1=${hmac}`;
  const all = nextSignature === null ? [signature] : [signature, nextSignature];
  return {
    'content-type': 'application/json',
    'user-agent': 'Service-Webhook/1.0',
    'x-service-event': attempt.event,
    ...(attempt.runId === null ? {} : { 'x-service-run-id': attempt.runId }),
    'x-service-delivery-id': attempt.deliveryId,
    'x-service-attempt': String(attempt.attempt),
    'x-service-signature': timed(signature),
    ...(nextSignature === null ? {} : { 'x-service-signature-next': timed(nextSignature) }),
    'webhook-id': attempt.deliveryId,
    'webhook-timestamp': String(unixSeconds),
    'webhook-signature': all.map(({ standardHmac }) => `v1,${standardHmac}`).join(' '),
  };
}

export interface WebhookRequest {
  url: string;
  body: string;
  headers: Record<string, string>;
}

/** Reasons have our own wording, because a library's message may quote its input. */
export type WebhookOutcome =
  | { outcome: 'answered'; status: number }
  /** The address is not allowed, so no later attempt can succeed either. */
  | { outcome: 'blocked'; reason: string }
  | { outcome: 'failed'; reason: 'timed_out' | 'unresolvable' | 'not_connected' };

export type WebhookSender = (request: WebhookRequest) => Promise<WebhookOutcome>;
