import { z } from 'zod';
import { missedStartReasons } from '../../../core/flows/missed-starts.ts';

const timestamp = z.string().meta({ format: 'date-time' });

const scheduleStart = z
  .object({
    scheduledAt: timestamp.meta({ description: 'The time at which the run was due.' }),
    decidedAt: timestamp.nullable().meta({ description: 'Null while the start is retried.' }),
    outcome: z.enum(['started', 'waiting', 'missed']).meta({
      description:
        '`waiting`: the start is retried, for example while Postgres is short of disk space.',
    }),
    code: z.enum(missedStartReasons).nullable().meta({
      description:
        'Why a start was missed: the code of the rejection, or `late` if all attempts failed for 10 minutes.',
    }),
    runId: z.uuid().nullable().meta({ description: 'The run that was started.' }),
  })
  .meta({ id: 'ScheduleStart' });

export const scheduleRecord = z
  .object({
    flowId: z.uuid(),
    cron: z.string(),
    timezone: z.string(),
    pausedAt: timestamp.nullable(),
    nextStarts: z.array(timestamp).meta({
      description:
        'The next start times, at most ten. Empty while the schedule is paused, and in the first seconds after it was set.',
    }),
    starts: z.array(scheduleStart).meta({ description: 'Recent starts, latest first.' }),
    skippedStarts: z.int().min(0).meta({
      description:
        'How many starts were missed without an attempt: they were more than 10 minutes late, or the start before them was still waiting. Their times are unknown.',
    }),
  })
  .meta({ id: 'Schedule' });
