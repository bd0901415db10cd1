import { dayOf } from '../../core/agent/usage.ts';
import type { Flow } from '../../core/flows/flow.ts';
import { unpricedModel } from '../../core/metering/budget-plan.ts';
import type { ApiDeps } from '../deps.ts';
import { invalid } from '../errors.ts';

interface Budget {
  /** Null: the agent's default. */
  model: string | null;
  maxBudgetUsd: number | null;
  /** The path of the budget in the request. */
  field: string;
}

type BudgetDeps = Pick<ApiDeps, 'modelPrices' | 'now'>;

/** A budget can be enforced only if the prices of the model calls are known. */
export function checkBudget(
  { modelPrices: prices, now }: BudgetDeps,
  { model, maxBudgetUsd, field }: Budget,
): void {
  if (maxBudgetUsd === null) return;
  const unpriced = unpricedModel({ model, prices, day: dayOf(now()) });
  if (unpriced === null) return;
  throw invalid(
    `${field}: cannot be enforced, because the price of the model ${unpriced} is unknown. ` +
      'Choose another model, or ask the operator to set its price in MODEL_PRICES.',
  );
}

export function checkFlowBudget(
  deps: BudgetDeps,
  { model = null, limits: { maxBudgetUsd } }: { model?: string | null; limits: Flow['limits'] },
): void {
  checkBudget(deps, { model, maxBudgetUsd, field: 'body.limits.maxBudgetUsd' });
}
