import { expect } from 'vitest';
import type { z } from 'zod';
import { eventPayloads } from '../../api/stream/event-payloads.ts';

const payloads: Partial<Record<string, z.ZodType>> = eventPayloads;

/** An event of the service has the data that its description names, and no other. */
export function expectDescribed({ event, data }: { event: string; data: string }): void {
  const problem = payloads[event]?.safeParse(JSON.parse(data)).error?.message;
  expect(problem, `${event} ${data}`).toBeUndefined();
}
