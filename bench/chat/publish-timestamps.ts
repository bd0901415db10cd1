import { connectRedis } from '../../systems/redis/connect.ts';
import { createFrameStream } from '../../systems/redis/frame-stream.ts';
import type { Service } from '../../test/support/service.ts';
import { stackEnv } from '../../test/support/stack-env.ts';

/** The times at which a run's frames were published, observed as the API observes them. */
interface PublishWatch {
  /** By `Date.now()`. */
  momentOf(seq: number): number;
  close(): void;
}

export async function watchPublishing(
  { instance }: Pick<Service, 'instance'>,
  runId: string,
): Promise<PublishWatch> {
  const redis = connectRedis({ url: stackEnv.redisUrl, name: 'bench', onError: () => undefined });
  await new Promise<void>((resolve) => redis.once('ready', () => resolve()));
  const stream = createFrameStream(redis, { instance });
  const published: { lastSeq: number; at: number }[] = [];
  const unsubscribe = stream.subscribe(runId, (notification) => {
    if (notification.kind === 'frames')
      published.push({ lastSeq: notification.lastSeq, at: Date.now() });
  });
  return {
    momentOf: (seq) => published.find(({ lastSeq }) => lastSeq >= seq)?.at ?? Number.NaN,
    close() {
      unsubscribe();
      stream.close();
      redis.disconnect();
    },
  };
}
