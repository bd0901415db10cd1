import type { IncomingHttpHeaders } from 'node:http';
import type { App } from '../app-types.ts';
import { invalid } from '../errors.ts';

/** JSON in UTF-8 is the only body there is; an empty one, of whatever type, stands for `{}`. */
export function jsonBody(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const fault = codingFault(request.headers);
    if (fault !== null) return done(invalid(fault, { status: 415 }));
    const text = decode(body as Buffer); // as asked for above
    if (text === null) return done(invalid('The body is not UTF-8.'));
    if (text.trim() === '') return done(null, {});
    void parse(request, text, (error, value) => {
      if (error) done(invalid('The body is not JSON that this service takes.'));
      else done(null, value);
    });
  });
  app.addHook('preValidation', async (request) => {
    if (request.body === undefined) request.body = {};
  });
}

/** Why the bytes are not what they would be taken for; null where they are. */
function codingFault(headers: IncomingHttpHeaders): string | null {
  const encoding = headers['content-encoding'] ?? 'identity';
  const transfer = headers['transfer-encoding'] ?? 'chunked';
  if (!/^identity$/i.test(encoding) || !/^chunked$/i.test(transfer))
    return 'The body has to come as it is, without a content encoding.';
  const charset = /;\s*charset="?([^\s;"]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  return /^(utf-?8|us-ascii)$/i.test(charset) ? null : 'The body has to be in UTF-8.';
}

function decode(body: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return null;
  }
}
