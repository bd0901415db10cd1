import { expect, test } from 'vitest';
import { createInputQueue } from '../../../../../worker/sandbox/input/input-queue.ts';
import { promptLine } from '../../../../../worker/sandbox/input/stdin-lines.ts';
import { uuidV5 } from '../../../../../worker/sandbox/input/uuid-v5.ts';

const patient = (): AbortSignal => new AbortController().signal;
const message = (index: number, line: string) => ({ kind: 'message', index, line });

test('hands out one message after the other, each as often as it is asked for', async () => {
  const input = createInputQueue('prompt');
  input.push('second');
  expect(await input.next(0, patient())).toEqual(message(1, 'prompt'));
  expect(await input.next(0, patient())).toEqual(message(1, 'prompt'));
  expect(await input.next(1, patient())).toEqual(message(2, 'second'));
  input.close();
  expect(await input.next(1, patient())).toEqual(message(2, 'second'));
  expect(await input.next(2, patient())).toEqual({ kind: 'closed' });
});

test('a question waits for what comes, or for its own end', async () => {
  const input = createInputQueue('prompt');
  const waiting = input.next(1, patient());
  input.push('later');
  expect(await waiting).toEqual(message(2, 'later'));
  expect(await input.next(2, AbortSignal.timeout(10))).toEqual({ kind: 'none' });
  const atEnd = input.next(2, patient());
  input.close();
  expect(await atEnd).toEqual({ kind: 'closed' });
  input.push('too late');
  expect(await input.next(2, patient())).toEqual({ kind: 'closed' });
});

test('after a restart, what is pushed reaches a sandbox that is far ahead', async () => {
  const input = createInputQueue('prompt');
  input.push('pushed before it asked');
  const first = await input.next(7, patient());
  expect(first).toEqual(message(8, 'pushed before it asked'));
  input.push('pushed after');
  expect(await input.next(8, patient())).toEqual(message(9, 'pushed after'));
});

test('a sandbox that has its prompt is not given it again', async () => {
  const input = createInputQueue('prompt');
  expect(await input.next(1, AbortSignal.timeout(10))).toEqual({ kind: 'none' });
});

test('questions with any index take nothing from the one who needs it', async () => {
  const input = createInputQueue('prompt');
  await input.next(1_000_000_000, AbortSignal.timeout(10));
  input.push('interrupt');
  const stolen = await input.next(1_000_000_000, patient());
  expect(stolen).toMatchObject({ line: 'interrupt' });
  expect(await input.next(0, patient())).toEqual(message(1, 'prompt'));
  expect(await input.next(1, patient())).toEqual(stolen);
});

test('a prompt has one uuid in each generation', () => {
  const run = { runId: '0f0e4a3c-96a1-4c7e-9a37-6f8f2f1f8d10', generation: 1, prompt: 'Grüße' };
  expect(promptLine(run)).toBe(promptLine(run));
  expect(JSON.parse(promptLine(run))).toMatchObject({
    type: 'user',
    message: { role: 'user', content: 'Grüße' },
  });
  const uuidOf = (generation: number) => JSON.parse(promptLine({ ...run, generation })).uuid;
  expect(uuidOf(1)).not.toBe(uuidOf(2));
});

test('names a UUID as RFC 9562 does', () => {
  const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  expect(uuidV5(dns, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2');
  expect(() => uuidV5('no uuid', 'x')).toThrow('not a UUID');
});
