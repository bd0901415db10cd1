import { z } from 'zod';
import { usdOf } from '../../../core/metering/call-cost.ts';
import type {
  Spend,
  SpendCursor,
  SpendGroup,
  SpendQuery,
} from '../../../systems/postgres/runs/spend-store.ts';

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

/** The group of the calls without a key, or without the label, has no name. */
export const encodeSpendCursor = ({ rank, group }: SpendCursor): string =>
  group === null ? `${rank}` : `${rank}_${group}`;

const cursorForm = /^(-?\d{1,16})(?:_([^\u0000]*))?$/;

export const spendCursor = z
  .string()
  .max(2_000)
  .regex(cursorForm, { error: 'invalid cursor' })
  .optional()
  .meta({ description: 'From the `Link` header of the previous page.' });

/** A cursor that `spendCursor` has accepted. */
export function decodeSpendCursor(cursor: string | undefined): SpendCursor | null {
  const [, rank, group = null] = cursorForm.exec(cursor ?? '') ?? [];
  return rank === undefined ? null : { rank: Number(rank), group };
}
