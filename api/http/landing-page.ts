import type { App } from '../app-types.ts';
import { forAnyone } from '../auth/callers.ts';
import type { ApiDeps } from '../deps.ts';
import { publicPath } from './public-path.ts';

type LinkDeps = Pick<ApiDeps, 'publicUrl' | 'temporalUiUrl'>;

/**
 * `GET /`: links to the parts of the service, as HTML for browsers and as JSON for other clients.
 */
export function landingPage(app: App, deps: LinkDeps): void {
  const config = forAnyone;
  const schema = { hide: true };
  const { origin } = new URL(deps.publicUrl);
  const links = Object.fromEntries(
    serviceLinks(deps).map(({ name, href }) => [name, new URL(href, origin).href]),
  );
  const html = page(deps);
  app.get('/', { config, schema }, async (request, reply) => {
    reply.header('vary', 'Accept');
    if (!acceptsHtml(request.headers.accept)) return { data: { links } };
    return reply.headers(pageHeaders).send(html);
  });
}

/** A list of links for the end of a page. */
export function linkList(deps: LinkDeps): string {
  const items = serviceLinks(deps).map(
    ({ href, title }) => `<li><a href="${escaped(href)}">${title}</a>`,
  );
  return `<ul>\n${items.join('\n')}\n</ul>`;
}

function serviceLinks({ publicUrl, temporalUiUrl }: LinkDeps) {
  const path = (to: string) => publicPath(publicUrl, to);
  return [
    { name: 'openapi', href: path('/api/v1/openapi.json'), title: 'OpenAPI description' },
    { name: 'postman', href: path('/api/v1/postman.json'), title: 'Postman collection' },
    { name: 'client', href: path('/client.tgz'), title: 'Client for TypeScript' },
    { name: 'cli', href: path('/cli.tgz'), title: 'Command line' },
    { name: 'readiness', href: path('/readyz'), title: 'Readiness' },
    { name: 'signIn', href: path('/sign-in'), title: 'Operator sign-in' },
    ...(temporalUiUrl === null
      ? []
      : [{ name: 'temporalUi', href: temporalUiUrl, title: 'Temporal UI' }]),
  ];
}

const page = (deps: LinkDeps) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Flowrun</title>
<h1>Flowrun</h1>
<p>The API is at <code>${escaped(deps.publicUrl)}/api/v1</code> and needs an API key.</p>
${linkList(deps)}
</html>
`;

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

const acceptsHtml = (accept: string | undefined): boolean => /\btext\/html\b/i.test(accept ?? '');

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
