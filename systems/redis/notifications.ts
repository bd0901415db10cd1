// Notifications by Redis publish/subscribe: each says that Postgres has something to read. It may
// be lost or come without cause, so its receivers also poll slowly.

import type { Redis } from './connect.ts';
import { redisKeys } from './keys.ts';
import { type SubscriberOptions, sharedOrNew } from './subscriber.ts';

export interface Notifications {
  /** Never throws: a lost notification only delays its receiver until the next poll. */
  notify: (name: string, subject?: string) => void;
  /** Also calls when the subscription begins, and after every interruption. */
  subscribe: (name: string, onNotified: () => void) => () => void;
  /** Calls for actual notifications only, when a missed one costs nothing but time. */
  subscribeBestEffort: (name: string, onNotified: (subject: string) => void) => () => void;
  close: () => void;
}

export function createNotifications(
  redis: Redis,
  { instance, ...options }: SubscriberOptions & { instance: string },
): Notifications {
  const keys = redisKeys(instance);
  const subscriber = sharedOrNew(redis, options);
  return {
    notify: (name, subject = '') =>
      void redis.publish(keys.channel(name), `s${subject}`).catch(() => undefined),
    subscribe: (name, onNotified) => subscriber.subscribe(keys.channel(name), onNotified),
    subscribeBestEffort: (name, onNotified) =>
      subscriber.subscribe(keys.channel(name), (notification) => {
        if (notification.kind === 'state') onNotified(notification.subject ?? '');
      }),
    close: subscriber.close,
  };
}
