import type { App } from '../app-types.ts';
import { invalid } from '../errors.ts';

/** JSON in UTF-8 is the only body there is; an empty one, of whatever type, stands for `{}`. */
export function jsonBody(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const text = decode(body as Buffer); // as asked for above
    if (text === null) return done(invalid('The body is not UTF-8.'));
    if (text.trim() === '') return done(null, {});
    void parse(request, text, (error, value) => {
      if (error) done(invalid('The body is not JSON that this service takes.'));
      else done(null, value);
    });
  });
  app.addHook('preValidation', async (request) => {
    request.body ??= {};
  });
}

function decode(body: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return null;
  }
}
