import { once } from 'node:events';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import type { Caller } from '../../../api/app-types.ts';
import type { ApiDeps } from '../../../api/deps.ts';
import { noopMetrics } from '../../../api/metrics.ts';
import { createStreams } from '../../../api/stream/streams.ts';
import { admittedRun } from '../../support/admitted-run.ts';

test('releases everything for a reader that disconnects before the first byte', async () => {
  const calls: string[] = [];
  const streams = createStreams({
    metrics: { ...noopMetrics, streamOpened: () => calls.push('opened') },
    newId: () => 'a-slot',
    streamSlots: {
      claim: async () => ({ allowed: true, openOfKey: 1 }),
      renew: async () => new Map(),
      reserveReconnects: async () => 0,
      release: async () => void calls.push('slot released'),
    },
    presence: { touch: async () => undefined },
    frameStream: {
      subscribe: () => () => void calls.push('unsubscribed'),
      readFileTree: async () => ({ json: null }),
      read: async () => null,
      readPage: async () => null,
      notify: async () => true,
    },
  } as Partial<ApiDeps> as ApiDeps); // no other dependency is used for a reader that has disconnected
  const app = Fastify();
  app.get('/', async (_request, reply) => {
    await once(reply.raw, 'close');
    const caller = { key: { keyId: 'a-key', projectId: 'a-project' }, runToken: null } as Caller;
    await streams.open({ run: admittedRun(), caller, resumeAfter: null }, reply);
    calls.push('answered');
  });
  await app.listen({ port: 0 });
  onTestFinished(async () => {
    await streams.close();
    await app.close();
  });
  const { port } = app.server.address() as AddressInfo; // listening on TCP
  const requested = once(app.server, 'request');
  const request = get({ port, path: '/' }).on('error', () => undefined);
  await requested;
  request.destroy();
  await expect.poll(() => calls).toEqual(['unsubscribed', 'slot released', 'answered']);
});
