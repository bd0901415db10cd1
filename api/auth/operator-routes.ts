import type { FastifyContextConfig, FastifySchema, HTTPMethods, RouteHandlerMethod } from 'fastify';
import { z } from 'zod';
import type { App } from '../app-types.ts';
import { forOperatorAccess } from './callers.ts';

interface Options {
  config: FastifyContextConfig;
  schema: FastifySchema & { operationId: string; params: z.ZodObject; querystring: z.ZodObject };
}

/**
 * Registers routes for operators with the handlers of the routes for keys: a path below `/api/v1`
 * becomes one below `/api/projects/{projectId}`. `accessOf` limits a caller to its resources.
 */
export function forOperators(app: App): App {
  const add =
    (method: HTTPMethods) =>
    (path: string, { config, schema, ...options }: Options, handler: RouteHandlerMethod) =>
      app.route({
        ...options,
        method,
        url: path.replace('/api/v1', '/api/projects/:projectId'),
        config: configOf(config),
        schema: schemaOf(schema),
        handler,
      });
  // The features that are passed this object call no other method.
  return {
    get: add('GET'),
    post: add('POST'),
    put: add('PUT'),
    patch: add('PATCH'),
    delete: add('DELETE'),
  } as unknown as App;
}

function configOf({
  callers: _callers,
  scopes: _scopes,
  acceptsKeyInQuery: _acceptsKeyInQuery,
  ...config
}: FastifyContextConfig): FastifyContextConfig {
  return { ...config, ...forOperatorAccess, readsFlow: true };
}

function schemaOf({ operationId, params, querystring, ...schema }: Options['schema']) {
  return {
    ...schema,
    operationId: `${operationId}OfProject`,
    params: params.extend({ projectId: z.string() }),
    querystring: 'api_key' in querystring.shape ? querystring.omit({ api_key: true }) : querystring,
  };
}
