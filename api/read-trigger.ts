import type { IncomingHttpHeaders } from 'node:http';
import type { RunConfig } from '../core/run-config.ts';
import { checkCallbackUrl } from './callback-url.ts';
import { contextOf } from './context-headers.ts';
import type { ApiDeps } from './deps.ts';
import { invalid } from './errors.ts';
import { type DecodedFile, decodeFiles } from './given-files.ts';
import { checkRepeatable, runConfigOf } from './run-config.ts';
import type { TriggerBody } from './schemas/trigger.ts';

export interface TriggerRequest {
  headers: IncomingHttpHeaders & { 'idempotency-key'?: string | undefined };
  body: TriggerBody;
}

export interface TriggerRead {
  idempotencyKey: string | null;
  config: RunConfig;
  files: DecodedFile[];
}

/** What a trigger says beyond the form of its fields; refused where its parts do not go together. */
export function readTrigger(
  { mayCall }: Pick<ApiDeps, 'mayCall'>,
  { headers, body }: TriggerRequest,
): TriggerRead {
  const idempotencyKey = oneKey(headers['idempotency-key'], body.idempotencyKey);
  if (body.callbackUrl !== undefined) checkCallbackUrl(body.callbackUrl, mayCall);
  checkRepeatable(body, idempotencyKey);
  const config = runConfigOf(body, contextOf(headers));
  return { idempotencyKey, config, files: decodeFiles(body.files ?? []) };
}

/** Header and field are two ways to say one thing. */
function oneKey(header: string | undefined, field: string | undefined): string | null {
  if (header !== undefined && field !== undefined && header !== field) {
    throw invalid('body.idempotencyKey: differs from the Idempotency-Key header');
  }
  return header ?? field ?? null;
}
