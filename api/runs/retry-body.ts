import type { Run } from '../../core/runs/run.ts';
import type { SecretField } from '../../core/runs/run-config.ts';
import type { TriggerFields } from '../../systems/postgres/runs/trigger-fields.ts';
import { invalid } from '../errors.ts';
import type { ParsedTrigger } from './parse-trigger.ts';
import type { TriggerBody } from './trigger-schema.ts';

/** What the run was asked for, as far as it is kept; what is given anew replaces. */
export function retryBody(run: Run, kept: TriggerFields, given: TriggerBody): TriggerBody {
  return {
    prompt: run.prompt,
    labels: run.labels,
    partialMessages: run.partialMessages,
    timeoutSeconds: run.timeoutSeconds,
    name: run.name ?? undefined,
    model: run.model ?? undefined,
    maxTurns: run.maxTurns ?? undefined,
    maxBudgetUsd: run.maxBudgetUsd ?? undefined,
    callbackUrl: kept.callbackUrl ?? undefined,
    outputSchema: kept.outputSchema ?? undefined,
    ...given,
  };
}

/** What was secret is not kept: a run without it would be another, so it has to be given anew. */
export function requireSecretsAgain(run: Run, body: TriggerBody, { config }: ParsedTrigger): void {
  const missing = run.secretFields.filter((field) => {
    if (field === 'context') return Object.keys(config.context).length === 0;
    return body[field] === undefined;
  });
  if (missing.length === 0) return;
  const named = missing.map(pathOf).join(', ');
  throw invalid(`${named}: the run had it, it is not kept, and has to be given anew`);
}

const pathOf = (field: SecretField): string =>
  field === 'context' ? 'headers.X-Ctx-*' : `body.${field}`;
