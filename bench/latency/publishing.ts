import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis, type Redis } from '../../systems/redis/connect.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import type { Sample } from '../measure/scenario.ts';
import { median } from '../measure/statistics.ts';

/** The lower limit of a notification: `PUBLISH` to one subscriber. */
interface Publishing {
  time(): Promise<Sample>;
  close(): void;
}

const messagesASample = 40;
const everyMs = 15;

export async function openPublishing(): Promise<Publishing> {
  const publisher = await connect();
  const subscriber = await connect();
  return {
    time: () => timeMessages(publisher, subscriber),
    close() {
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}

async function timeMessages(publisher: Redis, subscriber: Redis): Promise<Sample> {
  const channel = 'bench:latency';
  const payload = 'x'.repeat(300);
  let onMessage: () => void = () => undefined;
  subscriber.on('message', () => onMessage());
  await subscriber.subscribe(channel);
  const times: number[] = [];
  for (let index = 0; index < messagesASample; index += 1) {
    const arrival = new Promise<number>((resolve) => {
      onMessage = () => resolve(performance.now());
    });
    const startedAt = performance.now();
    void publisher.publish(channel, payload);
    times.push((await arrival) - startedAt);
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
