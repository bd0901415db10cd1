import { modelsForName } from './allowed-models.ts';
import { nanosOf } from './call-cost.ts';
import { findPrice, type ModelPrice, offlineModelName, type PriceList } from './model-prices.ts';

interface PricedRun {
  /** Null: the agent's default. */
  model: string | null;
  prices: PriceList;
  day: string;
}

/** The first model of the run whose price is unknown; with one, the run cannot have a budget. */
export function unpricedModel({ model, prices, day }: PricedRun): string | null {
  return modelsForName(model).find((name) => findPrice(name, { prices, day }) === null) ?? null;
}

/** The longest answer of any model that the agent supports. */
const outputTokensMax = 128_000;
const outputTokensMin = 256;
/** The budget pays for at least this many answers of the maximum length. */
const answersPerBudget = 4;

interface BudgetedRun extends PricedRun {
  maxBudgetUsd: number | null;
  /** The offline model may answer instead. */
  mayAnswerOffline: boolean;
}

/**
 * The maximum length of an answer, with which an agent with a budget is configured. A call reserves
 * the price of its longest answer, so with the agent's default a small budget would not permit any
 * call. Null: no limit.
 */
export function answerTokensMax({ maxBudgetUsd, ...run }: BudgetedRun): number | null {
  if (maxBudgetUsd === null) return null;
  const { prices, day } = run;
  const offline = run.mayAnswerOffline ? [offlineModelName] : [];
  const models = [...modelsForName(run.model), ...offline];
  const known = models.map((name) => findPrice(name, { prices, day }));
  const highestRate = Math.max(...known.map(outputRate));
  if (highestRate === 0) return null;
  const affordable = Math.floor(nanosOf(maxBudgetUsd) / answersPerBudget / highestRate);
  return affordable >= outputTokensMax ? null : Math.max(affordable, outputTokensMin);
}

const outputRate = (price: ModelPrice | null): number =>
  price === null ? 0 : Math.max(price.output, price.longPrompt?.output ?? 0);
