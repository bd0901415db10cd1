// The API with nothing behind it: enough to ask for its routes and what they say of themselves.

import { randomUUID } from 'node:crypto';
import { buildApp } from '../../api/app.ts';
import type { App } from '../../api/app-types.ts';
import type { ApiDeps } from '../../api/deps.ts';
import { noopMetrics } from '../../api/metrics.ts';
import { createLogger } from '../../config/logger.ts';
import { limits } from '../../core/limits.ts';

export async function buildStubApi(publicUrl: string): Promise<App> {
  const deps: Partial<ApiDeps> = {
    publicUrl,
    corsOrigins: 'any',
    isTrustedProxy: () => false,
    presenceEveryMs: limits.presenceEveryMs,
    temporalUiUrl: null,
    offlineModel: false,
    logger: createLogger({ level: 'silent', name: 'api' }),
    metrics: noopMetrics,
    now: () => new Date(),
    newId: randomUUID,
  };
  const app = await buildApp(
    new Proxy(deps, {
      get: (known, name): unknown =>
        name in known ? Reflect.get(known, name) : nothing(String(name)),
    }) as ApiDeps, // dependencies that are not stubbed throw when they are used
  );
  await app.ready();
  return app;
}

/** Can be handed on, taken apart and kept, but not used. */
function nothing(what: string): unknown {
  const use = () => {
    throw new Error(`${what} was used, and there is none behind this API`);
  };
  return new Proxy(use, { get: (_use, name) => nothing(`${what}.${String(name)}`) });
}
