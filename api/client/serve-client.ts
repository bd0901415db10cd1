import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';
import { forAnyone } from '../auth/callers.ts';
import { notFound } from '../errors.ts';
import { isNotModified } from '../files/not-modified.ts';
import { publicPath } from '../http/public-path.ts';
import { readClientPackage } from './client-package.ts';

/**
 * Serves the TypeScript client as an npm package, under a fixed name and under a name that no other
 * build has.
 */
export function serveClient(app: App, publicUrl: string): void {
  const { archive, build } = readClientPackage();
  const path = publicPath(publicUrl, `/client-${build}.tgz`);
  const etag = `"${build}"`;
  const config = forAnyone;
  const schema = { hide: true };

  app.get('/client.tgz', { config, schema }, async (request, reply) => {
    reply.headers({ 'cache-control': 'no-cache', 'content-location': path, etag });
    return send(request, reply);
  });
  app.get<{ Params: { build: string } }>(
    '/client-:build.tgz',
    { config, schema },
    async (request, reply) => {
      if (request.params.build !== build) throw notFound('Client');
      reply.headers({ 'cache-control': 'public, max-age=31536000, immutable', etag });
      return send(request, reply);
    },
  );

  function send(request: FastifyRequest, reply: FastifyReply) {
    if (isNotModified(request, etag)) return reply.code(304).send(null);
    return reply.type('application/gzip').send(archive);
  }
}
