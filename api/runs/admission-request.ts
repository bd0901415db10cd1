import type { Flow } from '../../core/flows/flow.ts';
import type { RunConfig } from '../../core/runs/run-config.ts';
import type { AdmitRun } from '../../systems/postgres/admission/admission.ts';
import type { Caller } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { invalid } from '../errors.ts';
import type { TriggerBody } from './trigger-schema.ts';

/** The creator of a run and the request that it came with. */
type RunCreator = Pick<
  AdmitRun,
  'triggerType' | 'keyId' | 'keyName' | 'keyCreatedBy' | 'requestId'
>;

export const createdByKey = ({ key }: Caller, requestId: string): RunCreator => ({
  triggerType: 'api',
  keyId: key.keyId,
  keyName: key.name,
  keyCreatedBy: key.createdBy,
  requestId,
});

interface AdmissionRequestInput {
  creator: RunCreator;
  flow: Flow;
  body: TriggerBody;
  config: RunConfig;
  idempotencyKey: string | null;
}

/** The input of admission: fields of the request, with the flow's values as defaults. */
export function toAdmissionRequest(
  deps: Pick<ApiDeps, 'newId' | 'runTimeoutMs'>,
  { creator, flow, body, config, idempotencyKey }: AdmissionRequestInput,
): AdmitRun {
  const prompt = body.prompt ?? flow.prompt;
  if (!prompt) throw invalid('body.prompt: is required, because the flow has no prompt');
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
