// An interrupt of a session at the API, which determines the turn when it accepts the request.

import { expect, test } from 'vitest';
import { type SessionWorker, sessionWorker } from './session-worker.ts';
import { useSessions } from './use-sessions.ts';

const { fixture, call, chat, open } = useSessions();

interface Opened {
  worker: SessionWorker;
  send: () => Promise<string>;
  /** Requests an interrupt. Returns the messages that the workflow was signalled so far. */
  interrupt: () => Promise<string[]>;
}

async function openSession(): Promise<Opened> {
  const { sessionId, runId } = await open();
  return {
    worker: sessionWorker(fixture, runId),
    send: async () => (await chat({ message: 'x', sessionId })).json.data.messageId,
    async interrupt() {
      const answer = await call(`/api/v1/runs/${runId}/interrupt`, { body: {} });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.json.data).toMatchObject({ runId, sessionId, finishedAt: null });
      const own = fixture.asked.interrupted.filter((of) => of.workflowId === `session/${runId}`);
      return own.map(({ messageId }) => messageId);
    },
  };
}

test('interrupts the current turn, repeatably, and no queued message', async () => {
  const { worker, send, interrupt } = await openSession();
  const first = await send();
  await worker.begin();
  const second = await send();
  expect(await interrupt()).toEqual([first]);
  expect(await interrupt()).toEqual([first, first]);
  await worker.end('Done.');
  expect(await interrupt(), 'between the two').toEqual([first, first]);
  await worker.begin();
  expect(await interrupt()).toEqual([first, first, second]);
});

test('interrupts a turn that continues in another sandbox', async () => {
  const { worker, send, interrupt } = await openSession();
  const messageId = await send();
  await worker.begin();
  await worker.sleep();
  expect(await interrupt()).toEqual([messageId]);
});

test('interrupts nothing without a current turn', async () => {
  const { worker, send, interrupt } = await openSession();
  expect(await interrupt()).toEqual([]);
  await send();
  expect(await interrupt()).toEqual([]);
  await worker.begin();
  await worker.end('Done.');
  await worker.sleep();
  expect(await interrupt()).toEqual([]);
});
