import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis, type Redis } from '../../systems/redis/connect.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import type { Sample, Scenario, Target } from '../measure/scenario.ts';
import { median } from '../measure/statistics.ts';
import { type ApiAlone, startApiAlone } from '../support/api-alone.ts';
import { type FrameStamps, type Moment, openFramePath } from './frame-path.ts';

const framesASample = 40;
const everyMs = 15;

export const latency: Target = {
  id: 'T10',
  title: 'one frame from the worker to a reader, against PUBLISH to a subscriber',
  unit: 'ms',
  better: 'less',
  goal: 3,
  gate: 6,
  open,
};

async function open(): Promise<Scenario> {
  const api = await startApiAlone();
  const publisher = await connect();
  const subscriber = await connect();
  return {
    ours: () => timeFrames(api),
    limit: () => timeMessages(publisher, subscriber),
    async close() {
      publisher.disconnect();
      subscriber.disconnect();
      await api.stop();
    },
  };
}

/** From publication on, as the limit is; what comes before it is told beside. */
async function timeFrames(api: ApiAlone): Promise<Sample> {
  const path = await openFramePath(api.service);
  const stamps: FrameStamps[] = [];
  while (stamps.length < framesASample) {
    stamps.push(await path.pass());
    await sleep(everyMs);
  }
  await path.close();
  await api.forgetRuns();
  const between = (from: Moment, to: Moment): number =>
    median(stamps.map((stamp) => stamp[to] - stamp[from]));
  return {
    value: between('published', 'received'),
    also: {
      fromSpool: between('printed', 'received'),
      toCommit: between('printed', 'committing'),
      commit: between('committing', 'published'),
    },
  };
}

async function timeMessages(publisher: Redis, subscriber: Redis): Promise<Sample> {
  const channel = 'bench:latency';
  const payload = 'x'.repeat(300);
  let heard: () => void = () => undefined;
  subscriber.on('message', () => heard());
  await subscriber.subscribe(channel);
  const times: number[] = [];
  for (let index = 0; index < framesASample; index += 1) {
    const arrival = new Promise<number>((resolve) => {
      heard = () => resolve(performance.now());
    });
    const begun = performance.now();
    void publisher.publish(channel, payload);
    times.push((await arrival) - begun);
    await sleep(everyMs);
  }
  await subscriber.unsubscribe(channel);
  subscriber.removeAllListeners('message');
  return { value: median(times) };
}

async function connect(): Promise<Redis> {
  const redis = connectRedis({ url: stackEnv.redisUrl, name: 'bench', onError: () => undefined });
  await new Promise<void>((resolve) => redis.once('ready', () => resolve()));
  return redis;
}
