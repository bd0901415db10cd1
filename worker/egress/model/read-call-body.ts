import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { isWithinJsonBounds } from '../../../core/json-bounds.ts';
import { modelLimits } from '../../../core/model/model-limits.ts';
import { invalidRequest, type ModelApiError } from './model-api-error.ts';

type CallBody = { outcome: 'read'; value: unknown } | { outcome: 'rejected'; error: ModelApiError };

/** Reads the whole body of a call, and parses it. Rejects if the agent disconnects before its end. */
export async function readCallBody(request: IncomingMessage): Promise<CallBody> {
  const bytes = await readBounded(request, modelLimits.bodyMaxBytes);
  if (bytes === null) return rejected(tooLong);
  if (!isUtf8(bytes)) return rejected(invalidRequest('the request body is not valid UTF-8'));
  if (!isWithinJsonBounds(bytes, modelLimits)) return rejected(tooComplex);
  try {
    return { outcome: 'read', value: JSON.parse(bytes.toString('utf8')) };
  } catch {
    return rejected(invalidRequest('the request body is not valid JSON'));
  }
}

const tooLong: ModelApiError = {
  status: 413,
  type: 'request_too_large',
  message: 'the request is too long',
};

const tooComplex = invalidRequest(
  `the request body is nested deeper than ${modelLimits.depthMax} levels, or has more than ` +
    `${modelLimits.valuesMax} values`,
);

/** Null if the body is longer. */
async function readBounded(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // A destroyed request could not be answered.
  const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const rejected = (error: ModelApiError): CallBody => ({ outcome: 'rejected', error });
