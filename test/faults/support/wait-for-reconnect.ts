import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Service } from '../../support/service.ts';
import type { ServiceProcess } from '../../support/service-process.ts';
import { untilGatewayAnswers } from './gateway.ts';
import { waitedForProcessorMs } from './machine.ts';
import type { Client } from './transcript.ts';

/** From the start of a worker, what it waits for while others have the processors not counted. */
const gatewayWithinMs = 2_000;
/** From the start of whatever had died. */
const frameWithinMs = 15_000;
const timeoutMs = 120_000;

/** Starts what had died in the middle of a run; the client that watches soon sees more of it. */
export async function waitForReconnect(
  what: string,
  client: Client,
  start: () => Promise<unknown>,
): Promise<void> {
  const frameMs = await untilNextFrame(client, start);
  console.log(`${what}: next frame ${frameMs} ms after its start`);
  expect(frameMs).toBeLessThan(frameWithinMs);
}

/** And the agent in its sandbox finds somebody to talk to, even sooner. */
export async function waitForWorker(
  service: Service,
  runId: string,
  { worker, client }: { worker: ServiceProcess; client: Client },
): Promise<void> {
  let gatewayMs = 0;
  let waitedMs = 0;
  const frameMs = await untilNextFrame(client, async () => {
    const ready = worker.start();
    gatewayMs = Math.round(await untilGatewayAnswers(service, runId));
    waitedMs = waitedForProcessorMs(worker.pid());
    await ready;
  });
  console.log(
    `worker: gateway ${gatewayMs} ms (${waitedMs} of them no processor), next frame ${frameMs} ms after its start`,
  );
  expect(gatewayMs - waitedMs).toBeLessThan(gatewayWithinMs);
  expect(frameMs).toBeLessThan(frameWithinMs);
}

const stillForMs = 500;
const stillWithinMs = 20_000;

/** What was on its way to the client has come, where anything stopped it. */
async function untilStill(client: Client): Promise<void> {
  const end = performance.now() + stillWithinMs;
  for (let before = -1; before !== client.frames() && performance.now() < end; ) {
    before = client.frames();
    await sleep(stillForMs);
  }
}

async function untilNextFrame(client: Client, start: () => Promise<unknown>): Promise<number> {
  await untilStill(client);
  const seen = client.frames();
  const began = performance.now();
  const started = start();
  await expect.poll(client.frames, { timeout: timeoutMs, interval: 10 }).toBeGreaterThan(seen);
  const frameMs = performance.now() - began;
  await started;
  return Math.round(frameMs);
}
