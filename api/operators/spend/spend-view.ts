import { z } from 'zod';
import { usdOf } from '../../../core/metering/call-cost.ts';
import type {
  Spend,
  SpendCursor,
  SpendGroup,
  SpendQuery,
} from '../../../systems/postgres/runs/spend-store.ts';
import { invalid } from '../../errors.ts';
import { decodeCursor, encodeCursor } from '../../http/pagination.ts';

export function spendView({ cacheReadTokens, cacheWriteTokens, costNanos, ...spend }: Spend) {
  const isUnknown = spend.calls > 0 && spend.unpricedCalls === spend.calls;
  return {
    ...spend,
    cacheReadInputTokens: cacheReadTokens,
    cacheCreationInputTokens: cacheWriteTokens,
    costUsd: isUnknown ? null : usdOf(costNanos),
  };
}

/** The store has the value of a label as JSON text. */
export function groupView({ group, name, ...spend }: SpendGroup, by: SpendQuery['by']) {
  const shown = by === 'label' && group !== null ? String(JSON.parse(group)) : group;
  return { group: shown, name, ...spendView(spend) };
}

export const encodeSpendCursor = ({ rank, group }: SpendCursor): string =>
  encodeCursor(JSON.stringify([rank, group]));

export function decodeSpendCursor(cursor: string | undefined): SpendCursor | null {
  const decoded = decodeCursor(cursor);
  if (decoded === undefined) return null;
  const parsed = spendCursor.safeParse(decoded);
  if (!parsed.success) throw invalid('query.cursor: invalid cursor');
  const [rank, group] = parsed.data;
  return { rank, group };
}

const spendCursor = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue('must be JSON');
      return z.NEVER;
    }
  })
  .pipe(
    z.tuple([
      z.int(),
      z
        .string()
        .regex(/^[^\0]*$/)
        .nullable(),
    ]),
  );
