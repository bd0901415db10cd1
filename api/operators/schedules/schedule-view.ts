import type { Flow } from '../../../core/flows/flow.ts';
import type { ScheduledStart } from '../../../systems/postgres/maintenance/scheduled-starts.ts';
import type { ScheduleTimes } from '../../../systems/temporal/schedules.ts';
import type { ScheduleRecord } from './schedule-schema.ts';

type StartRecord = ScheduleRecord['starts'][number];

/** A start that Temporal has made is waiting until it is recorded. */
export function scheduleView(
  flow: Flow & { schedule: NonNullable<Flow['schedule']> },
  starts: ScheduledStart[],
  times: ScheduleTimes | null,
): ScheduleRecord {
  const { flowId, schedule, schedulePausedAt: pausedAt } = flow;
  const recorded = new Set(starts.map(({ scheduledAt }) => scheduledAt.getTime()));
  const waiting = (times?.waiting ?? []).filter((at) => !recorded.has(at.getTime()));
  const next = pausedAt === null ? (times?.next ?? []) : [];
  const all = [...waiting.map(waitingView), ...starts.map(startView)];
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

const waitingView = (scheduledAt: Date): StartRecord => ({
  ...{ scheduledAt: scheduledAt.toISOString(), decidedAt: null },
  ...{ outcome: 'waiting', code: null, runId: null },
});

function startView({ scheduledAt, decidedAt, runId, rejectedCode }: ScheduledStart): StartRecord {
  const times = { scheduledAt: scheduledAt.toISOString(), decidedAt: decidedAt.toISOString() };
  if (rejectedCode === null) return { ...times, outcome: 'started', code: null, runId };
  return { ...times, outcome: 'missed', code: rejectedCode, runId: null };
}
