import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { noTokens } from '../../../../core/metering/token-counts.ts';
import { createModelMetrics } from '../../../../systems/prometheus/model-metrics.ts';
import { noopMetrics, sandboxObserver } from '../../../../worker/instrumentation.ts';

const startedAt = new Date('2026-11-23T10:00:00Z');
const call = {
  ...{ callId: 'c', messageId: null, model: 'claude-opus-4-1-20250805', status: 200 },
  ...{ startedAt, endedAt: new Date('2026-11-23T10:00:03Z'), isCutOff: false, isEstimated: false },
  ...{ tokens: { ...noTokens, input: 10, output: 20 }, price: null, costNanos: 2_500_000_000 },
};

test('count calls, tokens and dollars by model', async () => {
  const registry = new Registry();
  const metrics = { ...noopMetrics, ...createModelMetrics(registry) };
  const { onModelCall: observe, onModelCallRefused } = sandboxObserver({ metrics }, {});
  observe(call);
  observe({ ...call, status: 529, tokens: noTokens, costNanos: 0 });
  observe({ ...call, status: null, isCutOff: true, tokens: noTokens, costNanos: 0 });
  observe({ ...call, isCutOff: true });
  observe({ ...call, model: 'chosen-by-an-agent', costNanos: null });
  onModelCallRefused('billing_error');
  const lines = (await registry.metrics()).split('\n');
  const model = 'model="claude-opus-4-1"';
  for (const outcome of ['answered', 'rejected', 'failed', 'cut_off']) {
    expect(lines).toContain(`flowrun_model_call_seconds_count{${model},outcome="${outcome}"} 1`);
  }
  expect(lines).toContain('flowrun_model_call_seconds_count{model="other",outcome="answered"} 1');
  expect(lines).toContain(`flowrun_model_tokens_total{${model},kind="output"} 40`);
  expect(lines).toContain(`flowrun_model_cost_dollars_total{${model}} 5`);
  expect(lines).toContain('flowrun_model_calls_refused_total{reason="billing_error"} 1');
  expect(lines).toContain('flowrun_model_calls_refused_total{reason="permission_error"} 0');
  expect(lines.filter((line) => line.includes('chosen-by-an-agent'))).toEqual([]);
});
