// One run with a thousand readers. A round is a few frames published together, which both sides
// write to each reader in one piece. The next round starts when every reader has received the
// previous one completely. The time of a round starts at its publication, so it does not include
// storing the frames, which is the worker's part.

import { sseFrame } from '../../api/stream/sse-writer.ts';
import type { Frame, StoredFrame } from '../../core/frames/frame.ts';
import { createKeyStore } from '../../systems/postgres/accounts/key-store.ts';
import { randomText } from '../../test/fixtures/scripted-agent/random-text.ts';
import type { Service } from '../../test/support/service.ts';
import type { Sample, Scenario, Target } from '../measure/scenario.ts';
import { type ApiAlone, startApiAlone } from '../support/api-alone.ts';
import { startChild } from '../support/child.ts';
import { openReaders, type Readers } from '../support/open-readers.ts';
import { openRunLog } from '../support/run-log.ts';
import type { BroadcastCommand } from './broadcast.ts';

const connections = 1_000;
const connectionsPerKey = 200;
const rounds = 20;
const framesARound = 10;

export const fanOut: Target = {
  id: 'T9',
  title: `deliveries/s to ${connections} readers, against a plain broadcast of the same bytes`,
  unit: 'deliveries/s',
  better: 'more',
  goal: 0.8,
  gate: 0.6,
  open,
};

async function open(): Promise<Scenario> {
  const api = await startApiAlone();
  const readers = openReaders(connections);
  const program = new URL('./broadcast.ts', import.meta.url);
  const broadcast = startChild<BroadcastCommand, { url: string }>(program, {});
  const { url } = await broadcast.answer();
  const keys = await makeKeys(api.service);
  return {
    ours: () => floodReaders(api, readers, keys),
    async limit() {
      await readers.open(url, ['none']);
      const batches = Array.from({ length: rounds }, (_, round) => bytesOf(storedRound(round)));
      return measure(readers, async (round) => {
        const bytes = batches[round] ?? Buffer.alloc(0);
        return async () => broadcast.send({ bytes });
      });
    },
    async close() {
      await readers.stop();
      await broadcast.stop();
      await api.stop();
    },
  };
}

async function floodReaders(api: ApiAlone, readers: Readers, keys: string[]): Promise<Sample> {
  const log = await openRunLog(api.service);
  await readers.open(`${api.service.url}/api/v1/runs/${log.runId}/stream`, keys);
  const sample = await measure(readers, async (round) => {
    const stored = await log.commit(framesOf(round));
    return () => log.publish(stored);
  });
  log.close();
  readers.leave();
  await api.forgetRuns();
  return sample;
}

/** Prepares a round and returns the function that publishes it. */
async function measure(
  readers: Readers,
  prepare: (round: number) => Promise<() => Promise<void>>,
): Promise<Sample> {
  let elapsedMs = 0;
  let readersCpuMs = 0;
  for (let round = 0; round < rounds; round += 1) {
    const publish = await prepare(round);
    const all = readers.haveFrames((round + 1) * framesARound);
    const startedAt = performance.now();
    await publish();
    const { cpuMs } = await all;
    elapsedMs += performance.now() - startedAt;
    readersCpuMs += cpuMs;
  }
  const deliveries = rounds * framesARound * connections;
  const also = { roundMs: elapsedMs / rounds };
  return {
    value: (deliveries * 1_000) / elapsedMs,
    also,
    generatorShare: readersCpuMs / elapsedMs,
  };
}

/** The number of streams per key is limited, so several keys are created. */
async function makeKeys({ database, projectId }: Service): Promise<string[]> {
  const store = createKeyStore(database.pool);
  const keyFields = { projectId, name: 'reader', createdBy: 'bench', rateLimitRpm: 10_000 };
  const creating = Array.from({ length: connections / connectionsPerKey }, () =>
    store.create(keyFields),
  );
  return (await Promise.all(creating)).map(({ key }) => key);
}

function framesOf(round: number): Frame[] {
  return Array.from({ length: framesARound }, (_, index) => {
    const text = randomText(round * framesARound + index, { seed: 9, longEvery: 0 });
    const message = { role: 'assistant', content: [{ type: 'text', text }] };
    const data = JSON.stringify({ type: 'assistant', message });
    return { event: 'assistant', channel: 'chat', data };
  });
}

function storedRound(round: number): StoredFrame[] {
  const first = round * framesARound + 1;
  return framesOf(round).map((frame, index) => ({ ...frame, seq: first + index, at: new Date() }));
}

function bytesOf(frames: StoredFrame[]): Buffer {
  return Buffer.concat(frames.map(sseFrame));
}
