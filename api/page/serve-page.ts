// The web page. Its files have names that change with their content, so browsers keep them. The
// first document is never kept, because it names them. It is the same at the path of every screen.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { pagePaths } from '../../core/page/page-paths.ts';
import type { App } from '../app-types.ts';
import { forAnyone } from '../auth/callers.ts';
import type { ApiDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import { publicPath } from '../http/public-path.ts';
import { serviceLinks } from '../http/service-links.ts';
import { type Encoding, encodings, readPageFiles, readPageIndex } from './page-files.ts';

type PageDeps = Pick<ApiDeps, 'publicUrl' | 'temporalUiUrl' | 'temporalNamespace' | 'offlineModel'>;

/** The files are read at the first request, because a description of the API needs none. */
export function servePage(app: App, deps: PageDeps): void {
  const config = forAnyone;
  const schema = { hide: true };
  let knownIndex: string | undefined;
  const index = () => (knownIndex ??= withSettings(readPageIndex(), deps));
  const sendIndex = (reply: FastifyReply) => reply.headers(indexHeaders).send(index());

  const { start, ...others } = pagePaths;
  app.get(start, { config, schema }, async (request, reply) => {
    reply.header('vary', 'Accept');
    if (!acceptsHtml(request.headers.accept)) return { data: { links: serviceLinks(deps) } };
    return sendIndex(reply);
  });
  for (const path of Object.values(others)) {
    app.get(path, { config: { ...config, skipsIdCheck: true }, schema }, async (_request, reply) =>
      sendIndex(reply),
    );
  }
  serveFiles(app);
}

function serveFiles(app: App): void {
  let known: ReturnType<typeof readPageFiles> | undefined;
  const files = () => (known ??= readPageFiles());
  const options = { config: forAnyone, schema: { hide: true } };
  app.get<{ Params: { file: string } }>('/assets/:file', options, async (request, reply) => {
    const file = files().get(request.params.file);
    if (file === undefined) throw notFound('File');
    const encoding = acceptedEncoding(request);
    if (encoding !== null) reply.header('content-encoding', encoding);
    reply.headers({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': file.type,
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
    });
    return reply.send(encoding === null ? file.content : file.encoded[encoding]);
  });
}

/** Brotli before gzip, because it is smaller. */
function acceptedEncoding({ headers }: FastifyRequest): Encoding | null {
  const header = headers['accept-encoding'] ?? '';
  const accepted = header.split(',').flatMap((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name];
  });
  return encodings.find((encoding) => accepted.includes(encoding)) ?? null;
}

const acceptsHtml = (accept: string | undefined): boolean => /\btext\/html\b/i.test(accept ?? '');

/** Puts the path of `PUBLIC_URL` and the settings of the page into its first document. */
function withSettings(index: string, deps: PageDeps): string {
  const { publicUrl, temporalUiUrl, temporalNamespace, offlineModel } = deps;
  const settings = { temporalUiUrl, temporalNamespace, offlineModel };
  return index
    .replace('<base href="/">', `<base href="${escaped(publicPath(publicUrl, '/'))}">`)
    .replace('content="{}"', `content="${escaped(JSON.stringify(settings))}"`);
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

/** Text from agents is on the page: it can neither run scripts nor load anything. */
const contentSecurityPolicy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:"],
  ...["connect-src 'self'", "font-src 'self'", "form-action 'self'", "base-uri 'self'"],
  ...["frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"],
].join('; ');

const indexHeaders = {
  'cache-control': 'no-store',
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
