import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { type ReceivedBody, receiveBody } from '../../../api/http/bodies/receive-body.ts';
import { limits } from '../../../core/limits.ts';

const maxBytes = 10 * limits.http.smallBodyMaxBytes;

interface Upload {
  chunks: Buffer[];
  headers?: Record<string, string>;
}

/** Sends a body to a server, and returns what the server has received. */
async function upload({ chunks, headers = {} }: Upload): Promise<ReceivedBody> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const sent = httpRequest({ port, host: '127.0.0.1', method: 'POST', headers, agent: false });
  sent.on('error', () => undefined);
  onTestFinished(() => void sent.destroy());
  const arrived = once(server, 'request');
  sent.flushHeaders();
  const [request] = (await arrived) as [IncomingMessage];
  const received = receiveBody(request, maxBytes);
  received.catch(() => undefined); // it is awaited below
  for (const chunk of chunks) {
    sent.write(chunk);
    await setImmediate();
  }
  sent.end();
  return received;
}

const letters = Buffer.from('abcdefghij'.repeat(maxBytes / 10));
const chunksOf = (bytes: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );

test.each([
  ['with a length', { 'content-length': String(maxBytes) }],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
])('receives the largest body %s, and frees it', async (_how, headers) => {
  const { bytes, free } = await upload({ chunks: chunksOf(letters, 12_345), headers });
  expect(letters.equals(bytes)).toBe(true);
  free();
  expect(bytes.length).toBe(0);
});

test.each([
  ['with a length', { 'content-length': String(maxBytes + 1) }],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
])('rejects a body of one byte more %s', async (_how, headers) => {
  const chunks = chunksOf(Buffer.concat([letters, Buffer.from('k')]), 12_345);
  await expect(upload({ chunks, headers })).rejects.toMatchObject({
    code: 'FST_ERR_CTP_BODY_TOO_LARGE',
  });
});

test('receives an empty body', async () => {
  const { bytes } = await upload({ chunks: [], headers: { 'content-length': '0' } });
  expect(bytes.length).toBe(0);
});
