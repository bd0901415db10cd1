import { limits } from '../../core/limits.ts';
import type { ApiDeps } from '../deps.ts';

interface RevocationWatch {
  /** Calls back when the credential is no longer active; returns a function that stops watching. */
  watch: (id: string, onRevoked: () => void) => () => void;
  close: () => void;
}

interface Credentials extends Pick<ApiDeps, 'logger'> {
  /** Returns the credentials that are still active. */
  activeOf: (ids: string[]) => Promise<string[]>;
}

/**
 * Polls the credentials of all open streams together. While the credentials cannot be looked up,
 * they count as active.
 */
export function createRevocationWatch({ activeOf, logger }: Credentials): RevocationWatch {
  const watched = new Map<string, Set<() => void>>();

  async function checkAll(): Promise<void> {
    const ids = [...watched.keys()];
    if (ids.length === 0) return;
    try {
      const active = new Set(await activeOf(ids));
      const revoked = ids.filter((id) => !active.has(id));
      for (const onRevoked of revoked.flatMap((id) => [...(watched.get(id) ?? [])])) {
        onRevoked();
      }
    } catch (err) {
      logger.warn({ err }, 'stream_key_check_failed');
    }
  }

  const timer = setInterval(() => void checkAll(), limits.stream.keyCheckMs);
  timer.unref();
  return {
    watch(id, onRevoked) {
      const callbacks = watched.get(id) ?? new Set();
      watched.set(id, callbacks.add(onRevoked));
      return () => {
        callbacks.delete(onRevoked);
        if (callbacks.size === 0 && watched.get(id) === callbacks) watched.delete(id);
      };
    },
    close: () => clearInterval(timer),
  };
}
