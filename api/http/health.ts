import type { App } from '../app-types.ts';
import { forAnyone } from '../auth/callers.ts';
import type { ApiDeps } from '../deps.ts';
import { createReadiness } from './readiness.ts';

/** `/healthz`: the process is alive. `/readyz`: the state of each dependency, by name. */
export function health(app: App, deps: ApiDeps): void {
  const config = { ...forAnyone, isProbe: true } as const;
  const schema = { hide: true };
  const readiness = createReadiness(deps);
  app.get('/healthz', { config, schema }, async () => ({ data: { status: 'ok' } }));

  app.get('/readyz', { config, schema }, async (_request, reply) => {
    const data = await readiness();
    reply.code(data.status === 'ok' ? 200 : 503);
    return { data };
  });
}
