// If the process crashes, or a proxy drops all streams, the readers of a key have only the times
// that they were sent before. So each of them gets another time as soon as the key has notably more
// streams: the times of a few readers would bring many back at once.

import {
  delayAtClose,
  delayWhileOpen,
  evenShare,
  reconnectStepMs,
} from '../../core/reconnect-delay.ts';
import type { KeyRecord } from '../../systems/postgres/accounts/key-row.ts';
import type { StreamSlots } from '../../systems/redis/stream-slots.ts';
import type { StreamLimiter } from './stream-limiter.ts';

/** The values that determine the reconnect times of a key's readers. */
export type ReaderKey = Pick<KeyRecord, 'keyId' | 'rateLimitRpm'>;

interface OpenReader {
  /**
   * Returns a new time in milliseconds at its first call, and when the number of the key's streams
   * has changed notably since the last one; otherwise null.
   */
  nextRetryMs: () => number | null;
  /** Call when the reader's stream is closed. */
  release: () => void;
}

/** When readers reconnect after their stream has ended without `finished`. */
export interface ReconnectTimes {
  /** `onOutdated` is called when another reader of this process has outdated the last time. */
  whileOpen: (key: ReaderKey, onOutdated: () => void) => OpenReader;
  /** A time for each of a key's readers whose streams are closed now, by their index. */
  atClose: (key: ReaderKey, readers: number) => Promise<(index: number) => number>;
}

export function createReconnectTimes(
  limiter: Pick<StreamLimiter, 'openOfKey'>,
  slots: Pick<StreamSlots, 'reserveReconnects'>,
): ReconnectTimes {
  /** Other processes have other offsets, so that their readers do not return together. */
  const offset = Math.random();
  /** For each key, what to call for each of its readers, by the reader's number. */
  const checks = new Map<string, Map<number, () => void>>();

  return {
    whileOpen({ keyId, rateLimitRpm: perMinute }, onOutdated) {
      const ofKey = checks.get(keyId) ?? new Map<number, () => void>();
      checks.set(keyId, ofKey);
      const number = firstFree(ofKey);
      const share = evenShare(number, offset);
      let known = 0;
      const isOutdated = () => isNotable({ known, readers: limiter.openOfKey(keyId) });
      for (const check of ofKey.values()) check();
      ofKey.set(number, () => {
        if (isOutdated()) onOutdated();
      });
      return {
        nextRetryMs() {
          if (!isOutdated()) return null;
          known = limiter.openOfKey(keyId);
          return delayWhileOpen({ perMinute, readers: known, share });
        },
        release() {
          ofKey.delete(number);
          if (ofKey.size === 0) checks.delete(keyId);
        },
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

/** Numbers are used again, so that the readers of a key have the lowest ones. */
function firstFree(taken: ReadonlyMap<number, unknown>): number {
  let number = 0;
  while (taken.has(number)) number += 1;
  return number;
}

/** More than a quarter more, or less than half. */
const isNotable = ({ known, readers }: { known: number; readers: number }): boolean =>
  readers > known * 1.25 || readers < known / 2;
