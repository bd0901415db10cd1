import { type JsonObject, parseObject } from '../../core/json.ts';
import type { WebhookBodies } from '../generated/types.ts';

/** `deliveryId` is the same for all attempts of a delivery. */
export type WebhookEvent =
  | {
      [Type in keyof WebhookBodies]: { type: Type; deliveryId: string; data: WebhookBodies[Type] };
    }[keyof WebhookBodies]
  /** An event that this version of the client does not know. */
  | { type: 'unknown'; name: string; deliveryId: string; data: unknown };

/**
 * How the body of each event differs from the others. The signature does not cover the header with
 * the event, so the body has to confirm it.
 */
const confirmations: Record<keyof WebhookBodies, (body: JsonObject) => boolean> = {
  'run.started': ({ status }) => status === 'running',
  'run.finished': (body) => body['status'] === 'sleep' && !('sessionId' in body),
  'session.idle': (body) => 'messageId' in body,
  'session.ended': (body) => body['status'] === 'sleep' && 'sessionId' in body,
  'interaction.asked': (body) => 'interactionId' in body,
  'delivery.dropped': (body) => 'deliveryId' in body,
  'schedule.missed': (body) => 'count' in body && 'reason' in body,
  'budget.reached': (body) => 'budget' in body && 'percent' in body,
  'endpoint.test': (body) => 'sentAt' in body,
};

/** Null if the body is not that of the event. Without a name, the body decides. */
export function readEvent(name: string, deliveryId: string, text: string): WebhookEvent | null {
  const data = parseObject(text);
  if (data === null) return null;
  const type = name === '' ? nameOf(data) : name;
  if (!isKnown(type)) return { type: 'unknown', name: type, deliveryId, data };
  if (!confirmations[type](data)) return null;
  return { type, deliveryId, data } as unknown as WebhookEvent; // made by the service
}

/** For a request that has only the headers of Standard Webhooks. */
const nameOf = (data: JsonObject): string =>
  Object.entries(confirmations).find(([, confirms]) => confirms(data))?.[0] ?? '';

const isKnown = (name: string): name is keyof WebhookBodies => Object.hasOwn(confirmations, name);
