import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';
import { forAnyone } from '../auth/callers.ts';
import { notFound } from '../errors.ts';
import { isNotModified } from '../files/not-modified.ts';
import { publicPath } from '../http/public-path.ts';
import { readClientPackage } from './client-package.ts';

/**
 * Serves the TypeScript client as an npm package, under a fixed name and under a name that no other
 * build has. The package is read at the first request, because a description of the API needs none.
 */
export function serveClient(app: App, publicUrl: string): void {
  let known: ReturnType<typeof readClientPackage> | undefined;
  const client = () => (known ??= readClientPackage());
  const config = forAnyone;
  const schema = { hide: true };

  app.get('/client.tgz', { config, schema }, async (request, reply) => {
    const path = publicPath(publicUrl, `/client-${client().build}.tgz`);
    reply.headers({ 'cache-control': 'no-cache', 'content-location': path });
    return send(request, reply);
  });
  app.get<{ Params: { build: string } }>(
    '/client-:build.tgz',
    { config, schema },
    async (request, reply) => {
      if (request.params.build !== client().build) throw notFound('Client');
      reply.header('cache-control', 'public, max-age=31536000, immutable');
      return send(request, reply);
    },
  );

  function send(request: FastifyRequest, reply: FastifyReply) {
    const { archive, build } = client();
    const etag = `"${build}"`;
    reply.header('etag', etag);
    if (isNotModified(request, etag)) return reply.code(304).send(null);
    return reply.type('application/gzip').send(archive);
  }
}
