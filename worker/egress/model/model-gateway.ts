import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { Agent, type Dispatcher } from 'undici';
import type { NetworkPolicy } from '../../../core/flows/flow.ts';
import type { ModelErrorType } from '../../../core/model/model-error-type.ts';
import { modelLimits } from '../../../core/model/model-limits.ts';
import type { ModelUpstream } from '../../../core/model/model-upstream.ts';
import { createHostMemory, type RunMemory } from './body-memory.ts';
import type { CallMeter } from './call-meter.ts';
import { countTokens } from './count-tokens.ts';
import { forwardCall } from './forward-call.ts';
import { createLargeBodyPacer } from './large-body-pacer.ts';
import { answerError, type ModelApiError, overloaded, refuseCall } from './model-api-error.ts';
import { type ReadingContext, readCall } from './read-call.ts';
import { createRefusalLog } from './refusal-log.ts';
import type { Upstream } from './upstream-request.ts';

interface Gateway {
  /** The proxy of one run. Concurrent calls are limited per run, so that no run starves another. */
  forRun(run: ModelRun): ModelProxy;
  close(): Promise<void>;
}

/** The run whose agent makes the calls. */
export interface ModelRun {
  /** Each line names the run. */
  logger: Logger;
  policy: NetworkPolicy;
  /** Read for each call: the upstream of the run's project. Null selects the host's. */
  projectModel: ProjectModelSource;
  meter: CallMeter;
  /** Whether the host's model may answer. */
  mayUseHostModel(): Promise<boolean>;
  /** Called for each call that is not forwarded. */
  onModelCallRefused(reason: ModelErrorType): void;
}

export type ProjectModelSource = () => Promise<ModelUpstream | null>;

/** Forwards one call. `path` is the part after `/model`, including the query. */
export type ModelProxy = (
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
) => Promise<void>;

/** A model may take minutes before the first byte of its answer, and between two bytes. */
const silenceTimeoutMs = 15 * 60_000;

/**
 * Proxies two fixed paths to the model API, and adds the operator's or the project's key. Each
 * request is read and checked as a whole before it is forwarded; answers are streamed. Errors have
 * the model API's format.
 */
export function createGateway(hostUpstream: ModelUpstream | null): Gateway {
  const dispatcher = new Agent({
    headersTimeout: silenceTimeoutMs,
    bodyTimeout: silenceTimeoutMs,
    connect: { timeout: 10_000 },
  });
  const hostMemory = createHostMemory();
  const forRun = (run: ModelRun): ModelProxy =>
    createModelProxy({
      reading: { ...run, log: createRefusalLog(run.logger), pace: createLargeBodyPacer() },
      memory: hostMemory.forRun(),
      meter: run.meter,
      onModelCallRefused: run.onModelCallRefused,
      async findUpstream() {
        const own = await run.projectModel();
        const upstream = own ?? ((await run.mayUseHostModel()) ? hostUpstream : null);
        return upstream && upstreamOf(dispatcher, upstream);
      },
    });
  return { forRun, close: () => dispatcher.destroy() };
}

const upstreamOf = (dispatcher: Dispatcher, { baseUrl, ...model }: ModelUpstream): RunUpstream => ({
  ...model,
  dispatcher,
  base: new URL(baseUrl),
});

type RunUpstream = Upstream & Pick<ModelUpstream, 'onlyModel'>;

interface RunCalls {
  reading: ReadingContext;
  memory: RunMemory;
  meter: CallMeter;
  onModelCallRefused: ModelRun['onModelCallRefused'];
  /** Null if neither the project nor the host has a model. */
  findUpstream(): Promise<RunUpstream | null>;
}

function createModelProxy({ reading, memory, meter, ...run }: RunCalls): ModelProxy {
  let calls = 0;
  return async (request, response, path) => {
    const refuse = (error: ModelApiError): void => {
      reading.log.call(error);
      run.onModelCallRefused(error.type);
      refuseCall(request, response, error);
    };
    if (calls >= modelLimits.concurrentCallsMax) return refuse(tooManyAtOnce);
    const callMemory = memory.forCall();
    let isMetered = false;
    calls += 1;
    try {
      const read = await readCall({ request, path, memory: callMemory }, reading);
      if (read.outcome === 'refused') return refuse(read.error);
      const { call } = read;
      const upstream = await run.findUpstream();
      if (upstream === null) return refuse(noModel);
      if (response.destroyed) return;
      const opened = await meter.open({
        ...call,
        answeringModel: upstream.onlyModel ?? call.request.model,
        bytes: Buffer.byteLength(call.body),
        countTokens: () => countTokens(upstream, call),
      });
      if (opened.outcome === 'refused') return refuse(opened.error);
      isMetered = true;
      if (response.destroyed) return opened.call.end('failed');
      await forwardCall(upstream, call, { response, metered: opened.call });
    } catch {
      if (isMetered || response.destroyed) answerError(response, upstreamUnavailable);
      else refuse(upstreamUnavailable);
    } finally {
      calls -= 1;
      callMemory.free();
    }
  };
}

const tooManyAtOnce = overloaded('too many concurrent model calls');
const noModel: ModelApiError = {
  status: 403,
  type: 'permission_error',
  message: 'this host has no model key, and neither has the project',
};
const upstreamUnavailable: ModelApiError = {
  status: 502,
  type: 'api_error',
  message: 'the model API is unavailable',
};
