import { expect } from 'vitest';
import { eventSchemas, otherStreamEvent } from '../../api/stream/events/stream-event.ts';
import { parseObject } from '../../core/json.ts';

interface ReceivedEvent {
  id?: string | undefined;
  event?: string | undefined;
  data: string;
}

/** An event of a stream that its description does not allow. */
export class UndescribedEvent extends Error {}

/**
 * Why a stream event does not match its schema. Null: it matches. The event needs a described ID
 * and name, and no field of the service may be undescribed.
 */
export function descriptionError({ id, event = '', data }: ReceivedEvent): UndescribedEvent | null {
  const received = { ...(id === undefined ? {} : { id }), event, data: parsed(data) };
  const schema = eventSchemas.get(event);
  const { error } = (schema ?? otherStreamEvent).safeParse(received);
  const shown = `${id ?? '-'} ${event} ${data.slice(0, 1_000)}`;
  if (error !== undefined) return new UndescribedEvent(`${shown}\n${error.message}`);
  const isNamed = schema !== undefined || parseObject(data)?.['type'] === event;
  return isNamed ? null : new UndescribedEvent(`${shown}\nhas another type than its name`);
}

export function expectDescribed(received: ReceivedEvent): void {
  expect(descriptionError(received)).toBeNull();
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return data;
  }
}
