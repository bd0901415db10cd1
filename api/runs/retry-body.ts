import type { Run } from '../../core/runs/run.ts';
import type { SecretField } from '../../core/runs/run-config.ts';
import type { TriggerFields } from '../../systems/postgres/runs/trigger-fields.ts';
import { invalid } from '../errors.ts';
import type { ParsedTrigger } from './admission-request.ts';
import type { TriggerBody } from './trigger-schema.ts';

/** Not taken from the stored run: secrets are not stored, and files are copied by reference. */
type SuppliedField = SecretField | 'files' | 'idempotencyKey';

/** Every other field must be listed, so that a new field of the trigger is not forgotten here. */
type OriginalFields = Record<Exclude<keyof TriggerBody, SuppliedField>, unknown> & TriggerBody;

/** The stored fields of the original run, overridden by the request's. */
export function retryBody(run: Run, stored: TriggerFields, overrides: TriggerBody): TriggerBody {
  const original: OriginalFields = {
    prompt: run.prompt,
    labels: run.labels,
    partialMessages: run.partialMessages,
    timeoutSeconds: run.timeoutSeconds,
    name: run.name ?? undefined,
    model: run.model ?? undefined,
    maxTurns: run.maxTurns ?? undefined,
    maxBudgetUsd: run.maxBudgetUsd ?? undefined,
    callbackUrl: stored.callbackUrl ?? undefined,
    outputSchema: stored.outputSchema ?? undefined,
  };
  return { ...original, ...overrides };
}

/** Secrets are not stored, so a retry must supply every secret field that the original run had. */
export function requireSecretsAgain(run: Run, body: TriggerBody, { config }: ParsedTrigger): void {
  const missing = run.secretFields.filter((field) => {
    if (field === 'context') return Object.keys(config.context).length === 0;
    return body[field] === undefined;
  });
  if (missing.length === 0) return;
  const paths = missing.map(pathOf).join(', ');
  throw invalid(`${paths}: required, because the original run used it and secrets are not stored`);
}

const pathOf = (field: SecretField): string =>
  field === 'context' ? 'headers.X-Ctx-*' : `body.${field}`;
