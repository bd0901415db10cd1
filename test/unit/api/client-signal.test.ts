import { once } from 'node:events';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { withClientSignal } from '../../../api/http/client-signal.ts';

/** Whether the signal is already aborted when the handler gets it. */
async function startsAborted({ leavesFirst }: { leavesFirst: boolean }): Promise<boolean> {
  const app = Fastify();
  const abortedAtStart: boolean[] = [];
  app.decorateRequest('requestedWaitMs', 0);
  app.get('/', async (_request, reply) => {
    if (leavesFirst) await once(reply.raw, 'close');
    const never = new AbortController().signal;
    await withClientSignal(reply, never, async ({ aborted }) => abortedAtStart.push(aborted));
    return {};
  });
  await app.listen({ port: 0 });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo; // listening on TCP
  const requested = once(app.server, 'request');
  const request = get({ port, path: '/' }).on('error', () => undefined);
  await requested;
  if (leavesFirst) request.destroy();
  await expect.poll(() => abortedAtStart).toHaveLength(1);
  return abortedAtStart[0] === true;
}

test('aborts at once for a client that has already disconnected', async () => {
  expect(await startsAborted({ leavesFirst: true })).toBe(true);
  expect(await startsAborted({ leavesFirst: false })).toBe(false);
});
