import { isInteractionId } from '../../core/agent/interaction.ts';
import type { App } from '../app-types.ts';
import { ApiError, notFound } from '../errors.ts';

/**
 * Answers a path without a route: 405 if the path exists with other methods, else 404. The body is
 * not read before.
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
    throw methods.length === 0 ? notFound() : methodNotAllowed(methods);
  });
  app.setNotFoundHandler(() => {
    throw notFound();
  });
}

/** A malformed ID returns 404 before the body is validated. */
export function checkPathIds(app: App): void {
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.skipsIdCheck === true) return;
    for (const [name, value] of Object.entries(request.params as Record<string, string>)) {
      const resource = resources[name];
      if (resource !== undefined && !isUuid(value)) throw notFound(resource);
      if (name === 'interactionId' && !isInteractionId(value)) throw notFound('Interaction');
    }
  });
}

/** The path parameters that hold a UUID, and the resource that each identifies. */
const resources: Record<string, string> = {
  runId: 'Run',
  flowId: 'Flow',
  keyId: 'Key',
  tokenId: 'Token',
  messageId: 'Message',
  endpointId: 'Endpoint',
  eventId: 'Event',
};

export const isUuid = (value: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value);

/** A parameter matches one path segment, the star matches the rest. */
function patternOf(url: string): RegExp {
  const source = url
    .replaceAll(/[.+?^$()[\]{}|\\]/g, '\\$&')
    .replaceAll(/:[A-Za-z]+/g, '[^/]+')
    .replaceAll('*', '.+');
  return new RegExp(`^${source}$`);
}

function methodNotAllowed(methods: string[]): ApiError {
  const allow = [...new Set(methods)].join(', ');
  return new ApiError('METHOD_NOT_ALLOWED', `Method not allowed. This path supports ${allow}.`, {
    headers: { allow },
  });
}
