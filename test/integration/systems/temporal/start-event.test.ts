import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { expect, test } from 'vitest';
import { fakeRun } from '../../../support/fake-run.ts';
import { useTemporal } from './use-temporal.ts';

const { fixture, temporal } = useTemporal();

test.each([
  ['delivered', async () => ({ status: 204 })],
  ['dropped', () => Promise.reject(ApplicationFailure.nonRetryable('no attempt is left'))],
] as const)('the workflow of an event reports to later starts that it was %s', async (...of) => {
  const [outcome, deliverEvent] = of;
  const start = { eventId: randomUUID(), delivery: 0 };
  fixture.serve(start.eventId, fakeRun({ deliverEvent }).activities);
  expect(await temporal.startEvent(start)).toBe('started');
  const handle = fixture.client.workflow.getHandle(`event/${start.eventId}/1`);
  expect(await handle.result()).toEqual({ delivered: outcome === 'delivered' });
  expect(await temporal.startEvent(start)).toBe(outcome);
});
