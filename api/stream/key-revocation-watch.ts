import { limits } from '../../core/limits.ts';
import type { ApiDeps } from '../deps.ts';

export interface KeyWatch {
  /** Calls back once when the key is no longer good; returns how to stop watching. */
  watch: (secret: string, onDead: () => void) => () => void;
  close: () => void;
}

/**
 * Looks at the keys of open streams, each once in a while however many streams it has. A key that
 * cannot be looked at stays good until it can.
 */
export function createKeyWatch({ keys, logger }: Pick<ApiDeps, 'keys' | 'logger'>): KeyWatch {
  const watched = new Map<string, Set<() => void>>();

  async function check(secret: string): Promise<void> {
    const key = await keys.findByKey(secret);
    if (key?.state === 'active') return;
    for (const onDead of watched.get(secret) ?? []) onDead();
  }

  async function checkAll(): Promise<void> {
    try {
      await Promise.all([...watched.keys()].map(check));
    } catch (err) {
      logger.warn({ err }, 'stream_key_check_failed');
    }
  }

  const timer = setInterval(() => void checkAll(), limits.streamKeyCheckMs);
  timer.unref();
  return {
    watch(secret, onDead) {
      const own = watched.get(secret) ?? new Set();
      watched.set(secret, own.add(onDead));
      return () => {
        own.delete(onDead);
        if (own.size === 0 && watched.get(secret) === own) watched.delete(secret);
      };
    },
    close: () => clearInterval(timer),
  };
}
