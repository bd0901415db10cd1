import swagger, { type SwaggerTransformObject } from '@fastify/swagger';
import type { RouteOptions } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { App } from '../app-types.ts';
import { baseDocument } from './document.ts';
import { type Document, postprocess } from './postprocess.ts';
import { webhooks } from './webhook.ts';

/**
 * Generates the OpenAPI document from the schemas of the routes. Call before the routes are added.
 */
export async function registerOpenApi(app: App, publicUrl: string): Promise<void> {
  await app.register(swagger, {
    openapi: { ...baseDocument, servers: [{ url: publicUrl }] },
    transform: (input) => {
      const { schema, url } = jsonSchemaTransform(input);
      return { schema: { ...schema, ...routeAccess(input.route) }, url };
    },
    transformObject: (input) => {
      const document = jsonSchemaTransformObject(input) as Document; // plain JSON by then
      const processed = postprocess({ ...document, webhooks });
      return processed as ReturnType<SwaggerTransformObject>; // still an OpenAPI document
    },
  });
}

/** The authentication of a route. The default is an API key. */
function routeAccess({ config = {} }: RouteOptions) {
  const { callers = [], acceptsKeyInQuery } = config;
  if (callers.includes('anyone')) return { security: [] };
  if (callers.includes('operator-token'))
    return { security: [{ operatorSession: [] }, { operatorToken: [] }] };
  if (callers.includes('operator')) return { security: [{ operatorSession: [] }] };
  const security = [
    { apiKey: [] },
    ...(callers.includes('run-token') ? [{ runToken: [] }] : []),
    ...(acceptsKeyInQuery === true ? [{ keyInQuery: [] }] : []),
  ];
  return security.length === 1 ? {} : { security };
}
