import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import type { Presence } from '../../systems/redis/presence.ts';

export interface PresenceReporter {
  /** Counts a reader of the run's stream; call the returned function when the reader has left. */
  join: (run: Run) => () => void;
  close: () => void;
}

/** Reports the sessions whose streams are open in this process. */
export function createPresenceReporter(
  presence: Pick<Presence, 'touch'>,
  everyMs: number = limits.presence.everyMs,
): PresenceReporter {
  const readers = new Map<string, number>();
  const report = (runIds: string[]) => void presence.touch(runIds);
  const timer = setInterval(() => report([...readers.keys()]), everyMs);
  timer.unref();

  return {
    join({ runId, sessionId }) {
      if (sessionId === null) return () => undefined;
      readers.set(runId, (readers.get(runId) ?? 0) + 1);
      report([runId]);
      return () => {
        const left = (readers.get(runId) ?? 1) - 1;
        if (left > 0) readers.set(runId, left);
        else readers.delete(runId);
        report([runId]);
      };
    },
    close: () => clearInterval(timer),
  };
}
