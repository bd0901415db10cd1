// One run, a thousand readers. A round is some frames published together, which both sides write to each
// reader in one piece; the next round begins when every reader has the last one whole. The clock of a
// round runs from its publication, so that storing the frames, which is the worker's part, is left out.

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
const connectionsAKey = 200;
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

/** `prepare` returns what publishes the round. */
async function measure(
  readers: Readers,
  prepare: (round: number) => Promise<() => Promise<void>>,
): Promise<Sample> {
  let took = 0;
  let readersCpuMs = 0;
  for (let round = 0; round < rounds; round += 1) {
    const publish = await prepare(round);
    const all = readers.haveFrames((round + 1) * framesARound);
    const begun = performance.now();
    await publish();
    const { cpuMs } = await all;
    took += performance.now() - begun;
    readersCpuMs += cpuMs;
  }
  const deliveries = rounds * framesARound * connections;
  const also = { roundMs: took / rounds };
  return { value: (deliveries * 1_000) / took, also, generatorShare: readersCpuMs / took };
}

/** One key may hold so many streams, so there are as many keys as it takes. */
async function makeKeys({ database, projectId }: Service): Promise<string[]> {
  const store = createKeyStore(database.pool);
  const wanted = { projectId, name: 'reader', createdBy: 'bench', rateLimitRpm: 10_000 };
  const made = Array.from({ length: connections / connectionsAKey }, () => store.create(wanted));
  return (await Promise.all(made)).map(({ key }) => key);
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
