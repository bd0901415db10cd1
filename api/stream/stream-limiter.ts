import { limits } from '../../core/limits.ts';
import { createTally } from '../../lib/tally.ts';
import type { StreamSlotRequest, StreamSlots } from '../../systems/redis/stream-slots.ts';
import { ApiError } from '../errors.ts';

export interface StreamLimiter {
  /** Throws STREAM_LIMIT, or returns a function that releases the slot. */
  acquire: (request: StreamSlotRequest) => Promise<() => void>;
  /** Open streams of the key in all processes, as last counted; at least those of this process. */
  openOfKey: (keyId: string) => number;
  close: () => void;
}

/** Counts open streams in Redis for all processes, and locally for when Redis is unreachable. */
export function createStreamLimiter(slots: StreamSlots): StreamLimiter {
  const open = new Set<StreamSlotRequest>();
  const ofKeys = createTally();
  const ofProjects = createTally();
  /** Open streams by the last count of Redis, for the keys that have one in this process. */
  const globalOfKeys = new Map<string, number>();
  const renewal = setInterval(() => void renew(), limits.stream.slotTtlMs / 4);
  renewal.unref();

  async function renew(): Promise<void> {
    for (const [keyId, count] of await slots.renew([...open])) setGlobal(keyId, count);
  }

  function setGlobal(keyId: string, count: number): void {
    if (ofKeys.count(keyId) > 0) globalOfKeys.set(keyId, count);
  }

  function add(request: StreamSlotRequest): void {
    open.add(request);
    ofKeys.add(request.keyId, 1);
    ofProjects.add(request.projectId, 1);
  }

  function remove(request: StreamSlotRequest): void {
    if (!open.delete(request)) return;
    ofKeys.add(request.keyId, -1);
    ofProjects.add(request.projectId, -1);
    if (ofKeys.count(request.keyId) === 0) globalOfKeys.delete(request.keyId);
  }

  return {
    async acquire(request) {
      const { keyId, projectId } = request;
      rejectBeyond(limits.stream.perKey, ofKeys.count(keyId));
      rejectBeyond(limits.stream.perProject, ofProjects.count(projectId));
      add(request);
      const global = await slots.claim(request);
      if (global?.allowed === false) {
        remove(request);
        throw streamLimit(global);
      }
      if (global !== null) setGlobal(keyId, global.openOfKey);
      return () => {
        remove(request);
        void slots.release(request);
      };
    },
    openOfKey: (keyId) => Math.max(ofKeys.count(keyId), globalOfKeys.get(keyId) ?? 0),
    close: () => clearInterval(renewal),
  };
}

function rejectBeyond(limit: number, current: number): void {
  if (current >= limit) throw streamLimit({ limit, current });
}

function streamLimit({ limit, current }: { limit: number; current: number }): ApiError {
  const message = 'Too many open streams for this key or project.';
  return new ApiError('STREAM_LIMIT', message, { limit, current });
}
