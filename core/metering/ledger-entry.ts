import type { ModelPrice } from './model-prices.ts';
import type { ReachedBudget } from './monthly-budget.ts';
import type { TokenCounts } from './token-counts.ts';

/** One model call, as the ledger stores it. */
export interface LedgerEntry {
  callId: string;
  /** The message whose turn made the call; null in a plain run. */
  messageId: string | null;
  model: string;
  startedAt: Date;
  endedAt: Date;
  /** The HTTP status of the answer; null if none arrived. */
  status: number | null;
  /** The answer ended early. */
  isCutOff: boolean;
  /** The answer did not report the final usage, so the token counts are estimated. */
  isEstimated: boolean;
  tokens: TokenCounts;
  /** The price on the day of the call; null if it is unknown. */
  price: ModelPrice | null;
  /** Null if the price is unknown. */
  costNanos: number | null;
}

/** The model API rejected the call, which costs nothing. */
export const isRejected = ({ status, tokens }: LedgerEntry): boolean =>
  status !== null && status >= 400 && Object.values(tokens).every((count) => count === 0);

/** The totals of all model calls of a run. */
export interface RunSpending {
  calls: number;
  /** Null if the price of a call is unknown, and before the first call. */
  costNanos: number | null;
}

/** The totals of a run after calls were added to the ledger. */
export interface RecordedSpending extends RunSpending {
  reachedBudget: ReachedBudget;
}
