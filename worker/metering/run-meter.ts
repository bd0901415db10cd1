// Meters the model calls of one sandbox. A call is opened before it is sent, ends with its answer,
// and is then written to the ledger. The first two steps are in the journal before the agent sees
// their effect, so the death of this process loses no call.

import type { Logger } from 'pino';
import { dayOf } from '../../core/agent/usage.ts';
import { usualPromptTokens } from '../../core/metering/call-bound.ts';
import { costUsdOf } from '../../core/metering/call-cost.ts';
import type { LedgerEntry, RunSpending } from '../../core/metering/ledger-entry.ts';
import { findPrice, type PriceList } from '../../core/metering/model-prices.ts';
import type { ReachedBudget } from '../../core/metering/monthly-budget.ts';
import { createDeferred } from '../../lib/async/deferred.ts';
import { createNotifier } from '../../lib/async/notifier.ts';
import type { RetryPolicy } from '../../lib/async/retry.ts';
import type { LedgerStore } from '../../systems/postgres/runs/ledger-store.ts';
import type { CallMeter, UnmeteredCall } from '../egress/model/call-meter.ts';
import { type RefusedCall, refused } from '../egress/model/model-api-error.ts';
import { type CallJournal, type OpenCall, openCallJournal } from './call-journal.ts';
import {
  type CallLimits,
  createCallLimits,
  type ExceededLimit,
  type LimitedRun,
  type Refusal,
} from './call-limits.ts';
import { createCallStore } from './call-store.ts';
import { endJournaledCalls } from './end-call.ts';
import { meterCall } from './meter-call.ts';
import { createMonthlyBudget, type MonthlyBudget } from './monthly-budget.ts';

interface MeterDeps {
  ledger: LedgerStore;
  /** The operator's prices. They take precedence over the list prices. */
  modelPrices: PriceList;
  /** Called once per call, when it has ended. */
  onModelCall(call: LedgerEntry): void;
  now(): Date;
  newId(): string;
}

interface MeteredRun extends LimitedRun {
  runId: string;
  /** The run's totals in the ledger. */
  spending: RunSpending;
  /** The state when the sandbox was started. */
  reachedBudget: ReachedBudget;
  hasTreeBudget: boolean;
  isSession: boolean;
  /** The folder of the sandbox that only root can access. */
  root: string;
  logger: Logger;
}

export interface RunMeter extends CallMeter {
  /** The calls from now on belong to the turn of this message. */
  beginTurn(messageId: string): void;
  /** Resolves when a call was refused because of a limit that ends the run. */
  exceeded: Promise<ExceededLimit>;
  /** Resolves when the ledger has every call that has ended. */
  written(): Promise<void>;
  /** Resolves when no call is open and the ledger has every call. */
  settled(): Promise<void>;
  /** Stops. Calls that are not in the ledger stay in the journal for the next process. */
  close(): void;
}

/**
 * First adds the calls of a previous process to the ledger. Rejects if the ledger is unavailable.
 */
export async function openRunMeter(deps: MeterDeps, run: MeteredRun): Promise<RunMeter> {
  const { ledger, modelPrices, now } = deps;
  const { runId, root, logger } = run;
  const onFailure = (err: unknown): void => logger.warn({ err }, 'call_journal_failed');
  const journal = openCallJournal({ root, runId }, onFailure);
  const { answered, unanswered } = endJournaledCalls(journal.earlier, now(), modelPrices);
  const earlier = [...answered, ...unanswered];
  const monthly = createMonthlyBudget(run, ledger);
  try {
    const recorded = earlier.length === 0 ? null : await monthly.record(earlier);
    journal.clear();
    // The previous process has reported the calls that were answered.
    for (const call of unanswered) report(deps, logger, call);
    const limits = createCallLimits(run, recorded ?? run.spending);
    return createRunMeter(deps, run, { journal, limits, monthly });
  } catch (error) {
    journal.close();
    throw error;
  }
}

interface MeterParts {
  journal: CallJournal;
  limits: CallLimits;
  monthly: MonthlyBudget;
}

function createRunMeter(
  deps: MeterDeps,
  { logger }: MeteredRun,
  { journal, limits, monthly }: MeterParts,
): RunMeter {
  /** The nano-dollars that each open call has reserved. */
  const open = new Map<string, number>();
  const exceeded = createDeferred<ExceededLimit>();
  const refuse = ({ error, exceeded: limit }: Refusal): RefusedCall => {
    if (limit !== null) exceeded.resolve(limit);
    return refused(error);
  };
  const ended = createNotifier();
  const closing = new AbortController();
  let messageId: string | null = null;
  const store = createCallStore({
    journal,
    hasOpenCalls: () => open.size > 0,
    record: monthly.record,
    retry: retryPolicy(closing.signal, logger),
  });

  function finish(call: LedgerEntry): void {
    limits.settle(open.get(call.callId) ?? 0, call.costNanos ?? 0);
    open.delete(call.callId);
    store.add(call);
    report(deps, logger, call);
    ended.notify();
  }

  return {
    async open(unmetered) {
      const refusal = limits.checkModels(unmetered.request);
      if (refusal !== null) return refuse(refusal);
      if (unmetered.endpoint === '/v1/messages/count_tokens') return freeCall;
      const overBudget = await monthly.check(store.written);
      if (overBudget !== null) return refuse(overBudget);
      const call = openCall(deps, unmetered, messageId);
      const admitted = await limits.admit(unmetered, call.price);
      if ('error' in admitted) return refuse(admitted);
      journal.opened(call);
      open.set(call.callId, admitted.reservedNanos);
      return { outcome: 'opened', call: meterCall(deps, call, finish) };
    },
    beginTurn(id) {
      messageId = id;
      store.beginTurn();
    },
    exceeded: exceeded.promise,
    written: store.written,
    async settled() {
      while (open.size > 0) await ended.wait();
      await store.written();
    },
    close() {
      closing.abort();
      journal.close();
    },
  };
}

function openCall(
  { modelPrices: prices, now, newId }: MeterDeps,
  { request: { maxTokens, fields }, answeringModel: model, bytes }: UnmeteredCall,
  messageId: string | null,
): OpenCall {
  const startedAt = now();
  const price = findPrice(model, { prices, day: dayOf(startedAt) });
  const promptTokens = usualPromptTokens({ bytes, fields });
  const request = { promptTokens, maxTokens: maxTokens ?? 0 };
  return { callId: newId(), messageId, model, startedAt, price, request };
}

const retryPolicy = (signal: AbortSignal, logger: Logger): RetryPolicy => ({
  signal,
  onFailure: (err, attempt) => logger.warn({ err, attempt }, 'ledger_write_retried'),
});

/** Counting tokens costs nothing, so it is not metered. */
const freeCall = {
  outcome: 'opened',
  call: { answered: () => undefined, read: () => undefined, end: () => undefined },
} as const;

/** One log line and one metric per call. */
function report({ onModelCall }: MeterDeps, logger: Logger, call: LedgerEntry): void {
  logger.info(describeCall(call), 'model_call');
  onModelCall(call);
}

/** The fields for the log, without the request and the answer. */
function describeCall(entry: LedgerEntry) {
  const { tokens, price: _price, costNanos, startedAt, endedAt, ...call } = entry;
  const tookMs = endedAt.getTime() - startedAt.getTime();
  return { ...call, ...tokens, costUsd: costUsdOf({ costNanos }), tookMs };
}
