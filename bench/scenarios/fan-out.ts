// One run with a thousand readers. A round is a few frames published together, which both sides
// write to each reader in one piece. The next round starts when every reader has received the
// previous one completely. What is judged is the CPU time of the server, because readers and
// servers share the machine, and a busy machine presses the ratio of the rates to 1.

import { sseFrame } from '../../api/stream/sse-writer.ts';
import type { Frame, StoredFrame } from '../../core/frames/frame.ts';
import { createKeyStore } from '../../systems/postgres/accounts/key-store.ts';
import { randomText } from '../../test/fixtures/scripted-agent/random-text.ts';
import { startLimits } from '../limits/limits.ts';
import type { OpenScenario, Sample, Scenario } from '../measure/scenario.ts';
import { type BenchService, startBenchService } from '../service/bench-service.ts';
import { admitOnly, openRunLog } from '../service/open-runs.ts';
import { cpuMsOf } from '../service/process-use.ts';
import { type ReaderCrowd, startReaderCrowd } from '../service/reader-crowd.ts';

const connections = 1_000;
const connectionsPerKey = 200;
const rounds = 20;
const framesPerRound = 10;

export const fanOut: Scenario = {
  id: 'T9',
  targets: [
    {
      id: 'T9',
      title: `deliveries to ${connections} readers for each CPU second of the server, against a plain HTTP server with the same bytes`,
      unit: '/s',
      better: 'more',
      goal: 1.1,
    },
    {
      id: 'T9-wall',
      title: 'the same for each second, with the readers on the same machine',
      unit: '/s',
      better: 'more',
      goal: 0.8,
    },
  ],
  iterations: 8,
  warmUps: 2,
  open,
};

async function open(): Promise<OpenScenario> {
  const service = await startBenchService();
  const runs = await admitOnly(service);
  const crowd = startReaderCrowd(connections);
  const limits = await startLimits(service);
  const keys = await makeKeys(service);
  return {
    async ours() {
      const log = await openRunLog(service);
      await crowd.open(`${service.url}/api/v1/runs/${log.runId}/stream`, keys);
      const sample = await measure(crowd, service.api.pid(), async (round) => {
        const stored = await log.commit(framesOf(round));
        return () => log.publish(stored);
      });
      log.close();
      crowd.leave();
      await runs.end();
      return sample;
    },
    async limit() {
      await crowd.open(limits.streamUrl, ['none']);
      return measure(crowd, limits.pid(), async (round) => {
        const bytes = bytesOf(round);
        return async () => limits.broadcast(bytes);
      });
    },
    async close() {
      await crowd.stop();
      await limits.close();
      await runs.stop();
      await service.stop();
    },
  };
}

type Prepare = (round: number) => Promise<() => Promise<void>>;

/** `prepare` returns the function that publishes a round. Storing the round is not measured. */
async function measure(crowd: ReaderCrowd, serverPid: number, prepare: Prepare): Promise<Sample> {
  const total = { elapsedMs: 0, serverMs: 0, generatorCpuMs: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const publish = await prepare(round);
    const received = crowd.untilFrames((round + 1) * framesPerRound);
    const serverBefore = cpuMsOf(serverPid);
    const startedAt = performance.now();
    await publish();
    const { cpuMs } = await received;
    total.elapsedMs += performance.now() - startedAt;
    total.serverMs += cpuMsOf(serverPid) - serverBefore;
    total.generatorCpuMs += cpuMs;
  }
  const deliveries = rounds * framesPerRound * connections * 1_000;
  return {
    values: { T9: deliveries / total.serverMs, 'T9-wall': deliveries / total.elapsedMs },
    also: { serverShare: total.serverMs / total.elapsedMs },
    generatorCpuMs: total.generatorCpuMs,
  };
}

/** The number of streams per key is limited, so several keys are created. */
async function makeKeys({ database, projectId }: BenchService): Promise<string[]> {
  const store = createKeyStore(database.pool);
  const fields = { projectId, name: 'reader', createdBy: 'bench', rateLimitRpm: 10_000 };
  const keys = Array.from({ length: connections / connectionsPerKey }, () => store.create(fields));
  return (await Promise.all(keys)).map(({ key }) => key);
}

function framesOf(round: number): Frame[] {
  return Array.from({ length: framesPerRound }, (_, index) => {
    const text = randomText(round * framesPerRound + index, { seed: 9, longEvery: 0 });
    const message = { role: 'assistant', content: [{ type: 'text', text }] };
    const data = JSON.stringify({ type: 'assistant', message });
    return { event: 'assistant', channel: 'chat', data };
  });
}

function bytesOf(round: number): Buffer {
  const first = round * framesPerRound + 1;
  const stored = framesOf(round).map(
    (frame, index): StoredFrame => ({ ...frame, seq: first + index, at: new Date() }),
  );
  return Buffer.concat(stored.map(sseFrame));
}
