import { permitsAction } from '../../core/keys/key-scopes.ts';
import type { App } from '../app-types.ts';
import { outOfScope } from '../errors.ts';

/** Runs after the rate limit, so that refused calls take a token too. */
export function checkScopes(app: App): void {
  app.addHook('onRequest', async ({ caller, routeOptions, is404 }) => {
    if (caller === null || is404) return;
    const { scopes = [] } = routeOptions.config;
    if (!permitsAction(caller.key.scopes, scopes)) throw outOfScope('this call');
  });
}
