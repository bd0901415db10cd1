// One schema for everything that a stream sends. The OpenAPI document and docs/stream.md are
// generated from it, and tests validate events against it.

import { z } from 'zod';
import { agentEvents } from './agent-events.ts';
import { type DescribedEvent, serviceEvents } from './service-events.ts';

const eventId = z
  .string()
  .regex(/^\d+$/)
  .meta({ description: 'Send it as `Last-Event-ID` to resume after this event.' });

const ids = {
  always: { id: eventId },
  never: {},
  'unless first': { id: eventId.optional() },
} satisfies Record<DescribedEvent['id'], z.ZodRawShape>;

const ofService = Object.entries(serviceEvents).map(([event, described]) =>
  eventSchema(event, { ...described, schemaName: `${inPascalCase(event)}Event` }),
);
const ofAgent = Object.entries(agentEvents).map(([event, described]) =>
  eventSchema(event, described),
);

/** The schemas of all described events by name. */
export const eventSchemas = new Map([...ofService, ...ofAgent]);

/** An event with its parsed `data`. */
export const streamEvent = z.union([...eventSchemas.values()]).meta({
  id: 'StreamEvent',
  description:
    'One event of a stream: the `id` and `event` of its frame, and its `data`, parsed as JSON. `event` determines the form of `data`.',
});

/** An event of the agent that is forwarded under its own name. */
export const otherStreamEvent = z
  .strictObject({
    id: eventId,
    event: z.string().regex(/^[a-z_]{1,40}$/),
    data: z.looseObject({ type: z.string().meta({ description: 'The same as `event`.' }) }),
  })
  .meta({
    id: 'OtherStreamEvent',
    description: 'An event of the agent that is not described. Clients skip it.',
  });

function eventSchema(
  event: string,
  { id, when, data, schemaName }: DescribedEvent & { schemaName: string },
) {
  const schema = z
    .strictObject({ ...ids[id], event: z.literal(event), data })
    .meta({ id: schemaName, description: `${when[0]?.toUpperCase()}${when.slice(1)}.` });
  return [event, schema] as const;
}

function inPascalCase(event: string): string {
  return event.replaceAll(/(^|_)([a-z])/g, (_whole, _start, letter: string) =>
    letter.toUpperCase(),
  );
}
