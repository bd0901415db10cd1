import { limits } from '../../core/limits.ts';
import type { ApiDeps } from '../deps.ts';

interface KeyRevocationWatch {
  /** Calls back when the key is no longer active; returns a function that stops watching. */
  watch: (keyId: string, onRevoked: () => void) => () => void;
  close: () => void;
}

/**
 * Polls the keys of open streams by one query for all of them. While keys cannot be looked up, they
 * count as active.
 */
export function createKeyRevocationWatch({
  keys,
  logger,
}: Pick<ApiDeps, 'keys' | 'logger'>): KeyRevocationWatch {
  const watched = new Map<string, Set<() => void>>();

  async function checkAll(): Promise<void> {
    const keyIds = [...watched.keys()];
    if (keyIds.length === 0) return;
    try {
      const active = new Set(await keys.activeOf(keyIds));
      const revoked = keyIds.filter((keyId) => !active.has(keyId));
      for (const onRevoked of revoked.flatMap((keyId) => [...(watched.get(keyId) ?? [])])) {
        onRevoked();
      }
    } catch (err) {
      logger.warn({ err }, 'stream_key_check_failed');
    }
  }

  const timer = setInterval(() => void checkAll(), limits.stream.keyCheckMs);
  timer.unref();
  return {
    watch(keyId, onRevoked) {
      const callbacks = watched.get(keyId) ?? new Set();
      watched.set(keyId, callbacks.add(onRevoked));
      return () => {
        callbacks.delete(onRevoked);
        if (callbacks.size === 0 && watched.get(keyId) === callbacks) watched.delete(keyId);
      };
    },
    close: () => clearInterval(timer),
  };
}
