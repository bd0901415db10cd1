import { once } from 'node:events';
import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createWorker, type WorkerOptions } from '../../../../worker/temporal/workers.ts';
import { ensureTemporalRuntime } from '../../../support/temporal-runtime.ts';
import { testBundle } from '../../../support/test-bundle.ts';

/** Not found. */
const refusal = { 'grpc-status': '5', 'grpc-message': 'unknown namespace' };

/** A Temporal server that answers these calls, and all others with an unknown namespace. */
async function frontend(answered: string[]): Promise<string> {
  const server: Http2Server = createServer();
  server.on('stream', (stream, headers) => {
    const isKnown = answered.includes(String(headers[':path']).split('/').at(-1) ?? '');
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: true },
    );
    stream.on('wantTrailers', () =>
      stream.sendTrailers(isKnown ? { 'grpc-status': '0' } : refusal),
    );
    stream.end(isKnown ? emptyMessage : undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An uncompressed gRPC message of zero bytes. */
const emptyMessage = Buffer.alloc(5);

const unused = async (): Promise<never> => Promise.reject(new Error('no activity runs'));

const threads = (): number =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'MessagePort').length;

test.each([
  {
    name: 'Temporal rejects',
    answered: ['GetSystemInfo'],
    beforePolling: async () => undefined,
    message: 'unknown namespace',
  },
  {
    name: 'may not poll yet',
    answered: ['GetSystemInfo', 'DescribeNamespace'],
    beforePolling: async () => Promise.reject(new Error('not yet')),
    message: 'not yet',
  },
])('a worker that $name leaves no threads, however often it is created', async (refused) => {
  ensureTemporalRuntime();
  const options = {
    ...{ instance: 'test', hostId: 'host-1', capacity: 1, namespace: 'unknown' },
    connection: { address: await frontend(refused.answered) },
    beforePolling: refused.beforePolling,
    workflowBundle: await testBundle(),
    activities: {
      run: { deliverWebhook: unused, endRun: unused },
      host: { followRun: unused, runTurn: unused, startSandbox: unused },
    },
  };
  const before = threads();
  for (let time = 1; time <= 2; time += 1) {
    // Every queue needs an activity; none runs.
    await expect(createWorker(options as unknown as WorkerOptions)).rejects.toThrow(
      refused.message,
    );
  }
  expect(threads()).toBe(before);
});
