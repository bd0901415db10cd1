import type { Redis } from './connect.ts';
import { readEntries, type StreamEntry } from './frame-entry.ts';

/** `resync`: messages may have been missed, because the subscription is new or was interrupted. */
export type Notification =
  /** `entries`: everything published with it; empty if that was too long. */
  | { kind: 'frames'; lastSeq: number; entries: StreamEntry[] }
  /** `subject`: what it is about, unless the channel says everything. */
  | { kind: 'state'; subject?: string }
  | { kind: 'filetree' }
  | { kind: 'resync' };

export type OnNotification = (notification: Notification) => void;

interface Subscriber {
  subscribe: (channel: string, onNotification: OnNotification) => () => void;
  close: () => void;
}

export interface SubscriberOptions {
  /** One that is shared, which its creator closes; undefined: a new one. */
  subscriber?: Subscriber;
  onError?: (error: Error) => void;
}

/** `close` closes the subscriber unless it is shared. */
export function sharedOrNew(redis: Redis, options: SubscriberOptions): Subscriber {
  const { subscriber, onError = () => undefined } = options;
  if (subscriber === undefined) return createSubscriber(redis, { onError });
  return { subscribe: subscriber.subscribe, close: () => undefined };
}

/**
 * All channels of a process on one connection, which is opened for the first of them. Whenever the
 * connection becomes ready, it subscribes to every channel again and sends `resync` to each
 * listener.
 */
export function createSubscriber(
  redis: Redis,
  { onError }: { onError: (error: Error) => void },
): Subscriber {
  const listeners = new Map<string, Set<OnNotification>>();
  let connection: Redis | undefined;

  function deliver(channel: string, notification: Notification): void {
    for (const onNotification of listeners.get(channel) ?? []) onNotification(notification);
  }

  /** Fails while the connection is down; the next `ready` subscribes again. */
  function listen(channels: string[]): void {
    if (connection === undefined || channels.length === 0) return;
    connection.subscribe(...channels).then(
      () => channels.forEach((channel) => deliver(channel, { kind: 'resync' })),
      () => undefined,
    );
  }

  function connect(): Redis {
    const subscriber = redis.duplicate();
    subscriber.on('error', onError);
    subscriber.on('ready', () => listen([...listeners.keys()]));
    subscriber.on('message', (channel: string, message: string) =>
      deliver(channel, parseNotification(message)),
    );
    return subscriber;
  }

  return {
    subscribe(channel, onNotification) {
      connection ??= connect();
      const known = listeners.get(channel);
      const ofChannel = known ?? new Set();
      listeners.set(channel, ofChannel.add(onNotification));
      if (known === undefined) listen([channel]);
      return () => {
        ofChannel.delete(onNotification);
        if (ofChannel.size > 0 || listeners.get(channel) !== ofChannel) return;
        listeners.delete(channel);
        connection?.unsubscribe(channel).catch(() => undefined);
      };
    },
    close() {
      listeners.clear();
      connection?.disconnect();
    },
  };
}

function parseNotification(message: string): Notification {
  if (message.startsWith('f')) {
    return { kind: 'frames', lastSeq: Number(message.slice(1)), entries: [] };
  }
  if (message.startsWith('e')) {
    const end = message.indexOf(' ');
    const lastSeq = Number(message.slice(1, end));
    return { kind: 'frames', lastSeq, entries: readEntries(message.slice(end)) };
  }
  if (message === 't') return { kind: 'filetree' };
  const subject = message.slice(1);
  return subject === '' ? { kind: 'state' } : { kind: 'state', subject };
}
