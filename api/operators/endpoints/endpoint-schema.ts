import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import { endpointEvents } from '../../../core/webhook.ts';
import { text, uuidLike } from '../../schemas/text.ts';
import { projectParams } from '../operator-schemas.ts';

export const endpointParams = projectParams.extend({ endpointId: uuidLike() });
export const eventParams = endpointParams.extend({ eventId: uuidLike() });

const url = text().min(1).max(limits.run.callbackUrlMaxChars).meta({
  format: 'uri',
  description: 'HTTPS URL that receives the signed webhooks.',
});
const eventTypes = z
  .array(z.enum(endpointEvents))
  .min(1)
  .max(endpointEvents.length)
  .meta({ description: 'The events that are sent to the endpoint.' });

export const newEndpoint = z.strictObject({
  url: url.optional().meta({
    format: 'uri',
    description:
      'HTTPS URL that receives the signed webhooks. Without it, events are stored but not sent, and a program can read them.',
  }),
  eventTypes,
});
export const endpointPatch = z.strictObject({
  url: url.optional(),
  eventTypes: eventTypes.optional(),
});

const timestamp = z.string().meta({ format: 'date-time' });
const count = z.int().min(0);

export const endpointRecord = z
  .object({
    endpointId: z.uuid(),
    projectId: z.string(),
    url: z.string().nullable(),
    eventTypes: z.array(z.string()),
    createdAt: timestamp,
  })
  .meta({ id: 'Endpoint' });

export const removedEndpoint = z.object({ endpointId: z.uuid(), removed: z.literal(true) });

export const eventRecord = z
  .object({
    eventId: z.uuid().meta({ description: 'The same as the header `X-Service-Delivery-Id`.' }),
    endpointId: z.uuid().nullable(),
    projectId: z.string(),
    runId: z.uuid().nullable(),
    event: z.string(),
    state: z.enum(['pending', 'delivered', 'dropped', 'held']).meta({
      description: '`held`: stored but not sent, because the endpoint had no URL.',
    }),
    attempts: count,
    lastStatus: z.int().nullable(),
    createdAt: timestamp,
  })
  .meta({ id: 'EndpointEvent' });

export const eventWithAttempts = eventRecord
  .extend({
    body: z.string(),
    deliveryAttempts: z.array(
      z.object({
        delivery: count.meta({
          description: '0: the first delivery; n: the n-th that an operator requested.',
        }),
        attempt: count,
        startedAt: timestamp,
        finishedAt: timestamp.nullable(),
        status: z.int().nullable(),
        error: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'EndpointEventWithAttempts' });

export const requestedEvent = z.object({ eventId: z.uuid(), delivery: count });
