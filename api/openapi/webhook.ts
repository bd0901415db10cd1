import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import type { EndpointEvent } from '../../core/webhook.ts';
import { costUsd, runRecord } from '../runs/run-schema.ts';
import { storedFiles } from '../runs/stored-files.ts';
import { runError } from '../schemas/run-error.ts';

const retryDelays = new Intl.ListFormat('en-GB').format(
  limits.webhook.delaysMs.map((delayMs) => String(delayMs / 1_000)),
);
const timestamp = z.string().meta({ format: 'date-time' });

/** The body of `run.finished`. */
export const runFinishedBody = z
  .object({
    runId: z.uuid(),
    flowId: z.uuid(),
    projectId: z.string(),
    status: z.literal('sleep'),
    agentStatus: z.string(),
    triggerType: z.string(),
    startedAt: timestamp,
    finishedAt: timestamp,
    error: runError,
    exitCode: z.int().nullable(),
    result: z.string().nullable(),
    costUsd,
    usage: runRecord.shape.usage,
    labels: z.record(z.string(), z.string()),
    files: storedFiles,
    offlineModel: runRecord.shape.offlineModel,
  })
  .meta({ id: 'RunFinished' });

/** The body of `session.ended`. */
export const sessionEndedBody = runFinishedBody
  .extend({ sessionId: z.string() })
  .meta({ id: 'SessionEnded' });

const headersOf = (event: EndpointEvent): [name: string, description: string][] => [
  ['X-Service-Event', `\`${event}\`.`],
  ['X-Service-Run-Id', 'The ID of the run.'],
  ['X-Service-Delivery-Id', 'Identifies the delivery; the same for every attempt.'],
  ['X-Service-Attempt', 'The number of the attempt, from 1.'],
  [
    'X-Service-Signature',
    '`t=<unix seconds>,v1=<hex>`: the HMAC-SHA256 of `<t>.<raw body>` with the webhook secret of the project.',
  ],
  [
    'X-Service-Signature-Next',
    'The signature with the next secret. Present only while the secret is rotated.',
  ],
  ['Webhook-Id', 'The same as `X-Service-Delivery-Id`, for libraries for Standard Webhooks.'],
  ['Webhook-Timestamp', 'The `t` of `X-Service-Signature`.'],
  [
    'Webhook-Signature',
    '`v1,<base64>`: the signature of Standard Webhooks, with the same secret as its key. While the secret is rotated, the signature with the next secret follows after a space.',
  ],
];

interface DescribedWebhook {
  event: EndpointEvent;
  operationId: string;
  summary: string;
  description: string;
  tag: string;
  /** The name of the schema of its body. */
  body: string;
}

const described = ({ event, tag, body, ...operation }: DescribedWebhook) => ({
  post: {
    ...operation,
    tags: [tag],
    security: [],
    parameters: headersOf(event).map(([name, description]) => ({
      name,
      description,
      in: 'header',
      required: name !== 'X-Service-Signature-Next',
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${body}` } } },
    },
    responses: {
      '2XX': { description: 'Received.' },
      default: { description: `Not received. Retried after ${retryDelays} seconds.` },
    },
  },
});

/** By their events. */
export const webhooks = {
  'run.finished': described({
    event: 'run.finished',
    operationId: 'runFinished',
    summary: 'A run has ended',
    description: 'Sent to the `callbackUrl` of the run. Receivers must be idempotent on `runId`.',
    tag: 'Runs',
    body: 'RunFinished',
  }),
  'session.ended': described({
    event: 'session.ended',
    operationId: 'sessionEnded',
    summary: 'A session has ended',
    description:
      'Sent to the `callbackUrl` of the session. Receivers must be idempotent on `runId`.',
    tag: 'Sessions',
    body: 'SessionEnded',
  }),
};
