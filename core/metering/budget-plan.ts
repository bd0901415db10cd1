import { modelsNamed } from './allowed-models.ts';
import { nanosOf } from './call-cost.ts';
import { findPrice, type ModelPrice, type PriceList } from './model-prices.ts';

interface PricedRun {
  /** Null: the agent's default. */
  model: string | null;
  prices: PriceList;
  day: string;
}

/** The first model of a run whose price is unknown, so that the run can have no budget. */
export function unpricedModel({ model, prices, day }: PricedRun): string | null {
  return modelsNamed(model).find((name) => findPrice(name, { prices, day }) === null) ?? null;
}

/** Of every model that the agent knows. */
const outputTokensMax = 128_000;
const outputTokensMin = 256;
/** Of the budget, for one answer. */
const share = 4;

/**
 * The longest answer that an agent with a budget should request. A call reserves the price of its longest
 * answer, so that an agent with a small budget and long answers could make no call. Null: no limit.
 */
export function answerTokensMax({
  maxBudgetUsd,
  ...run
}: PricedRun & { maxBudgetUsd: number | null }): number | null {
  if (maxBudgetUsd === null) return null;
  const { prices, day } = run;
  const known = modelsNamed(run.model).map((name) => findPrice(name, { prices, day }));
  const dearest = Math.max(...known.map(outputRate));
  if (dearest === 0) return null;
  const affordable = Math.floor(nanosOf(maxBudgetUsd) / share / dearest);
  return affordable >= outputTokensMax ? null : Math.max(affordable, outputTokensMin);
}

const outputRate = (price: ModelPrice | null): number =>
  price === null ? 0 : Math.max(price.output, price.longPrompt?.output ?? 0);
