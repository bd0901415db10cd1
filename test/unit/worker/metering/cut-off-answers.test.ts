// The ledger entries of answers that ended early.

import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { openCall } from '../../../support/socket-client.ts';
import { asked, callOf, startGateway, usage, user } from './metered-gateway.ts';

describe('an answer that is cut off', () => {
  test('by the model API is stored with the usage it reported, and an estimate of the rest', async () => {
    const { socketPath, meter, recorded } = await startGateway();
    const steps = [{ usage }, { text: 'Half of it' }, { delayMs: 1_500 }, { cut: true, times: 9 }];
    const answer = await openCall(socketPath, callOf(steps, { stream: true }));
    await expect(text(answer)).rejects.toThrow('aborted');
    await meter.settled();
    const [call] = recorded.flat();
    expect(call).toMatchObject({ status: 200, isCutOff: true, isEstimated: true });
    expect(call?.tokens).toMatchObject({ input: 1_000, cacheRead: 200 });
    expect(call?.tokens.output).toBeGreaterThan(25);
    expect(call?.tokens.output).toBeLessThan(1_000);
  });

  test('by the agent, while it is streamed, is stored in the same way', async () => {
    const { socketPath, meter, recorded } = await startGateway();
    const steps = [{ usage }, { text: 'Half of it' }, { delayMs: 60_000 }];
    const answer = await openCall(socketPath, callOf(steps, { stream: true }));
    await once(answer, 'data');
    answer.destroy();
    await meter.settled();
    expect(recorded.flat()).toMatchObject([
      { status: 200, isCutOff: true, isEstimated: true, tokens: { input: 1_000 } },
    ]);
  });

  test('by the agent before it begins costs its prompt, and an estimate of its output', async () => {
    const call = callOf([{ delayMs: 60_000 }]);
    const entry = await entryOfAborted(call);
    expect(entry).toMatchObject({ status: null, isCutOff: true, isEstimated: true });
    expect(entry?.tokens.input).toBe(Math.ceil(call.body.length / 4));
    expect(entry?.costNanos).toBeGreaterThan(0);
  });

  test('by the agent before it begins counts an image by its price, not by its length', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(400_000) };
    const messages = [user([{ type: 'image', source }]), asked([{ delayMs: 60_000 }])];
    const call = callOf([], { messages });
    const entry = await entryOfAborted(call);
    expect(entry).toMatchObject({ status: null, isEstimated: true });
    expect(entry?.tokens.input).toBe(Math.ceil((call.body.length - 400_000) / 4) + 1_600);
  });

  test('by the end of the run is stored before the meter has settled', async () => {
    const { socketPath, meter, recorded, close } = await startGateway();
    const steps = [{ usage }, { text: 'Half of it' }, { delayMs: 60_000 }];
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const answer = await openCall(socketPath, callOf(steps, { stream: true }));
        await once(
          answer.on('error', () => undefined),
          'data',
        );
      }),
    );
    await close();
    await meter.settled();
    expect(recorded.flat()).toHaveLength(8);
  });
});

/** The entry of a call that the agent aborts while the model API has not answered yet. */
async function entryOfAborted(call: ReturnType<typeof callOf>) {
  const { socketPath, meter, recorded, model } = await startGateway();
  const abort = new AbortController();
  const opened = openCall(socketPath, { ...call, signal: abort.signal });
  await expect.poll(() => model.requests().length).toBe(1);
  abort.abort();
  await expect(opened).rejects.toThrow();
  await meter.settled();
  return recorded.flat()[0];
}
