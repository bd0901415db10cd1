import { expect, test } from 'vitest';
import { assistant, type LogWriter, triggerRun } from './log-writer.ts';
import { rawCall } from './raw-call.ts';
import { useTenant } from './use-api.ts';

const { fixture, api, tenant } = useTenant();

/** A run that has ended, so that the service ends its stream. */
async function endedRun(): Promise<LogWriter> {
  const log = await triggerRun(fixture, { url: api.url, ...tenant });
  await log.write(['one', 'two', 'x'.repeat(200_000)].map(assistant));
  await log.end();
  return log;
}

interface StreamCall {
  version?: string;
  headers?: string[];
  /** Sent on the same connection after the request for the stream. */
  nextRequest?: string;
}

/** Everything that the service sends until it closes the connection. */
async function readStream(
  log: LogWriter,
  { version = '1.1', headers = [], nextRequest }: StreamCall,
) {
  const lines = [
    `GET /api/v1/runs/${log.runId}/stream?lastEventId=0 HTTP/${version}`,
    'host: a',
    `authorization: Bearer ${tenant.key}`,
    ...headers,
  ];
  const answer = await rawCall(api, `${lines.join('\r\n')}\r\n\r\n${nextRequest ?? ''}`);
  const end = answer.indexOf('\r\n\r\n');
  return { head: answer.slice(0, end).toLowerCase(), body: answer.slice(end + 4) };
}

const framesOf = ({ stored }: LogWriter): string =>
  stored.map(({ seq, event, data }) => `id: ${seq}\nevent: ${event}\ndata: ${data}\n\n`).join('');

test.each(['1.1', '1.0'])(
  'sends a direct client of HTTP/%s the events alone, and closes the connection after them',
  async (version) => {
    const log = await endedRun();
    const { head, body } = await readStream(log, { version });
    expect(head).toMatch(/^http\/1\.1 200 /);
    expect(head).toContain('\r\nconnection: close');
    expect(head).not.toContain('transfer-encoding');
    expect(body).toContain(`\n\n${framesOf(log)}id: `);
    expect(body).toMatch(/^retry: \d+\n\nevent: status\n/);
    expect(body).toMatch(/event: finished\ndata: .+\n\n$/);
  },
);

test.each([
  'X-Forwarded-For: 203.0.113.7',
  'X-Forwarded-Proto: https',
  'X-Real-IP: 203.0.113.7',
  'Forwarded: for=203.0.113.7',
  'Via: 1.1 proxy',
])('sends a proxy with %s chunks, and keeps the connection', async (header) => {
  const log = await endedRun();
  const nextRequest = 'GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
  const { head, body } = await readStream(log, { headers: [header], nextRequest });
  expect(head).toMatch(/^http\/1\.1 200 /);
  expect(head).toContain('\r\ntransfer-encoding: chunked');
  expect(head).toContain('\r\nconnection: keep-alive');
  const [stream = '', ...others] = body.split('\r\n0\r\n\r\n');
  expect(withoutChunkSizes(stream)).toContain(framesOf(log));
  expect(others.join('')).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
});

test('sends a proxy of HTTP/1.0 no chunks', async () => {
  const log = await endedRun();
  const { head, body } = await readStream(log, { version: '1.0', headers: ['Via: 1.0 proxy'] });
  expect(head).not.toContain('transfer-encoding');
  expect(body).toContain(framesOf(log));
});

function withoutChunkSizes(body: string): string {
  let text = '';
  for (let at = 0; at < body.length; ) {
    const sizeEnd = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.slice(at, sizeEnd), 16);
    text += body.slice(sizeEnd + 2, sizeEnd + 2 + size);
    at = sizeEnd + 2 + size + 2;
  }
  return text;
}
