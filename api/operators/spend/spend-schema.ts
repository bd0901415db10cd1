import { z } from 'zod';
import { dayOf } from '../../../core/agent/usage.ts';
import type { SpendQuery } from '../../../systems/postgres/runs/spend-store.ts';
import { labelKey } from '../../schemas/labels.ts';
import { pageQuery } from '../../schemas/page-query.ts';
import { spendCursor } from './spend-view.ts';

const groupings = ['day', 'flow', 'key', 'label', 'model'] as const;

/** A date that Postgres can store. */
const day = () =>
  z.iso
    .date({ error: 'must be a day like 2026-01-31' })
    .refine((value) => !value.startsWith('0000'), { error: 'must be a day like 2026-01-31' });

export const spendQuery = z
  .strictObject({
    ...pageQuery,
    cursor: spendCursor,
    by: z.enum(groupings).default('day'),
    label: z
      .string()
      .regex(labelKey, { error: 'must be the name of a label' })
      .optional()
      .meta({ description: 'With `by=label`: the name of the label.' }),
    from: day().optional().meta({
      description: 'The first day in UTC. Default: the first day of the month of `to`.',
    }),
    to: day().optional().meta({ description: 'The last day in UTC. Default: today.' }),
    format: z.enum(['json', 'csv']).optional().meta({
      description: 'Default: `json`, or `csv` if `Accept` names only `text/csv`.',
    }),
  })
  .refine(({ by, label }) => (by === 'label') === (label !== undefined), {
    path: ['label'],
    error: 'is required with by=label, and permitted only with it',
  });

export type SpendRequest = z.output<typeof spendQuery>;

type Selection = Pick<SpendQuery, 'by' | 'label' | 'from' | 'to'>;

/** The query with its defaults; null if the range ends before it begins. */
export function selectionOf({ by, label, from, to }: SpendRequest, now: Date): Selection | null {
  const last = to ?? dayOf(now);
  const first = from ?? `${last.slice(0, 'YYYY-MM'.length)}-01`;
  return first > last ? null : { by, from: first, to: last, ...(label && { label }) };
}

const count = z.int().min(0);

const spend = {
  calls: count.meta({ description: 'The number of model calls.' }),
  unpricedCalls: count.meta({
    description: 'Calls whose price is unknown. `costUsd` does not include them.',
  }),
  inputTokens: count,
  outputTokens: count,
  cacheReadInputTokens: count,
  cacheCreationInputTokens: count,
  costUsd: z.number().nullable().meta({
    description: 'In dollars. Null: no call has a known price.',
  }),
};

export const spendReport = z
  .object({
    by: z.enum(groupings),
    label: z.string().optional(),
    from: z.string(),
    to: z.string(),
    total: z.object(spend).meta({ description: 'The sums over all pages.' }),
    groups: z.array(
      z.object({
        group: z.string().nullable().meta({
          description:
            'The day, the ID of the flow or key, the value of the label, or the model. Null: the calls of runs without a key, or without the label.',
        }),
        name: z.string().nullable().meta({ description: 'The name of the flow or key.' }),
        ...spend,
      }),
    ),
  })
  .meta({ id: 'SpendReport' });
