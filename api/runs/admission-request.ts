// A trigger, a retry and an operator's run become the input of admission in two steps. parseTrigger
// reads the request alone. toAdmissionRequest adds the values of the flow, which the route has
// loaded.

import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Flow, FlowOutline } from '../../core/flows/flow.ts';
import type { RunConfig } from '../../core/runs/run-config.ts';
import type { AdmitRun } from '../../systems/postgres/admission/admit-run.ts';
import { callerOf } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { type DecodedFile, decodeFiles } from '../files/input-files.ts';
import { authorOf } from '../operators/audit/record-change.ts';
import { checkBudget } from './check-budget.ts';
import { checkCallbackUrl } from './check-callback-url.ts';
import { parseContextHeaders } from './context-headers.ts';
import { resolveIdempotencyKey } from './idempotency-key.ts';
import { rejectIdempotentMcpServers, runConfigOf } from './run-config.ts';
import type { TriggerBody } from './trigger-schema.ts';

interface TriggerRequest {
  headers: IncomingHttpHeaders & { 'idempotency-key'?: string | undefined };
  body: TriggerBody;
}

export interface ParsedTrigger {
  idempotencyKey: string | null;
  config: RunConfig;
  files: DecodedFile[];
}

/** Checks what the schema cannot: rules across fields, and headers. */
export function parseTrigger(
  { isCallbackAddressAllowed }: Pick<ApiDeps, 'isCallbackAddressAllowed'>,
  { headers, body }: TriggerRequest,
): ParsedTrigger {
  const idempotencyKey = resolveIdempotencyKey({
    header: headers['idempotency-key'],
    field: body.idempotencyKey,
    at: 'body.idempotencyKey',
  });
  if (body.callbackUrl !== undefined) checkCallbackUrl(body.callbackUrl, isCallbackAddressAllowed);
  rejectIdempotentMcpServers(body, idempotencyKey);
  const config = runConfigOf(body, parseContextHeaders(headers));
  return { idempotencyKey, config, files: decodeFiles(body.files ?? []) };
}

/** The creator of a run and the request that it came with. */
type RunCreator = Pick<
  AdmitRun,
  'triggerType' | 'keyId' | 'keyName' | 'keyCreatedBy' | 'requestId' | 'author'
>;

/** The key of the request, or its operator. */
export function creatorOf(request: FastifyRequest): RunCreator {
  const { id: requestId, operator } = request;
  if (operator !== null) {
    const noKey = { keyId: null, keyName: 'dashboard', keyCreatedBy: operator.name };
    return { triggerType: 'dashboard', ...noKey, requestId, author: authorOf(request) };
  }
  const { key, agent } = callerOf(request);
  const { name: keyName, createdBy: keyCreatedBy } = key;
  const keyId = agent === null ? key.keyId : agent.keyId;
  return { triggerType: 'api', keyId, keyName, keyCreatedBy, requestId };
}

/** The run whose agent makes the request; nothing if the caller is no agent. */
export function parentOf(
  { caller }: FastifyRequest,
  { runDepthMax: depthMax }: Pick<ApiDeps, 'runDepthMax'>,
): Pick<AdmitRun, 'parent'> {
  const agent = caller?.agent ?? null;
  return agent === null ? {} : { parent: { runId: agent.runId, depthMax } };
}

/** An agent has its own keys, which cannot refer to a run that others have started. */
export function idempotencyKeyOf({ caller }: FastifyRequest, key: string | null): string | null {
  const agent = caller?.agent ?? null;
  return agent === null || key === null ? key : `${agent.runId}:${key}`;
}

interface AdmissionRequestInput {
  creator: RunCreator;
  flow: FlowOutline & Pick<Flow, 'prompt'>;
  body: TriggerBody;
  config: RunConfig;
  idempotencyKey: string | null;
}

/** The input of admission: fields of the request, with the flow's values as defaults. */
export function toAdmissionRequest(
  deps: Pick<ApiDeps, 'newId' | 'runTimeoutMs' | 'modelPrices' | 'now'>,
  { creator, flow, body, config, idempotencyKey }: AdmissionRequestInput,
): AdmitRun {
  const prompt = body.prompt ?? flow.prompt;
  if (!prompt) throw invalid('body.prompt: is required, because the flow has no prompt');
  checkBudget(deps, {
    model: body.model ?? flow.model,
    maxBudgetUsd: body.maxBudgetUsd ?? flow.limits.maxBudgetUsd,
    field: 'body.maxBudgetUsd',
  });
  const defaultTimeoutSeconds = flow.timeoutSeconds ?? Math.ceil(deps.runTimeoutMs / 1_000);
  return {
    runId: deps.newId(),
    flowId: flow.flowId,
    projectId: flow.projectId,
    ...creator,
    prompt,
    name: body.name ?? null,
    labels: body.labels ?? {},
    partialMessages: body.partialMessages ?? false,
    callbackUrl: body.callbackUrl ?? null,
    idempotencyKey,
    timeoutSeconds: body.timeoutSeconds ?? defaultTimeoutSeconds,
    model: body.model ?? null,
    maxTurns: body.maxTurns ?? null,
    maxBudgetUsd: body.maxBudgetUsd ?? null,
    outputSchema: body.outputSchema ?? null,
    retryOf: null,
    config,
  };
}
