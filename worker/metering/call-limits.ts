// The limits of a run's model calls: the permitted models, a number of calls that ends any loop,
// and the budget. A call reserves its maximum cost before it is sent, so that parallel calls cannot
// exceed the budget together.

import { allowedModels, isAllowedModel } from '../../core/metering/allowed-models.ts';
import { callBound } from '../../core/metering/call-bound.ts';
import { type CallBudget, createCallBudget } from '../../core/metering/call-budget.ts';
import { type CallBound, costBound, nanosOf } from '../../core/metering/call-cost.ts';
import type { RunSpending } from '../../core/metering/ledger-entry.ts';
import type { ModelPrice } from '../../core/metering/model-prices.ts';
import { modelLimits } from '../../core/model/model-limits.ts';
import { furtherModels, type ModelRequest } from '../../core/model/model-request.ts';
import type { UnmeteredCall } from '../egress/model/call-meter.ts';
import type { ModelApiError } from '../egress/model/model-api-error.ts';

export interface LimitedRun {
  model: string | null;
  maxTurns: number | null;
  maxBudgetUsd: number | null;
  /** Further models that the flow allows. */
  allowedModels: readonly string[];
}

/** Limits that end the run when they are reached. */
export type ExceededLimit =
  | 'budget_exceeded'
  | 'monthly_budget_reached'
  | 'monthly_flow_budget_reached'
  | 'monthly_key_budget_reached'
  | 'tree_budget_reached'
  | 'too_many_calls';

export interface CallLimits {
  /** The refusal of a call to a model that the run may not call; null if it may. */
  checkModels(request: ModelRequest): Refusal | null;
  /** The reservation of a call to a permitted model, or the reason why the call is refused. */
  admit(
    call: UnmeteredCall,
    price: ModelPrice | null,
  ): Promise<{ reservedNanos: number } | Refusal>;
  /** The call has ended and its cost is known. */
  settle(reservedNanos: number, costNanos: number): void;
}

export interface Refusal {
  error: ModelApiError;
  /** Null if the run may make other calls. */
  exceeded: ExceededLimit | null;
}

export function createCallLimits(run: LimitedRun, spent: RunSpending): CallLimits {
  const { model, maxTurns, maxBudgetUsd } = run;
  const allowed = allowedModels({ model, listed: run.allowedModels });
  const callsMax = modelLimits.callsMax(maxTurns);
  const budget =
    maxBudgetUsd === null
      ? null
      : createCallBudget({ limit: nanosOf(maxBudgetUsd), spent: spent.costNanos ?? 0 });
  let calls = spent.calls;

  return {
    checkModels(request) {
      const called = [request.model, ...furtherModels(request)];
      const other = called.find((each) => !isAllowedModel(each, allowed));
      return other === undefined ? null : refused(modelNotAllowed(other, allowed));
    },
    async admit(call, price) {
      if (calls >= callsMax) return { error: tooManyCalls(callsMax), exceeded: 'too_many_calls' };
      calls += 1;
      if (budget === null) return { reservedNanos: 0 };
      const bounded = boundOf(call, price);
      if ('status' in bounded) return refused(bounded);
      const reservedNanos = await reserve(budget, call, bounded);
      if (reservedNanos !== null) return { reservedNanos };
      return { error: overBudget(maxBudgetUsd), exceeded: 'budget_exceeded' };
    },
    settle: (reservedNanos, costNanos) => budget?.settle(reservedNanos, costNanos),
  };
}

interface PricedBound {
  bound: CallBound;
  price: ModelPrice;
}

/** The most that a call can use, derived from its length. */
function boundOf(
  { request, bytes }: UnmeteredCall,
  price: ModelPrice | null,
): PricedBound | ModelApiError {
  const { model, maxTokens, fields } = request;
  // The known prices apply to the standard speed, without a choice of the region or another model.
  const isStandard =
    (fields.speed ?? 'standard') === 'standard' &&
    fields.inference_geo == null &&
    furtherModels(request).length === 0;
  if (price === null || !isStandard) return unpriced(model);
  if (maxTokens === null) return noMaxTokens;
  return { price, bound: callBound({ bytes, maxTokens, fields }) };
}

/**
 * Reserves by the length of the call, which is several times the number of its tokens. If the
 * budget is too small for that, the model API counts the tokens. Null if the call does not fit.
 */
async function reserve(
  budget: CallBudget,
  { countTokens }: UnmeteredCall,
  { bound, price }: PricedBound,
): Promise<number | null> {
  const byLength = costBound(bound, price);
  if (budget.reserve(byLength)) return byLength;
  if (!budget.fits(costBound({ ...bound, promptTokens: 0 }, price))) return null;
  const counted = await countTokens();
  if (counted === null) return null;
  const promptTokens = Math.ceil(counted * countMargin);
  const byCount = Math.min(byLength, costBound({ ...bound, promptTokens }, price));
  return budget.reserve(byCount) ? byCount : null;
}

/** The count is only an estimate, according to the model API's documentation. */
const countMargin = 1.05;

const refused = (error: ModelApiError): Refusal => ({ error, exceeded: null });

/** The agent does not repeat a call that was refused with this status. */
const notPermitted = (message: string): ModelApiError => ({
  status: 403,
  type: 'permission_error',
  message,
});

const modelNotAllowed = (model: string, allowed: readonly string[]): ModelApiError =>
  notPermitted(
    `model: ${model.slice(0, 256)} is not a model of this run. Use ${allowed.join(', ')}, or add the model to the flow's allowedModels.`,
  );

const tooManyCalls = (callsMax: number): ModelApiError =>
  notPermitted(`The run has made ${callsMax} model calls, the maximum for its maxTurns.`);

const unpriced = (model: string): ModelApiError =>
  notPermitted(
    `model: the price of this call to ${model} is unknown, and the run has a maxBudgetUsd.`,
  );

const overBudget = (maxBudgetUsd: number | null): ModelApiError => ({
  status: 402,
  type: 'billing_error',
  message: `The call could exceed the run's maxBudgetUsd of ${maxBudgetUsd}.`,
});

const noMaxTokens: ModelApiError = {
  status: 400,
  type: 'invalid_request_error',
  message: 'max_tokens: is required, because the run has a maxBudgetUsd.',
};
