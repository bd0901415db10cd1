import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { recordOf } from './record-of.ts';
import { maxBytes, text } from './text.ts';

/** The name of a server. */
export const serverName = /^(?!.*__)[A-Za-z0-9_-]{1,64}$/;
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/;

/** The scheme may be in a variable. */
const urlForm = /^\s*(?:[hH][tT][tT][pP][sS]?:|[\s\S]*\$\{)/;
const headerText = /^[\t\x20-\x7e\x80-\xff]*$/;

const headerValue = text()
  .check(maxBytes(limits.mcp.headerMaxBytes))
  .regex(headerText, { error: 'must be a valid header value on one line' });

const headers = recordOf({
  max: limits.mcp.headersMax,
  noun: 'headers',
  nameError: (name) => (headerName.test(name) ? null : 'is not a valid header name'),
  value: headerValue,
});

/** The URL is validated with its variables expanded: see api/runs/validate-mcp-servers.ts. */
export const mcpServer = z.strictObject({
  type: z.enum(['http', 'sse'], { error: 'must be http or sse; stdio servers are not supported' }),
  url: text().min(1),
  headers: headers.optional(),
});

const describedHeaders = {
  type: 'object',
  maxProperties: limits.mcp.headersMax,
  propertyNames: { pattern: headerName.source },
  additionalProperties: {
    type: 'string',
    maxLength: limits.mcp.headerMaxBytes,
    pattern: headerText.source,
  },
};

/** A server in the OpenAPI document. */
export const describedServer: Record<string, unknown> = {
  type: 'object',
  properties: {
    type: { type: 'string', enum: ['http', 'sse'] },
    url: { type: 'string', pattern: urlForm.source },
    headers: describedHeaders,
  },
  required: ['type', 'url'],
  additionalProperties: false,
};

/** New headers of a known server. */
export const describedRotation: Record<string, unknown> = {
  type: 'object',
  properties: { headers: describedHeaders },
  required: ['headers'],
  additionalProperties: false,
};

const { serversMax, serversMaxBytes } = limits.mcp;

export const mcpServers = recordOf({
  max: serversMax,
  noun: 'servers',
  nameError: (name) =>
    serverName.test(name)
      ? null
      : 'a server name must have 1 to 64 letters, digits, dashes and underscores, without two consecutive underscores',
  value: mcpServer,
})
  .refine((servers) => Buffer.byteLength(JSON.stringify(servers)) <= serversMaxBytes, {
    error: `must be at most ${serversMaxBytes} bytes of JSON`,
  })
  .meta({
    description:
      'MCP servers for this run only, over `http` or `sse`. TLS is required except for localhost, which ' +
      'is the sandbox. `${NAME}` in a URL or a header value is replaced with the variable of `env`, ' +
      'which must be set. A URL has no credentials. Write-only. Not together with an idempotency key. ' +
      `At most ${serversMaxBytes} bytes of JSON.`,
    maxProperties: serversMax,
    propertyNames: { pattern: serverName.source },
    additionalProperties: describedServer,
  });
