// The API without dependencies. Suffices to read its routes and their descriptions.

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
    presenceEveryMs: limits.presence.everyMs,
    temporalUiUrl: null,
    temporalNamespace: 'default',
    offlineModel: false,
    logger: createLogger({ level: 'silent', name: 'api' }),
    metrics: noopMetrics,
    now: () => new Date(),
    newId: randomUUID,
  };
  const app = await buildApp(
    new Proxy(deps, {
      get: (known, name): unknown =>
        name in known ? Reflect.get(known, name) : placeholder(String(name)),
    }) as ApiDeps, // dependencies that are not stubbed throw when they are used
  );
  await app.ready();
  return app;
}

/** A placeholder whose members can be read and passed on. A call throws. */
function placeholder(path: string): unknown {
  const use = () => {
    throw new Error(`${path} was called, but this API has no dependencies`);
  };
  return new Proxy(use, { get: (_use, name) => placeholder(`${path}.${String(name)}`) });
}
