import { limits } from '../../core/limits.ts';
import type { WebhookEvent } from '../../core/webhook.ts';
import { webhookBodies } from './webhook-bodies.ts';

const retryDelays = new Intl.ListFormat('en-GB').format(
  limits.webhook.delaysMs.map((delayMs) => String(delayMs / 1_000)),
);
const runId: [name: string, description: string] = ['X-Service-Run-Id', 'The ID of the run.'];

const headersOf = (event: WebhookEvent): [name: string, description: string][] => [
  ['X-Service-Event', `\`${event}\`.`],
  ...(event === 'endpoint.test' ? [] : [runId]),
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
  event: WebhookEvent;
  operationId: string;
  summary: string;
  description: string;
  tag: string;
}

const described = ({ event, tag, ...operation }: DescribedWebhook) => ({
  post: {
    ...operation,
    tags: [tag],
    security: [],
    parameters: headersOf(event).map(([name, description]) => ({
      name,
      description,
      in: 'header',
      required: name !== 'X-Service-Signature-Next' && !mayLack(event, name),
      schema: { type: 'string' },
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: { $ref: `#/components/schemas/${nameOf(event)}` } },
      },
    },
    responses: {
      '2XX': { description: 'Received.' },
      default: { description: `Not received. Retried after ${retryDelays} seconds.` },
    },
  },
});

/**
 * No run has caused `schedule.missed` and `budget.reached`, nor `endpoint.test`, whose delivery may
 * be dropped too.
 */
const mayLack = (event: WebhookEvent, name: string): boolean =>
  withoutRun.has(event) && name === runId[0];

const withoutRun = new Set<WebhookEvent>(['delivery.dropped', 'schedule.missed', 'budget.reached']);

/** The name of the schema of a webhook's body. */
const nameOf = (event: WebhookEvent): string => String(webhookBodies[event].meta()?.id);

const toEndpoints = 'Sent to the webhook endpoints that subscribe to the event.';

/** The webhooks by event. */
export const webhooks: Record<WebhookEvent, ReturnType<typeof described>> = {
  'run.started': described({
    event: 'run.started',
    operationId: 'runStarted',
    summary: 'The container of a run has started',
    description: toEndpoints,
    tag: 'Runs',
  }),
  'run.finished': described({
    event: 'run.finished',
    operationId: 'runFinished',
    summary: 'A run has ended',
    description:
      'Sent to the `callbackUrl` of the run, and to the webhook endpoints that subscribe to the event. Receivers must be idempotent on `runId`.',
    tag: 'Runs',
  }),
  'session.idle': described({
    event: 'session.idle',
    operationId: 'sessionIdle',
    summary: 'A turn of a session has ended, and no message is queued',
    description: `Sent to the \`callbackUrl\` of the session, and to the webhook endpoints that subscribe to the event.`,
    tag: 'Sessions',
  }),
  'session.ended': described({
    event: 'session.ended',
    operationId: 'sessionEnded',
    summary: 'A session has ended',
    description:
      'Sent to the `callbackUrl` of the session, and to the webhook endpoints that subscribe to the event. Receivers must be idempotent on `runId`.',
    tag: 'Sessions',
  }),
  'interaction.asked': described({
    event: 'interaction.asked',
    operationId: 'interactionAsked',
    summary: 'An agent waits for answers',
    description: `${toEndpoints} It is also sent to the \`callbackUrl\` of a session.`,
    tag: 'Runs',
  }),
  'delivery.dropped': described({
    event: 'delivery.dropped',
    operationId: 'deliveryDropped',
    summary: 'The last attempt to deliver another event has failed',
    description: toEndpoints,
    tag: 'Operators',
  }),
  'schedule.missed': described({
    event: 'schedule.missed',
    operationId: 'scheduleMissed',
    summary: 'A scheduled start was missed',
    description: toEndpoints,
    tag: 'Operators',
  }),
  'budget.reached': described({
    event: 'budget.reached',
    operationId: 'budgetReached',
    summary: 'The model calls of a month have cost 80 or 100 percent of a budget',
    description: `${toEndpoints} Sent once per budget, percentage and month, and again only after the budget was raised.`,
    tag: 'Operators',
  }),
  'endpoint.test': described({
    event: 'endpoint.test',
    operationId: 'endpointTest',
    summary: 'An operator tests a webhook endpoint',
    description: 'Sent to one webhook endpoint when an operator requests it.',
    tag: 'Operators',
  }),
};
