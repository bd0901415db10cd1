/** The OpenAPI document without its paths. */
export const baseDocument = {
  openapi: '3.1.0' as const,
  info: {
    title: 'Agent Flow Run Service',
    version: '1.0.0',
    license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    description: [
      'Runs configured agent flows in isolated containers, streams them live, and calls a webhook when they end.',
      'Every success is `{data}`, every error `{error: {code, message}}`. `code` is stable; `message` is for people.',
      'The next page of a list is at the URL in its `Link` header with `rel="next"`.',
      'Fields, headers, events and codes may be added at any time. Clients must ignore unknown ones.',
    ].join('\n\n'),
  },
  tags: [
    { name: 'Runs', description: 'Start, watch and stop runs.' },
    { name: 'Files', description: 'The files of runs and of flows.' },
    { name: 'Sessions', description: 'Conversations with a flow.' },
    { name: 'Flows', description: 'The configured flows.' },
    {
      name: 'Operators',
      description: 'Administration of all projects. An API key is not accepted here.',
    },
  ],
  components: {
    securitySchemes: {
      apiKey: {
        type: 'http' as const,
        scheme: 'bearer',
        description: 'An API key of a project: `Authorization: Bearer frs_…`.',
      },
      runToken: {
        type: 'http' as const,
        scheme: 'bearer',
        description: 'A token for one run, from `createRunToken`: `Authorization: Bearer frt_…`.',
      },
      keyInQuery: {
        type: 'apiKey' as const,
        in: 'query',
        name: 'api_key',
        description:
          'An API key or a run token, for an EventSource, which cannot set headers. URLs are often logged, so prefer the header, or a run token.',
      },
      operatorSession: {
        type: 'apiKey' as const,
        in: 'cookie',
        name: 'flowrun_operator',
        description:
          'The cookie that `signIn` sets. A write must also carry the `Origin` of the service. If the service is below a path, the name ends with that path in base64url.',
      },
      operatorToken: {
        type: 'http' as const,
        scheme: 'bearer',
        description: 'An operator token: `Authorization: Bearer fro_…`. It needs no `Origin`.',
      },
    },
  },
  security: [{ apiKey: [] }],
};

/** The tag of an operation, from its path. */
export function tagOf(path: string): string {
  if (path === '/mcp') return 'Flows';
  if (!path.startsWith('/api/v1/')) return 'Operators';
  if (/\/(files|changes)\b/.test(path)) return 'Files';
  if (/\/(sessions|chat)\b/.test(path)) return 'Sessions';
  return /\/runs\b/.test(path) ? 'Runs' : 'Flows';
}
