import { once } from 'node:events';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { withClientSignal } from '../../../api/http/client-signal.ts';

/** Whether it is told, from the start, that nobody waits. */
async function isGivenUp({ leavesFirst }: { leavesFirst: boolean }): Promise<boolean> {
  const app = Fastify();
  const given: boolean[] = [];
  app.decorateRequest('requestedWaitMs', 0);
  app.get('/', async (_request, reply) => {
    if (leavesFirst) await once(reply.raw, 'close');
    const never = new AbortController().signal;
    await withClientSignal(reply, never, async ({ aborted }) => given.push(aborted));
    return {};
  });
  await app.listen({ port: 0 });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo; // listening on TCP
  const asked = once(app.server, 'request');
  const request = get({ port, path: '/' }).on('error', () => undefined);
  await asked;
  if (leavesFirst) request.destroy();
  await expect.poll(() => given).toHaveLength(1);
  return given[0] === true;
}

test('aborts at once for a client that has already disconnected', async () => {
  expect(await isGivenUp({ leavesFirst: true })).toBe(true);
  expect(await isGivenUp({ leavesFirst: false })).toBe(false);
});
