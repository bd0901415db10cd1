import { connectRedis } from '../../systems/redis/connect.ts';
import { createFrameStream } from '../../systems/redis/frame-stream.ts';
import type { Service } from '../../test/support/service.ts';
import { stackEnv } from '../../test/support/stack-env.ts';

/** When a run's frames were published, by one who listens as the API does. */
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
  const heard: { lastSeq: number; at: number }[] = [];
  const leave = stream.subscribe(runId, (wake) => {
    if (wake.kind === 'frames') heard.push({ lastSeq: wake.lastSeq, at: Date.now() });
  });
  return {
    momentOf: (seq) => heard.find(({ lastSeq }) => lastSeq >= seq)?.at ?? Number.NaN,
    close() {
      leave();
      stream.close();
      redis.disconnect();
    },
  };
}
