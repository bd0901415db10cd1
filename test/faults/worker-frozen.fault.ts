import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { untilGatewayAnswers } from '../support/gateway.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { framesOfPart, releaseFlood } from './support/flood.ts';
import { openTcpHoldProxy, type TcpHoldProxy } from './support/tcp-hold-proxy.ts';
import { waitForWorker } from './support/wait-for-reconnect.ts';

let fixture: FaultFixture;
let proxy: TcpHoldProxy;
beforeAll(async () => {
  fixture = await startFaultFixture();
  const { worker, database } = fixture.service;
  proxy = await openTcpHoldProxy(database.url);
  await worker.kill('SIGTERM');
  await worker.start({ DATABASE_URL: proxy.url });
});
afterAll(async () => {
  await fixture?.stop();
  proxy?.close();
});

const timeoutMs = 120_000;
const frozenMs = 60_000;

/** Everything that a worker without its data folder could still damage. */
async function recordsOfSecond(runId: string) {
  const { service } = fixture;
  const { rows } = await service.database.pool.query(
    `select r::text as run, l.lease_token, l.lease_owner, l.generation, l.byte_offset, l.last_seq,
            l.is_final as closed,
            (select md5(string_agg(f::text, '' order by seq)) from frames f where run_id = $1)
     from run_logs l join runs r on r.id = l.run_id where r.id = $1`,
    [runId],
  );
  return {
    rows,
    sandboxes: await service.sandboxes.list(),
    folders: readdirSync(service.dataDir, { recursive: true }).filter((one) =>
      /^[rs]\//.test(String(one)),
    ),
  };
}

it('rejects every write of a frozen worker that wakes up after it lost its data folder', async () => {
  const { service } = fixture;
  const { runId, steadyClient, reconnectingClient, expectComplete } = await fixture.startFlood();
  await steadyClient.untilFrames(1, timeoutMs);
  releaseFlood(service, runId, 0);
  await steadyClient.untilFrames(1_000, timeoutMs);

  proxy.hold(/append_batch/);
  releaseFlood(service, runId, 1);
  await expect.poll(proxy.held, { timeout: timeoutMs }).toContain('append_batch');
  service.worker.signal('SIGSTOP');
  const began = performance.now();
  rmSync(join(service.dataDir, 'lock'));
  const second = service.anotherWorker();
  await waitForWorker(service, runId, { worker: second, client: steadyClient });
  await steadyClient.untilFrames(2 * framesOfPart, timeoutMs);
  await sleep(Math.max(0, frozenMs - (performance.now() - began)));

  // It wakes up, and its delayed write arrives.
  const before = await recordsOfSecond(runId);
  const frozenLog = service.worker.log().length;
  service.worker.signal('SIGCONT');
  proxy.release();
  expect(await service.worker.exited()).toEqual({ code: 1, signal: null });
  expect(service.worker.log().slice(frozenLog)).toContain('data_dir_lock_lost');
  await expect.poll(proxy.answered, { timeout: timeoutMs }).toContain('SELECT 0');
  expect(await recordsOfSecond(runId)).toEqual(before);
  expect(await untilGatewayAnswers(service, runId)).toBeLessThan(1_000);

  releaseFlood(service, runId, 2);
  await expectComplete();
  expect(steadyClient.transcript.connections).toHaveLength(1);
  expect(reconnectingClient.transcript.connections.length).toBeGreaterThan(10);
  expect(second.log()).not.toContain('the lease is lost');
});
