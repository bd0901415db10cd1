import type { IncomingHttpHeaders } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { webhooks } from '../../api/openapi/webhook.ts';
import { webhookBodies } from '../../api/openapi/webhook-bodies.ts';
import type { WebhookEvent } from '../../core/webhook.ts';

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

/**
 * Why a webhook does not match the OpenAPI document. Null: it has the described headers and body,
 * and no further field.
 */
export function webhookError({ headers, body }: Received): Error | null {
  const event = String(headers['x-service-event']);
  if (!isWebhookEvent(event)) return new Error(`a webhook of the undescribed event ${event}`);
  const required = webhooks[event].post.parameters.filter((header) => header.required);
  const missing = required.find(({ name }) => headers[name.toLowerCase()] === undefined);
  if (missing !== undefined) return new Error(`a webhook without ${missing.name}`);
  const received: unknown = JSON.parse(body);
  const { data, error } = webhookBodies[event].safeParse(received);
  if (error !== undefined) return new Error(`${event} ${body}\n${error.message}`);
  const isWhole = isDeepStrictEqual(data, received); // parsing removes undescribed fields
  return isWhole ? null : new Error(`${event} has undescribed fields: ${body}`);
}

function isWebhookEvent(event: string): event is WebhookEvent {
  return Object.hasOwn(webhookBodies, event);
}
