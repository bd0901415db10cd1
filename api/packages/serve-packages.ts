import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app-types.ts';
import { forAnyone } from '../auth/callers.ts';
import { notFound } from '../errors.ts';
import { isNotModified } from '../files/not-modified.ts';
import { publicPath } from '../http/public-path.ts';
import { readPackage } from './read-package.ts';

/** The packages by name, with the file extension that npm or pip expects. */
const packages = { client: '.tgz', cli: '.tgz', 'client-python': '.tar.gz' } as const;

type PackageName = keyof typeof packages;

/** Serves the TypeScript client and the command line for npm, and the Python client for pip. */
export function servePackages(app: App, publicUrl: string): void {
  for (const name of Object.keys(packages)) servePackage(app, publicUrl, name as PackageName);
}

/**
 * Serves a package under a fixed name and under a name that no other build has. The package is read
 * at the first request, because a description of the API needs none.
 */
function servePackage(app: App, publicUrl: string, name: PackageName): void {
  let known: ReturnType<typeof readPackage> | undefined;
  const current = () => (known ??= readPackage(name));
  const end = packages[name];
  const config = forAnyone;
  const schema = { hide: true };

  app.get(`/${name}${end}`, { config, schema }, async (request, reply) => {
    const path = publicPath(publicUrl, `/${name}-${current().build}${end}`);
    reply.headers({ 'cache-control': 'no-cache', 'content-location': path });
    return send(request, reply);
  });
  app.get<{ Params: { build: string } }>(
    `/${name}-:build${end}`,
    { config, schema },
    async (request, reply) => {
      if (request.params.build !== current().build) throw notFound('Package');
      reply.header('cache-control', 'public, max-age=31536000, immutable');
      return send(request, reply);
    },
  );

  function send(request: FastifyRequest, reply: FastifyReply) {
    const { archive, build } = current();
    const etag = `"${build}"`;
    reply.header('etag', etag);
    if (isNotModified(request, etag)) return reply.code(304).send(null);
    return reply.type('application/gzip').send(archive);
  }
}
