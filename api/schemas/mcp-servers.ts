import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { recordOf } from './record-of.ts';
import { maxBytes, text } from './text.ts';

const serverName = /^(?!.*__)[A-Za-z0-9_-]{1,64}$/;
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/;

const headerValue = text()
  .check(maxBytes(limits.mcpHeaderMaxBytes))
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, { error: 'must be one line that a header can carry' });

const headers = recordOf({
  max: limits.mcpHeadersMax,
  noun: 'headers',
  nameError: (name) => (headerName.test(name) ? null : 'is no name of a header'),
  value: headerValue,
});

/** Where it leads is judged with the variables put in: see api/runs/run-config.ts. */
const mcpServer = z.strictObject({
  type: z.enum(['http', 'sse'], { error: 'must be http or sse; stdio servers are not taken' }),
  url: text().min(1),
  headers: headers.optional(),
});

const { mcpServersMax, mcpServersMaxBytes } = limits;

export const mcpServers = recordOf({
  max: mcpServersMax,
  noun: 'servers',
  nameError: (name) =>
    serverName.test(name)
      ? null
      : 'a server is named by 1 to 64 letters, digits, dashes and underscores, no two underscores together',
  value: mcpServer,
})
  .refine((servers) => Buffer.byteLength(JSON.stringify(servers)) <= mcpServersMaxBytes, {
    error: `must be at most ${mcpServersMaxBytes} bytes of JSON`,
  })
  .meta({
    description:
      'MCP servers of this run alone, over http or sse; https but for the sandbox itself. ' +
      '`${NAME}` in an address or a header stands for a variable of `env`. A name holds no two underscores together. Write-only, ' +
      `at most ${mcpServersMaxBytes} bytes of JSON.`,
    maxProperties: mcpServersMax,
    propertyNames: { pattern: '^[A-Za-z0-9_-]{1,64}$' },
    additionalProperties: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['http', 'sse'] },
        url: { type: 'string' },
        headers: {
          type: 'object',
          maxProperties: limits.mcpHeadersMax,
          additionalProperties: { type: 'string' },
        },
      },
      required: ['type', 'url'],
      additionalProperties: false,
    },
  });
