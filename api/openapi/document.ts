/** What the description says before it comes to the paths. */
export const baseDocument = {
  openapi: '3.1.0' as const,
  info: {
    title: 'Agent Flow Run Service',
    version: '1.0.0',
    license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    description: [
      'Starts configured agent flows in isolated containers, shows them live, and tells a webhook when they end.',
      'Every success is `{data}`, every error `{error: {code, message}}`; `code` is stable, `message` is for people.',
      'A list is continued where its `Link` header with `rel="next"` leads.',
      'Fields, headers, events and codes may be added at any time; clients pass over what they do not know.',
    ].join('\n\n'),
  },
  tags: [
    { name: 'Runs', description: 'Start, watch, end.' },
    { name: 'Files', description: 'What a run works on and leaves behind.' },
    { name: 'Sessions', description: 'Conversations with a flow.' },
    { name: 'Flows', description: 'What can be run.' },
  ],
  components: {
    securitySchemes: {
      apiKey: {
        type: 'http' as const,
        scheme: 'bearer',
        description: 'An API key of a project: `Authorization: Bearer frs_…`.',
      },
      keyInQuery: {
        type: 'apiKey' as const,
        in: 'query',
        name: 'api_key',
        description:
          'For an EventSource, which cannot set headers. Addresses get logged: prefer the header.',
      },
    },
  },
  security: [{ apiKey: [] }],
};

/** The tag of an operation is where its path leads. */
export function tagOf(path: string): string {
  if (path.includes('/files')) return 'Files';
  if (/\/(sessions|chat)\b/.test(path)) return 'Sessions';
  return /\/runs\b/.test(path) ? 'Runs' : 'Flows';
}
