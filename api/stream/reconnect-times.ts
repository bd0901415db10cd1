import { delayAtClose, delayWhileOpen, reconnectStepMs } from '../../core/reconnect-delay.ts';
import type { KeyRecord } from '../../systems/postgres/accounts/key-store.ts';
import type { StreamSlots } from '../../systems/redis/stream-slots.ts';
import type { StreamLimiter } from './stream-limiter.ts';

/** The values that determine the reconnect times of a key's readers. */
export type ReaderKey = Pick<KeyRecord, 'keyId' | 'rateLimitRpm'>;

/** When readers reconnect after their stream has ended without `finished`. */
export interface ReconnectTimes {
  /**
   * A function for one reader. It returns a new time in milliseconds at its first call, and when
   * the number of the key's streams has changed notably since the last one; otherwise null.
   */
  whileOpen: (key: ReaderKey) => () => number | null;
  /** A time for each of a key's readers whose streams are closed now, by their index. */
  atClose: (key: ReaderKey, readers: number) => Promise<(index: number) => number>;
}

export function createReconnectTimes(
  limiter: Pick<StreamLimiter, 'openOfKey'>,
  slots: Pick<StreamSlots, 'reserveReconnects'>,
): ReconnectTimes {
  return {
    // If the process crashes, or a proxy drops all streams, the readers have only these times.
    whileOpen({ keyId, rateLimitRpm: perMinute }) {
      let known = 0;
      return () => {
        const readers = limiter.openOfKey(keyId);
        if (!isNotable({ known, readers })) return null;
        known = readers;
        return delayWhileOpen({ perMinute, readers, random: Math.random() });
      };
    },
    // Each reader has a time span to itself, over all processes that close streams of the key.
    async atClose({ keyId, rateLimitRpm: perMinute }, readers) {
      const stepMs = reconnectStepMs(perMinute);
      const beginMs = await slots.reserveReconnects(keyId, readers * stepMs);
      return (index) => {
        const afterMs = beginMs + index * stepMs;
        return delayAtClose({ perMinute, afterMs, random: Math.random() });
      };
    },
  };
}

/** More than a quarter more, or less than half. */
const isNotable = ({ known, readers }: { known: number; readers: number }): boolean =>
  readers > known * 1.25 || readers < known / 2;
