import type { ApiDeps } from '../deps.ts';
import { publicPath } from './public-path.ts';

/** The URLs of the parts of the service, by name. */
export function serviceLinks({
  publicUrl,
  temporalUiUrl,
}: Pick<ApiDeps, 'publicUrl' | 'temporalUiUrl'>): Record<string, string> {
  const { origin } = new URL(publicUrl);
  const url = (path: string): string => new URL(publicPath(publicUrl, path), origin).href;
  return {
    openapi: url('/api/v1/openapi.json'),
    postman: url('/api/v1/postman.json'),
    client: url('/client.tgz'),
    clientPython: url('/client-python.tar.gz'),
    cli: url('/cli.tgz'),
    readiness: url('/readyz'),
    signIn: url('/sign-in'),
    ...(temporalUiUrl === null ? {} : { temporalUi: new URL(temporalUiUrl).href }),
  };
}
