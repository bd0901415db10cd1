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
  /** Open streams of the key in all processes, as last counted; at least those of this process. */
  openOfKey: (keyId: string) => number;
  close: () => void;
}

/** Counts open streams in Redis for all processes, and locally for when Redis is unreachable. */
export function createStreamLimiter(slots: StreamSlots): StreamLimiter {
  const open = new Set<StreamSlotRequest>();
  const counts = createKeyCounts();
  const renewal = setInterval(() => void renew(), limits.stream.slotTtlMs / 4);
  renewal.unref();

  async function renew(): Promise<void> {
    counts.setGlobal(await slots.renew([...open]));
  }

  function remove(request: StreamSlotRequest): void {
    if (open.delete(request)) counts.removeLocal(request.keyId);
  }

  return {
    async acquire(request) {
      const local = checkLocally(open, request);
      if (!local.allowed) throw streamLimit(local);
      open.add(request);
      counts.addLocal(request.keyId);
      const global = await slots.claim(request);
      if (global?.allowed === false) {
        remove(request);
        throw streamLimit(global);
      }
      if (global !== null) counts.setGlobal(new Map([[request.keyId, global.openOfKey]]));
      return () => {
        remove(request);
        void slots.release(request);
      };
    },
    openOfKey: counts.of,
    close: () => clearInterval(renewal),
  };
}

/** Open streams by key, for the keys that have one in this process. */
function createKeyCounts() {
  const counts = new Map<string, { local: number; global: number }>();
  return {
    addLocal(keyId: string): void {
      const { local, global } = counts.get(keyId) ?? { local: 0, global: 0 };
      counts.set(keyId, { local: local + 1, global });
    },
    removeLocal(keyId: string): void {
      const { local, global } = counts.get(keyId) ?? { local: 0, global: 0 };
      if (local > 1) counts.set(keyId, { local: local - 1, global });
      else counts.delete(keyId);
    },
    setGlobal(found: Map<string, number>): void {
      for (const [keyId, global] of found) {
        const known = counts.get(keyId);
        if (known !== undefined) known.global = global;
      }
    },
    of(keyId: string): number {
      const { local, global } = counts.get(keyId) ?? { local: 0, global: 0 };
      return Math.max(local, global);
    },
  };
}

function checkLocally(
  open: Set<StreamSlotRequest>,
  { keyId, projectId }: StreamSlotRequest,
): { allowed: true } | Denied {
  const all = [...open];
  const ofKey = all.filter((slot) => slot.keyId === keyId).length;
  if (ofKey >= limits.stream.perKey) return denied(limits.stream.perKey, ofKey);
  const ofProject = all.filter((slot) => slot.projectId === projectId).length;
  if (ofProject >= limits.stream.perProject) return denied(limits.stream.perProject, ofProject);
  return { allowed: true };
}

type Denied = Extract<StreamSlotAnswer, { allowed: false }>;

const denied = (limit: number, current: number): Denied => ({ allowed: false, limit, current });

function streamLimit({ limit, current }: { limit: number; current: number }): ApiError {
  const message = 'Too many open streams for this key or project.';
  return new ApiError('STREAM_LIMIT', message, { limit, current });
}
