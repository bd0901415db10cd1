import { limits } from '../../core/limits.ts';
import type { ApiDeps } from '../deps.ts';

interface KeyRevocationWatch {
  /** Calls back when the key is no longer active; returns a function that stops watching. */
  watch: (secret: string, onRevoked: () => void) => () => void;
  close: () => void;
}

/**
 * Polls the keys of open streams, each key once however many streams it has. While a key cannot be
 * looked up, it counts as active.
 */
export function createKeyRevocationWatch({
  keys,
  logger,
}: Pick<ApiDeps, 'keys' | 'logger'>): KeyRevocationWatch {
  const watched = new Map<string, Set<() => void>>();

  async function check(secret: string): Promise<void> {
    const key = await keys.findByKey(secret);
    if (key?.state === 'active') return;
    for (const onRevoked of watched.get(secret) ?? []) onRevoked();
  }

  async function checkAll(): Promise<void> {
    try {
      await Promise.all([...watched.keys()].map(check));
    } catch (err) {
      logger.warn({ err }, 'stream_key_check_failed');
    }
  }

  const timer = setInterval(() => void checkAll(), limits.stream.keyCheckMs);
  timer.unref();
  return {
    watch(secret, onRevoked) {
      const callbacks = watched.get(secret) ?? new Set();
      watched.set(secret, callbacks.add(onRevoked));
      return () => {
        callbacks.delete(onRevoked);
        if (callbacks.size === 0 && watched.get(secret) === callbacks) watched.delete(secret);
      };
    },
    close: () => clearInterval(timer),
  };
}
