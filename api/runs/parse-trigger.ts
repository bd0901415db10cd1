import type { IncomingHttpHeaders } from 'node:http';
import type { RunConfig } from '../../core/runs/run-config.ts';
import type { ApiDeps } from '../deps.ts';
import { type DecodedFile, decodeFiles } from '../files/input-files.ts';
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
