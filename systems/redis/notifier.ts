// A bell says that there is something to look at in Postgres. It may be lost, and may ring for
// nothing: who listens looks by a slow clock as well.

import type { Redis } from './connect.ts';
import { redisKeys } from './keys.ts';
import { createWakeListener } from './subscriber.ts';

export interface Bells {
  /** Never throws: a bell that is not heard is made up for by the clock. */
  ring: (name: string) => void;
  /** Rings once by itself when it has begun to listen, and whenever the connection was away. */
  listen: (name: string, onRing: () => void) => () => void;
  /** The same without ringing by itself: for those whom a lost ring costs nothing but time. */
  overhear: (name: string, onRing: () => void) => () => void;
  close: () => void;
}

export function createBells(
  redis: Redis,
  options: { instance: string; onError?: (error: Error) => void },
): Bells {
  const keys = redisKeys(options.instance);
  const listener = createWakeListener(redis, { onError: options.onError ?? (() => undefined) });
  return {
    ring: (name) => void redis.publish(keys.bell(name), 's').catch(() => undefined),
    listen: (name, onRing) => listener.subscribe(keys.bell(name), onRing),
    overhear: (name, onRing) =>
      listener.subscribe(keys.bell(name), ({ kind }) => {
        if (kind !== 'unsure') onRing();
      }),
    close: listener.close,
  };
}
