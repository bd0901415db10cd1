// The gateway of a run with a stand-in for the model API, and calls to it.

import pino from 'pino';
import { onTestFinished } from 'vitest';
import { noTokens } from '../../../../core/metering/token-counts.ts';
import { type OfflineModel, startOfflineModel } from '../../../../offline-model/server.ts';
import { serveRun } from '../egress/egress-fixture.ts';
import { meteredRun } from './metered-run.ts';

export const usage = { input_tokens: 1_000, output_tokens: 500, cache_read_input_tokens: 200 };
/** The same, as the ledger has them. */
export const tokens = { ...noTokens, input: 1_000, output: 500, cacheRead: 200 };

async function startModel(): Promise<OfflineModel> {
  const model = await startOfflineModel();
  onTestFinished(() => model.close());
  return model;
}

export async function startGateway(
  options: Parameters<typeof meteredRun>[0] = {},
  upstream: { onlyModel?: string } = {},
) {
  const model = await startModel();
  const run = await meteredRun(options);
  const deps = { modelUpstream: { apiKey: 'operator-key', baseUrl: model.url, ...upstream } };
  const refused: string[] = [];
  const write = (line: string) => void run.logged.push(JSON.parse(line) as Record<string, unknown>);
  const handlers = {
    meter: run.meter,
    logger: pino({}, { write }),
    policy: { policy: 'none' as const, hosts: [] },
    onModelCallRefused: (reason: string) => void refused.push(reason),
  };
  const { socketPath, close } = await serveRun({ deps, handlers });
  /** `refused`: the reasons of the calls that were not forwarded, one per call. */
  return { ...run, model, refused, socketPath, close };
}

export const user = (content: unknown) => ({ role: 'user', content });
export const asked = (steps: object[]) => user(`@model ${JSON.stringify(steps)}`);

export function callOf(steps: object[], fields: object = {}) {
  const body = { model: 'claude-opus-5-5', max_tokens: 1_000, messages: [asked(steps)], ...fields };
  return {
    method: 'POST',
    path: '/model/v1/messages?beta=true',
    headers: { 'x-api-key': 'sandbox' },
    body: JSON.stringify(body),
  };
}

export const said = [{ usage }, { text: 'Hello.' }];
