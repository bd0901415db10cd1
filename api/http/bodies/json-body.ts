import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { isWithinJsonBounds } from '../../../core/json-bounds.ts';
import { limits } from '../../../core/limits.ts';
import type { App } from '../../app-types.ts';
import { invalid } from '../../errors.ts';
import { installBodyBudget } from './body-budget.ts';
import { receiveBody } from './receive-body.ts';

/**
 * Accepts JSON in UTF-8 only, within the memory for bodies. An empty body of any type counts as
 * `{}`.
 */
export function installJsonBody(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  installBodyBudget(app);
  app.addContentTypeParser(
    'application/json',
    async (request: FastifyRequest, payload: IncomingMessage) => {
      const error = encodingError(request.headers);
      if (error !== null) throw invalid(error, { status: 415 });
      const text = await receiveText(payload, request.routeOptions.bodyLimit);
      if (text.trim() === '') return {};
      return new Promise<unknown>((resolve, reject) => {
        void parse(request, text, (parseError, value) => {
          if (parseError) reject(invalid('The body is not valid JSON, or has a forbidden key.'));
          else resolve(value);
        });
      });
    },
  );
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined) request.body = {};
  });
}

async function receiveText(request: IncomingMessage, maxBytes: number): Promise<string> {
  const { bytes, free } = await receiveBody(request, maxBytes);
  try {
    if (!isWithinJsonBounds(bytes, limits.http.json)) throw invalid(tooComplex);
    return decode(bytes);
  } finally {
    free();
  }
}

const tooComplex = `The body is nested deeper than ${limits.http.json.depthMax} levels, or has more than ${limits.http.json.valuesMax} values.`;

/** Why the body cannot be read as plain UTF-8; null if it can. */
function encodingError(headers: IncomingHttpHeaders): string | null {
  const encoding = headers['content-encoding'] ?? 'identity';
  const transfer = headers['transfer-encoding'] ?? 'chunked';
  if (!/^identity$/i.test(encoding) || !/^chunked$/i.test(transfer))
    return 'The body must not have a content or transfer encoding.';
  const charset = /;\s*charset="?([^\s;"]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  return /^(utf-?8|us-ascii)$/i.test(charset) ? null : 'The body must be UTF-8.';
}

function decode(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw invalid('The body is not valid UTF-8.');
  }
}
