import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../core/limits.ts';
import { createBlobStore } from '../../systems/postgres/files/blob-store.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { framesOfPart, releaseFlood } from './support/flood.ts';
import { openTcpHoldProxy, type TcpHoldProxy } from './support/tcp-hold-proxy.ts';

let fixture: FaultFixture;
let proxy: TcpHoldProxy;
beforeAll(async () => {
  fixture = await startFaultFixture();
  const { api, worker, database } = fixture.service;
  proxy = await openTcpHoldProxy(database.url);
  for (const process of [api, worker]) {
    await process.kill('SIGTERM');
    await process.start({ DATABASE_URL: proxy.url });
  }
});
afterAll(async () => {
  await fixture?.stop();
  proxy?.close();
});

const timeoutMs = 120_000;
/** Longer than the statement timeout. */
const longMs = 40_000;

it('loses nothing when the connections to Postgres stall, and does not wait forever', async () => {
  const { service } = fixture;
  const { runId, steadyClient, expectComplete } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  releaseFlood(service, runId, 0);
  await steadyClient.untilFrames(1_000, timeoutMs);
  proxy.blockOpenConnections();
  const began = performance.now();
  releaseFlood(service, runId, 1);
  await steadyClient.untilFrames(1.5 * framesOfPart, timeoutMs);
  console.log(
    `continued ${Math.round(performance.now() - began)} ms after the connections were blocked`,
  );
  releaseFlood(service, runId, 2);
  await expectComplete();
});

it('waits longer than for other statements while another process stores the same file', async () => {
  const content = randomBytes(2 * limits.blob.chunkBytes);
  const id = { sha256: createHash('sha256').update(content).digest('hex'), size: content.length };
  async function* slowly() {
    await sleep(longMs);
    yield content;
  }
  async function* atOnce() {
    yield content;
  }
  const { put, read } = createBlobStore(fixture.service.database.pool);
  const first = put(slowly(), id);
  await sleep(1_000);
  await Promise.all([first, put(atOnce(), id)]);
  const pieces = [];
  for await (const piece of read(id.sha256)) pieces.push(piece);
  expect(Buffer.concat(pieces).equals(content)).toBe(true);
});
