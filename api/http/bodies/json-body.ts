import type { IncomingHttpHeaders } from 'node:http';
import { isWithinJsonBounds } from '../../../core/json-bounds.ts';
import { limits } from '../../../core/limits.ts';
import type { App } from '../../app-types.ts';
import { invalid } from '../../errors.ts';
import { installBodyBudget } from './body-budget.ts';

/**
 * Accepts JSON in UTF-8 only, within the memory for bodies. An empty body of any type counts as
 * `{}`.
 */
export function installJsonBody(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  installBodyBudget(app);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const error = encodingError(request.headers);
    if (error !== null) return done(invalid(error, { status: 415 }));
    const bytes = body as Buffer; // `parseAs: 'buffer'`
    if (!isWithinJsonBounds(bytes, limits.http.json)) return done(invalid(tooComplex));
    const text = decode(bytes);
    if (text === null) return done(invalid('The body is not valid UTF-8.'));
    if (text.trim() === '') return done(null, {});
    void parse(request, text, (parseError, value) => {
      if (parseError) done(invalid('The body is not valid JSON, or has a forbidden key.'));
      else done(null, value);
    });
  });
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined) request.body = {};
  });
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

function decode(body: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return null;
  }
}
