import { limits } from '../../core/limits.ts';
import type { SeatAnswer, SeatRequest, StreamSeats } from '../../systems/redis/stream-slots.ts';
import { ApiError } from '../errors.ts';

export interface Seating {
  /** Throws STREAM_LIMIT; otherwise call what it returns when the stream is over. */
  take: (request: SeatRequest) => Promise<() => void>;
  close: () => void;
}

/** Counts open streams: in Redis for all processes, and here for when Redis is away. */
export function createSeating(seats: StreamSeats): Seating {
  const open = new Set<SeatRequest>();
  const renewal = setInterval(() => void seats.renew([...open]), limits.streamSeatMs / 4);
  renewal.unref();

  return {
    async take(request) {
      const here = countHere(open, request);
      if (!here.allowed) throw streamLimit(here);
      open.add(request);
      const everywhere = await seats.take(request);
      if (everywhere?.allowed === false) {
        open.delete(request);
        throw streamLimit(everywhere);
      }
      return () => {
        open.delete(request);
        void seats.giveBack(request);
      };
    },
    close: () => clearInterval(renewal),
  };
}

function countHere(open: Set<SeatRequest>, { keyId, projectId }: SeatRequest): SeatAnswer {
  const all = [...open];
  const ofKey = all.filter((seat) => seat.keyId === keyId).length;
  if (ofKey >= limits.streamsPerKey) return refused(limits.streamsPerKey, ofKey);
  const ofProject = all.filter((seat) => seat.projectId === projectId).length;
  if (ofProject >= limits.streamsPerProject) return refused(limits.streamsPerProject, ofProject);
  return { allowed: true };
}

const refused = (limit: number, current: number): SeatAnswer => ({
  allowed: false,
  limit,
  current,
});

function streamLimit({ limit, current }: { limit: number; current: number }): ApiError {
  const message = 'Too many open streams with this key, or in this project.';
  return new ApiError('STREAM_LIMIT', message, { limit, current });
}
