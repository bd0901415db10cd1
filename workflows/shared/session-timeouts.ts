import { limits } from '../../core/limits.ts';
import { type RunTimeouts, runTimeouts } from './run-timeouts.ts';

/** Timeouts and limits of a session's workflow, part of its input like those of a run. */
export interface SessionTimeouts extends RunTimeouts {
  /** Until an idle session without a stream reader is put to sleep. */
  idleMs: number;
  /** Until an idle session is put to sleep although its stream has a reader. */
  attendedIdleMs: number;
  /** A session that is asleep for this long ends. */
  inactivityMs: number;
  maxConsecutiveLosses: number;
  turnsPerHistory: number;
}

export const sessionTimeouts: SessionTimeouts = {
  ...runTimeouts,
  idleMs: limits.session.idleMs,
  attendedIdleMs: limits.session.attendedIdleMs,
  inactivityMs: limits.session.inactivityMs,
  maxConsecutiveLosses: limits.session.crashesMax,
  turnsPerHistory: limits.session.turnsPerHistory,
};
