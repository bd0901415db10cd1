import type { App } from '../app-types.ts';
import { ApiError, notFound } from '../errors.ts';

/**
 * What no route answers: 405 where the path is known under other methods, else 404. Said before the
 * body is read.
 */
export function handleUnknownPaths(app: App): void {
  let known: { path: RegExp; method: string }[] = [];
  app.addHook('onReady', async () => {
    known = app.routeTable.map(({ url, method }) => ({ path: patternOf(url), method }));
  });
  app.addHook('onRequest', async (request) => {
    if (!request.is404) return;
    const [path = ''] = request.url.split('?');
    const methods = known.filter((route) => route.path.test(path)).map(({ method }) => method);
    throw methods.length === 0 ? notFound() : notAllowed(methods);
  });
  app.setNotFoundHandler(() => {
    throw notFound();
  });
}

/** A route's own pattern: parameters fill a segment, the star the rest. */
function patternOf(url: string): RegExp {
  const source = url
    .replaceAll(/[.+?^$()[\]{}|\\]/g, '\\$&')
    .replaceAll(/:[A-Za-z]+/g, '[^/]+')
    .replaceAll('*', '.+');
  return new RegExp(`^${source}$`);
}

function notAllowed(methods: string[]): ApiError {
  const allow = [...new Set(methods)].join(', ');
  return new ApiError('METHOD_NOT_ALLOWED', `This path answers to ${allow}.`, {
    headers: { allow },
  });
}
