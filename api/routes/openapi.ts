import type { App } from '../app-types.ts';

/** The description of this interface, made from the schemas that its routes check with. */
export function openapi(app: App): void {
  const config = { isPublic: true } as const;
  app.get('/api/v1/openapi.json', { config, schema: { hide: true } }, async () => app.swagger());
}
