import { limits } from '../../core/limits.ts';
import type {
  StreamSlotAnswer,
  StreamSlotRequest,
  StreamSlots,
} from '../../systems/redis/stream-slots.ts';
import { ApiError } from '../errors.ts';

export interface StreamLimiter {
  /** Throws STREAM_LIMIT, or returns a function that releases the slot. */
  acquire: (request: StreamSlotRequest) => Promise<() => void>;
  close: () => void;
}

/** Counts open streams in Redis for all processes, and locally for when Redis is unreachable. */
export function createStreamLimiter(slots: StreamSlots): StreamLimiter {
  const open = new Set<StreamSlotRequest>();
  const renewal = setInterval(() => void slots.renew([...open]), limits.stream.slotTtlMs / 4);
  renewal.unref();

  return {
    async acquire(request) {
      const local = checkLocally(open, request);
      if (!local.allowed) throw streamLimit(local);
      open.add(request);
      const global = await slots.claim(request);
      if (global?.allowed === false) {
        open.delete(request);
        throw streamLimit(global);
      }
      return () => {
        open.delete(request);
        void slots.release(request);
      };
    },
    close: () => clearInterval(renewal),
  };
}

function checkLocally(
  open: Set<StreamSlotRequest>,
  { keyId, projectId }: StreamSlotRequest,
): StreamSlotAnswer {
  const all = [...open];
  const ofKey = all.filter((slot) => slot.keyId === keyId).length;
  if (ofKey >= limits.stream.perKey) return denied(limits.stream.perKey, ofKey);
  const ofProject = all.filter((slot) => slot.projectId === projectId).length;
  if (ofProject >= limits.stream.perProject) return denied(limits.stream.perProject, ofProject);
  return { allowed: true };
}

const denied = (limit: number, current: number): StreamSlotAnswer => ({
  allowed: false,
  limit,
  current,
});

function streamLimit({ limit, current }: { limit: number; current: number }): ApiError {
  const message = 'Too many open streams for this key or project.';
  return new ApiError('STREAM_LIMIT', message, { limit, current });
}
