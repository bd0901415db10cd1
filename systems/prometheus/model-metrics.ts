import { Counter, Histogram, type Registry } from 'prom-client';
import { usdOf } from '../../core/metering/call-cost.ts';
import type { LedgerEntry } from '../../core/metering/ledger-entry.ts';
import { type ModelErrorType, modelErrorTypes } from '../../core/model/model-error-type.ts';
import { createLabeledCounter } from './labeled-counter.ts';
import { runSeconds } from './process-metrics.ts';

/** Model calls, counted by the host whose gateway made them. */
export function createModelMetrics(registry: Registry) {
  const registers = [registry];
  const durations = new Histogram({
    name: 'flowrun_model_call_seconds',
    help: 'Duration of model calls. cut_off: the answer ended early; failed: the model API did not answer.',
    labelNames: ['model', 'outcome'],
    buckets: [0.5, 1, 2, ...runSeconds.filter((seconds) => seconds <= 600)],
    registers,
  });
  const tokens = new Counter({
    name: 'flowrun_model_tokens_total',
    help: 'Tokens used by model calls, by kind.',
    labelNames: ['model', 'kind'],
    registers,
  });
  const dollars = new Counter({
    name: 'flowrun_model_cost_dollars_total',
    help: 'Cost of model calls, without models whose price is unknown.',
    labelNames: ['model'],
    registers,
  });
  const refused = createLabeledCounter(registry, {
    name: 'flowrun_model_calls_refused_total',
    help: 'Model calls that the gateway did not forward, by type of the error.',
    label: 'reason',
    values: modelErrorTypes,
  });
  return {
    modelCallRefused: (reason: ModelErrorType): void => refused.inc({ reason }),
    modelCall(call: LedgerEntry, model: string): void {
      const tookMs = call.endedAt.getTime() - call.startedAt.getTime();
      durations.observe({ model, outcome: outcomeOf(call) }, tookMs / 1_000);
      const { webSearches: _, ...used } = call.tokens;
      for (const [kind, count] of Object.entries(used)) tokens.inc({ model, kind }, count);
      if (call.costNanos !== null) dollars.inc({ model }, usdOf(call.costNanos));
    },
  };
}

function outcomeOf({ status, isCutOff }: LedgerEntry): string {
  if (status === null) return isCutOff ? 'failed' : 'answered';
  if (status >= 400) return 'rejected';
  return isCutOff ? 'cut_off' : 'answered';
}
