import { afterEach, expect, test, vi } from 'vitest';
import { Flowrun, type RunEvent } from '../../../client/index.ts';

afterEach(() => {
  vi.useRealTimers();
});

const minuteMs = 60_000;
const sse = (id: number, event: string, data: object): string =>
  `retry: 1\nid: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

type Bytes = Uint8Array<ArrayBuffer>;

/** A stream that the test writes to, breaks and closes. */
function openStream() {
  const { readable, writable } = new TransformStream<Bytes, Bytes>();
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  return {
    response: new Response(readable, { headers: { 'content-type': 'text/event-stream' } }),
    write: (text: string) => void writer.write(encoder.encode(text)),
    cut: () => void writer.abort(new Error('cut')),
  };
}

test('reconnects for 15 minutes after a stream that was open for longer', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const [first, last] = [openStream(), openStream()];
  const answers = [first.response, null, last.response];
  const asked: (string | null)[] = [];
  const flowrun = new Flowrun({
    url: 'http://127.0.0.1',
    fetch: async (address, init) => {
      const { url } = new Request(address);
      if (!url.endsWith('/stream')) return Response.json({ data: { runId: 'r' } });
      asked.push(new Headers(init?.headers).get('last-event-id'));
      const answer = answers.shift();
      if (answer == null) throw new TypeError('fetch failed');
      return answer;
    },
  });
  const run = await flowrun.getRun('r');
  const events: RunEvent[] = [];
  const following = (async () => {
    for await (const event of run.events()) events.push(event);
  })();
  first.write(sse(1, 'output', { data: 'a' }));
  await expect.poll(() => events.length).toBe(1);
  vi.advanceTimersByTime(20 * minuteMs);
  first.cut();
  last.write(sse(1, 'output', { data: 'a' }));
  last.write(sse(2, 'finished', { sessionId: 'r', reason: 'completed' }));
  await following;
  expect(events.map(({ type }) => type)).toEqual(['output', 'finished']);
  expect(asked).toEqual(['0', '1', '1']);
});

test('ends if the caller has seen the end of the run before', async () => {
  const stream = openStream();
  const answers = [stream.response];
  const flowrun = new Flowrun({
    url: 'http://127.0.0.1',
    fetch: async (address) => {
      const { url } = new Request(address);
      if (!url.endsWith('/stream')) return Response.json({ data: { runId: 'r' } });
      return answers.shift() ?? Promise.reject(new Error('a second connection'));
    },
  });
  const run = await flowrun.getRun('r');
  stream.write(sse(5, 'finished', { exitCode: 0 }));
  const events: RunEvent[] = [];
  for await (const event of run.events({ after: 5 })) events.push(event);
  expect(events).toEqual([]);
});
