import { expect, test } from 'vitest';
import {
  createInputQueue,
  promptMessage,
} from '../../../../../worker/sandbox/input/input-queue.ts';
import { uuidV5 } from '../../../../../worker/sandbox/input/uuid-v5.ts';

const unlimited = (): AbortSignal => new AbortController().signal;
const message = (index: number, line: string) => ({ kind: 'message', index, line });

test('returns messages in order, each as often as it is requested', async () => {
  const input = createInputQueue({ line: 'prompt', id: 'first' });
  input.push('second');
  expect(await input.next(0, unlimited())).toEqual(message(1, 'prompt'));
  expect(await input.next(0, unlimited())).toEqual(message(1, 'prompt'));
  expect(await input.next(1, unlimited())).toEqual(message(2, 'second'));
  input.close();
  expect(await input.next(1, unlimited())).toEqual(message(2, 'second'));
  expect(await input.next(2, unlimited())).toEqual({ kind: 'closed' });
});

test('reports each message at its first delivery only', async () => {
  const delivered: number[] = [];
  const input = createInputQueue({ line: 'prompt', id: 'first' }, (at) => delivered.push(at));
  input.push('second');
  await input.next(0, unlimited());
  await input.next(0, unlimited());
  await input.next(1, unlimited());
  await input.next(0, unlimited());
  await input.next(2, AbortSignal.timeout(10));
  expect(delivered).toEqual([1, 2]);
});

test('a request waits for the next message, its timeout or the end', async () => {
  const input = createInputQueue({ line: 'prompt', id: 'first' });
  const waiting = input.next(1, unlimited());
  input.push('later');
  expect(await waiting).toEqual(message(2, 'later'));
  expect(await input.next(2, AbortSignal.timeout(10))).toEqual({ kind: 'none' });
  const atEnd = input.next(2, unlimited());
  input.close();
  expect(await atEnd).toEqual({ kind: 'closed' });
  input.push('too late');
  expect(await input.next(2, unlimited())).toEqual({ kind: 'closed' });
});

test('after a restart, a new message reaches a sandbox whose index is ahead', async () => {
  const input = createInputQueue({ line: 'prompt', id: 'first' });
  input.push('pushed before its request');
  const first = await input.next(7, unlimited());
  expect(first).toEqual(message(8, 'pushed before its request'));
  input.push('pushed after');
  expect(await input.next(8, unlimited())).toEqual(message(9, 'pushed after'));
});

test('a sandbox that has received its prompt does not get it again', async () => {
  const input = createInputQueue({ line: 'prompt', id: 'first' });
  expect(await input.next(1, AbortSignal.timeout(10))).toEqual({ kind: 'none' });
});

test('requests with a forged index do not take messages from the real reader', async () => {
  const input = createInputQueue({ line: 'prompt', id: 'first' });
  await input.next(1_000_000_000, AbortSignal.timeout(10));
  input.push('interrupt');
  const forged = await input.next(1_000_000_000, unlimited());
  expect(forged).toMatchObject({ line: 'interrupt' });
  expect(await input.next(0, unlimited())).toEqual(message(1, 'prompt'));
  expect(await input.next(1, unlimited())).toEqual(forged);
});

test('drops a message and all before it when the agent acknowledges it', async () => {
  const input = createInputQueue({ line: 'prompt', id: 'first' });
  input.push('interrupt');
  input.push('second', 'b');
  input.push('third', 'c');
  for (const after of [0, 1, 2]) await input.next(after, unlimited());
  input.acknowledge('unknown');
  expect(await input.next(0, unlimited())).toEqual(message(1, 'prompt'));
  input.acknowledge('b');
  expect(await input.next(0, unlimited())).toEqual(message(4, 'third'));
  input.acknowledge('c');
  input.acknowledge('first');
  expect(await input.next(0, AbortSignal.timeout(10))).toEqual({ kind: 'none' });
  input.push('fourth');
  expect(await input.next(4, unlimited())).toEqual(message(5, 'fourth'));
});

test('an acknowledgement of a message that was not requested drops nothing', async () => {
  const input = createInputQueue(null);
  input.push('first', 'a');
  input.acknowledge('a');
  expect(await input.next(0, unlimited())).toEqual(message(1, 'first'));
});

test('a prompt has one uuid per generation', () => {
  const run = { runId: '0f0e4a3c-96a1-4c7e-9a37-6f8f2f1f8d10', generation: 1, prompt: 'Grüße' };
  const { line, id } = promptMessage(run);
  expect(promptMessage(run)).toEqual({ line, id });
  expect(JSON.parse(line)).toEqual({
    type: 'user',
    message: { role: 'user', content: 'Grüße' },
    uuid: id,
  });
  expect(promptMessage({ ...run, generation: 2 }).id).not.toBe(id);
});

test('derives a UUID according to RFC 9562', () => {
  const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  expect(uuidV5(dns, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2');
  expect(() => uuidV5('no uuid', 'x')).toThrow('not a UUID');
});
