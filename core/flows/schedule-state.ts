import type { Flow } from './flow.ts';
import type { MissedStartReason } from './missed-starts.ts';
import type { Schedule } from './schedule.ts';

/** One time at which a schedule has started a run, or has tried to. */
export interface ScheduledStart {
  /** The time at which the run was due. */
  scheduledAt: Date;
  decidedAt: Date;
  /** The ID of the run, also if it was rejected. */
  runId: string;
  /** Why no run was admitted; null: it was admitted. */
  rejectedCode: MissedStartReason | null;
}

/** The state of a schedule in Temporal. */
export interface ScheduleTimes {
  /** The next starts, also while the schedule is paused. */
  next: Date[];
  /** Starts that Temporal has made and whose runs are not decided yet. */
  waiting: Date[];
  /** How many starts Temporal has skipped. */
  skippedStarts: number;
}

export type ScheduledFlow = Flow & { schedule: Schedule };

interface StartState {
  scheduledAt: string;
  /** Null while the start is retried. */
  decidedAt: string | null;
  outcome: 'started' | 'waiting' | 'missed';
  /** Why it was missed. */
  code: MissedStartReason | null;
  /** The run that was started. */
  runId: string | null;
}

/** A schedule for people and clients. */
interface ScheduleState extends Schedule {
  flowId: string;
  pausedAt: string | null;
  nextStarts: string[];
  /** Latest first. */
  starts: StartState[];
  skippedStarts: number;
}

/**
 * A start that Temporal has made is waiting until it is recorded. `times` is null if Temporal does
 * not have the schedule.
 */
export function scheduleState(
  flow: ScheduledFlow,
  starts: ScheduledStart[],
  times: ScheduleTimes | null,
): ScheduleState {
  const { flowId, schedule, schedulePausedAt: pausedAt } = flow;
  const recorded = new Set(starts.map(({ scheduledAt }) => scheduledAt.getTime()));
  const waiting = (times?.waiting ?? []).filter((at) => !recorded.has(at.getTime()));
  const next = pausedAt === null ? (times?.next ?? []) : [];
  const all = [...waiting.map(waitingState), ...starts.map(startState)];
  return {
    flowId,
    cron: schedule.cron,
    timezone: schedule.timezone,
    pausedAt: pausedAt?.toISOString() ?? null,
    nextStarts: next.map((at) => at.toISOString()),
    starts: all.sort((one, other) => other.scheduledAt.localeCompare(one.scheduledAt)),
    skippedStarts: times?.skippedStarts ?? 0,
  };
}

const waitingState = (scheduledAt: Date): StartState => ({
  ...{ scheduledAt: scheduledAt.toISOString(), decidedAt: null },
  ...{ outcome: 'waiting', code: null, runId: null },
});

function startState({ scheduledAt, decidedAt, runId, rejectedCode }: ScheduledStart): StartState {
  const times = { scheduledAt: scheduledAt.toISOString(), decidedAt: decidedAt.toISOString() };
  if (rejectedCode === null) return { ...times, outcome: 'started', code: null, runId };
  return { ...times, outcome: 'missed', code: rejectedCode, runId: null };
}
