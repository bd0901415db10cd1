import swagger, { type SwaggerTransformObject } from '@fastify/swagger';
import type { RouteOptions } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { App } from '../app-types.ts';
import { baseDocument } from './document.ts';
import { type Document, postprocess } from './postprocess.ts';
import { runFinishedWebhook } from './webhook.ts';

/** Makes the description out of the schemas with which the routes check; to be called before them. */
export async function registerOpenApi(app: App, publicUrl: string): Promise<void> {
  await app.register(swagger, {
    openapi: { ...baseDocument, servers: [{ url: publicUrl }] },
    transform: (given) => {
      const { schema, url } = jsonSchemaTransform(given);
      return { schema: { ...schema, ...routeAccess(given.route) }, url };
    },
    transformObject: (given) => {
      const document = jsonSchemaTransformObject(given) as Document; // plain JSON by then
      const polished = postprocess({
        ...document,
        webhooks: { 'run.finished': runFinishedWebhook },
      });
      return polished as ReturnType<SwaggerTransformObject>; // as it came in: an OpenAPI document
    },
  });
}

/** Who may call, and whether it is part of the interface at all. */
function routeAccess({ url, config, schema }: RouteOptions) {
  const hide = !url.startsWith('/api/v1/') || schema?.hide === true;
  if (config?.isPublic === true) return { hide, security: [] };
  if (config?.acceptsKeyInQuery === true)
    return { hide, security: [{ apiKey: [] }, { keyInQuery: [] }] };
  return { hide };
}
