import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { untilGatewayAnswers } from '../../support/gateway.ts';
import { waitedForProcessorMs } from '../../support/processor-wait.ts';
import type { Service } from '../../support/service.ts';
import type { ServiceProcess } from '../../support/service-process.ts';
import type { Client } from './transcript.ts';

/** From the start of a worker, without its waits for a processor. */
const gatewayWithinMs = 2_000;
/** From the restart of the killed process. */
const frameWithinMs = 15_000;
const timeoutMs = 120_000;

/** Restarts a process that was killed during a run. The client must soon receive the next frame. */
export async function waitForReconnect(
  what: string,
  client: Client,
  start: () => Promise<unknown>,
): Promise<void> {
  const frameMs = await untilNextFrame(client, start);
  console.log(`${what}: next frame ${frameMs} ms after its start`);
  expect(frameMs).toBeLessThan(frameWithinMs);
}

/** Also checks that the model gateway answers the sandbox, even sooner. */
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

/** Waits until no more frames arrive. */
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
