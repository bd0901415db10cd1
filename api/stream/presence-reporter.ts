import { limits } from '../../core/limits.ts';
import type { Run } from '../../core/runs/run.ts';
import type { Presence } from '../../systems/redis/presence.ts';

export interface Attendance {
  /** Somebody holds the stream of this run; call what it returns when nobody does any more. */
  begin: (run: Run) => () => void;
  close: () => void;
}

/** Says of the sessions whose streams this process holds open that somebody is there. */
export function createAttendance(
  presence: Pick<Presence, 'attend'>,
  everyMs: number = limits.presenceEveryMs,
): Attendance {
  const readers = new Map<string, number>();
  const say = (runIds: string[]) => void presence.attend(runIds);
  const timer = setInterval(() => say([...readers.keys()]), everyMs);
  timer.unref();

  return {
    begin({ runId, sessionId }) {
      if (sessionId === null) return () => undefined;
      readers.set(runId, (readers.get(runId) ?? 0) + 1);
      say([runId]);
      return () => {
        const left = (readers.get(runId) ?? 1) - 1;
        if (left > 0) readers.set(runId, left);
        else readers.delete(runId);
        say([runId]);
      };
    },
    close: () => clearInterval(timer),
  };
}
