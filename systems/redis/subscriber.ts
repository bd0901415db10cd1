import type { Redis } from './connect.ts';
import { readEntries, type StreamEntry } from './frame-entry.ts';

/**
 * Why somebody is woken up. `resync`: the connection was away, or has only now begun to listen, so
 * anything may have happened.
 */
export type Notification =
  /** `entries`: all that was published with it, or none where that is long. */
  | { kind: 'frames'; lastSeq: number; entries: StreamEntry[] }
  | { kind: 'state' }
  | { kind: 'filetree' }
  | { kind: 'resync' };

export interface Subscriber {
  subscribe: (channel: string, onWake: (wake: Notification) => void) => () => void;
  close: () => void;
}

/**
 * All channels of a process on one connection, opened with the first of them. Whenever it is ready
 * it subscribes anew to all that somebody listens to, and says `resync` to each.
 */
export function createSubscriber(
  redis: Redis,
  { onError }: { onError: (error: Error) => void },
): Subscriber {
  const listeners = new Map<string, Set<(wake: Notification) => void>>();
  let connection: Redis | undefined;

  function deliver(channel: string, wake: Notification): void {
    for (const onWake of listeners.get(channel) ?? []) onWake(wake);
  }

  /** Refused while the connection is away: the next `ready` makes up for it. */
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
    subscribe(channel, onWake) {
      connection ??= connect();
      const known = listeners.get(channel);
      const own = known ?? new Set();
      listeners.set(channel, own.add(onWake));
      if (known === undefined) listen([channel]);
      return () => {
        own.delete(onWake);
        if (own.size > 0 || listeners.get(channel) !== own) return;
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
  return { kind: 'state' };
}
