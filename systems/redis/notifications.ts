// Notifications by Redis publish/subscribe: each says that Postgres has something to read. It may
// be lost or come without cause, so its receivers also poll slowly.

import type { Redis } from './connect.ts';
import { redisKeys } from './keys.ts';
import { type SubscriberOptions, sharedOrNew } from './subscriber.ts';

export interface Notifications {
  /** Never throws: a lost notification only delays its receiver until the next poll. */
  notify: (name: string) => void;
  /** Also calls when the subscription begins, and after every interruption. */
  subscribe: (name: string, onNotified: () => void) => () => void;
  /** Calls for actual notifications only, when a missed one costs nothing but time. */
  subscribeBestEffort: (name: string, onNotified: () => void) => () => void;
  close: () => void;
}

export function createNotifications(
  redis: Redis,
  { instance, ...options }: SubscriberOptions & { instance: string },
): Notifications {
  const keys = redisKeys(instance);
  const subscriber = sharedOrNew(redis, options);
  return {
    notify: (name) => void redis.publish(keys.channel(name), 's').catch(() => undefined),
    subscribe: (name, onNotified) => subscriber.subscribe(keys.channel(name), onNotified),
    subscribeBestEffort: (name, onNotified) =>
      subscriber.subscribe(keys.channel(name), ({ kind }) => {
        if (kind !== 'resync') onNotified();
      }),
    close: subscriber.close,
  };
}
