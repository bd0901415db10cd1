import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { framesOfPart, letGoOn } from './support/flood.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

const patienceMs = 120_000;
const frozenMs = 60_000;

it('lets a worker that was frozen, and has lost its folder, change nothing when it wakes', async () => {
  const { service } = world;
  const { pool } = service.database;
  const { runId, stays, comesAndGoes, expectWhole } = await world.startFlood();
  await stays.seenFrames(1, patienceMs);
  letGoOn(service, runId, 0);
  await stays.seenFrames(1_000, patienceMs);

  service.worker.signal('SIGSTOP');
  rmSync(join(service.dataDir, 'lock'));
  const second = service.anotherWorker();
  const began = performance.now();
  await second.start();
  letGoOn(service, runId, 1);
  await stays.seenFrames(2 * framesOfPart, patienceMs);
  await sleep(Math.max(0, frozenMs - (performance.now() - began)));

  const held = 'select lease_token, last_seq from cursors where run_id = $1';
  const before = await pool.query(held, [runId]);
  const frozenLog = service.worker.log().length;
  service.worker.signal('SIGCONT');
  const end = await service.worker.exited();
  expect(end).toEqual({ code: 1, signal: null });
  expect(service.worker.log().slice(frozenLog)).toContain('data_folder_lost');
  expect((await pool.query(held, [runId])).rows).toEqual(before.rows);

  letGoOn(service, runId, 2);
  await expectWhole();
  expect(stays.transcript.connections).toHaveLength(1);
  expect(comesAndGoes.transcript.connections.length).toBeGreaterThan(10);
  expect(second.log()).not.toContain('the lease is lost');
});
