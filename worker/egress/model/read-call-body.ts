import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { isWithinJsonBounds } from '../../../core/json-bounds.ts';
import { modelLimits } from '../../../core/model/model-limits.ts';
import type { CallMemory } from './body-memory.ts';
import {
  invalidRequest,
  type ModelApiError,
  overloaded,
  type RefusedCall,
  refused,
} from './model-api-error.ts';

type BodyBytes = { outcome: 'read'; bytes: Buffer } | RefusedCall;

type ParsedBody = { outcome: 'parsed'; value: unknown } | RefusedCall;

/** Reads the whole body of a call. Rejects if the agent disconnects before its end. */
export async function readCallBody(
  request: IncomingMessage,
  memory: CallMemory,
): Promise<BodyBytes> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // If the request were destroyed, the error could not be sent.
  const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > modelLimits.bodyMaxBytes) return refused(tooLong);
    if (!memory.take(chunk.length)) return refused(noMemory);
    chunks.push(chunk);
  }
  return { outcome: 'read', bytes: Buffer.concat(chunks) };
}

/** Checks the size of the parsed value before parsing. */
export function parseCallBody(bytes: Buffer): ParsedBody {
  if (!isUtf8(bytes)) return refused(invalidRequest('the request body is not valid UTF-8'));
  if (!isWithinJsonBounds(bytes, modelLimits)) return refused(tooComplex);
  try {
    return { outcome: 'parsed', value: JSON.parse(bytes.toString('utf8')) };
  } catch {
    return refused(invalidRequest('the request body is not valid JSON'));
  }
}

const tooLong: ModelApiError = {
  status: 413,
  type: 'request_too_large',
  message: `the request body is longer than ${modelLimits.bodyMaxBytes} bytes`,
};

const noMemory = overloaded('the concurrent model calls need too much memory');

const tooComplex = invalidRequest(
  `the request body is nested deeper than ${modelLimits.depthMax} levels, or has more than ` +
    `${modelLimits.valuesMax} values`,
);
