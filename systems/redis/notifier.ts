// A bell says that there is something to look at in Postgres. It may be lost, and may ring for
// nothing: who listens looks by a slow clock as well.

import type { Redis } from './connect.ts';
import { redisKeys } from './keys.ts';
import { createSubscriber } from './subscriber.ts';

export interface Notifier {
  /** Never throws: a bell that is not heard is made up for by the clock. */
  notify: (name: string) => void;
  /** Rings once by itself when it has begun to listen, and whenever the connection was away. */
  subscribe: (name: string, onRing: () => void) => () => void;
  /** The same without ringing by itself: for those whom a lost ring costs nothing but time. */
  subscribeBestEffort: (name: string, onRing: () => void) => () => void;
  close: () => void;
}

export function createNotifier(
  redis: Redis,
  options: { instance: string; onError?: (error: Error) => void },
): Notifier {
  const keys = redisKeys(options.instance);
  const listener = createSubscriber(redis, { onError: options.onError ?? (() => undefined) });
  return {
    notify: (name) => void redis.publish(keys.channel(name), 's').catch(() => undefined),
    subscribe: (name, onRing) => listener.subscribe(keys.channel(name), onRing),
    subscribeBestEffort: (name, onRing) =>
      listener.subscribe(keys.channel(name), ({ kind }) => {
        if (kind !== 'resync') onRing();
      }),
    close: listener.close,
  };
}
