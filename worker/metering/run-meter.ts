// Meters the calls that the agent of one sandbox makes to the model. A call is opened before it is sent,
// ends with its answer, and is then written to the ledger. The first two steps are on disk before the
// agent sees their effect, so a process that dies loses no call.

import type { Logger } from 'pino';
import { dayOf } from '../../core/agent/usage.ts';
import { usdOf } from '../../core/metering/call-cost.ts';
import type { LedgerEntry } from '../../core/metering/ledger-entry.ts';
import { findPrice, type PriceList } from '../../core/metering/model-prices.ts';
import { createNotifier } from '../../lib/async/notifier.ts';
import type { LedgerStore } from '../../systems/postgres/runs/ledger-store.ts';
import type { CallMeter, UnmeteredCall } from '../egress/model/call-meter.ts';
import { type OpenCall, openCallJournal } from './call-journal.ts';
import { endLeftCalls } from './end-call.ts';
import { createLedgerWriter } from './ledger-writer.ts';
import { meterCall } from './meter-call.ts';

interface MeterDeps {
  ledger: LedgerStore;
  /** Besides the list prices. */
  modelPrices: PriceList;
  /** Called once per call, when it has ended. */
  onModelCall(call: LedgerEntry): void;
  now(): Date;
  newId(): string;
}

interface MeteredRun {
  runId: string;
  /** The folder of the sandbox that only root can access. */
  root: string;
  logger: Logger;
}

export interface RunMeter extends CallMeter {
  /** The calls from now on belong to the turn of this message. */
  beginTurn(messageId: string): void;
  /** Resolves when the ledger has every call that has ended. */
  written(): Promise<void>;
  /** Resolves when no call is open and the ledger has all. */
  settled(): Promise<void>;
  /** The ledger gets what it does not have from the next process. */
  close(): void;
}

/** Writes the calls that a previous process left to the ledger first. Rejects if it is unavailable. */
export async function openRunMeter(deps: MeterDeps, run: MeteredRun): Promise<RunMeter> {
  const { ledger, modelPrices, now } = deps;
  const { runId, root, logger } = run;
  const onFailure = (err: unknown): void => logger.warn({ err }, 'call_journal_failed');
  const journal = openCallJournal({ root, runId }, onFailure);
  const left = endLeftCalls(journal.left, now(), modelPrices);
  try {
    if (left.length > 0) await ledger.record(runId, left);
    journal.clear();
  } catch (error) {
    journal.close();
    throw error;
  }
  return createRunMeter(deps, run, journal);
}

function createRunMeter(
  deps: MeterDeps,
  { runId, logger }: MeteredRun,
  journal: ReturnType<typeof openCallJournal>,
): RunMeter {
  const open = new Set<string>();
  const ended = createNotifier();
  const closing = new AbortController();
  let messageId: string | null = null;
  const writer = createLedgerWriter({
    record: (calls) => deps.ledger.record(runId, calls),
    retry: {
      signal: closing.signal,
      onFailure: (err, attempt) => logger.warn({ err, attempt }, 'ledger_write_retried'),
    },
    onWritten: () => void (open.size === 0 && journal.clear()),
  });

  function openCall(unmetered: UnmeteredCall): OpenCall {
    const { model, maxTokens } = unmetered.request;
    const startedAt = deps.now();
    const price = findPrice(model, { prices: deps.modelPrices, day: dayOf(startedAt) });
    const request = { bytes: unmetered.bytes, maxTokens: maxTokens ?? 0 };
    return { callId: deps.newId(), messageId, model, startedAt, price, request };
  }

  function finish(call: LedgerEntry): void {
    journal.ended(call);
    open.delete(call.callId);
    writer.add(call);
    logger.info(describeCall(call), 'model_call');
    deps.onModelCall(call);
    ended.notify();
  }

  return {
    open(unmetered) {
      if (unmetered.endpoint === '/v1/messages/count_tokens') return freeCall;
      const call = openCall(unmetered);
      journal.opened(call);
      open.add(call.callId);
      return { outcome: 'opened', call: meterCall(deps, call, finish) };
    },
    beginTurn(id) {
      messageId = id;
    },
    written: writer.written,
    async settled() {
      while (open.size > 0) await ended.wait();
      await writer.written();
    },
    close() {
      closing.abort();
      journal.close();
    },
  };
}

/** Counting tokens costs nothing. */
const freeCall = {
  outcome: 'opened',
  call: { answered: () => undefined, read: () => undefined, end: () => undefined },
} as const;

/** For the log: neither the request nor the answer. */
function describeCall({ tokens, price: _price, cost, startedAt, endedAt, ...call }: LedgerEntry) {
  const tookMs = endedAt.getTime() - startedAt.getTime();
  return { ...call, ...tokens, costUsd: cost === null ? null : usdOf(cost), tookMs };
}
