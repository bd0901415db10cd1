import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { App } from '../app-types.ts';
import { forAnyone } from '../auth/callers.ts';
import { newFlow } from '../operators/flow-fields.ts';
import { noQuery } from '../runs/run-schema.ts';
import { mcpServer } from '../schemas/mcp-servers.ts';

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/);

/** The front matter of a flow in a file. Its secrets are names of environment variables. */
const frontMatter = newFlow
  .partial({ name: true })
  .extend({
    env: z
      .union([z.array(variable), z.record(z.string(), variable)])
      .optional()
      .meta({
        description:
          'The variables of the flow: a list of environment variables, or names with the ' +
          'environment variables that have their values. Values are never in the file.',
      }),
    mcpServers: z
      .record(z.string(), z.union([variable, mcpServer]))
      .optional()
      .meta({
        description:
          'MCP servers by name. `${NAME}` in a URL or a header is replaced with a variable of ' +
          '`env`. In place of a definition, an environment variable can have it as JSON.',
      }),
  })
  .meta({ title: 'Front matter of a Flowrun flow' });

/** The JSON Schema that editors complete and check front matter with. */
export const makeFlowFileSchema = (): object => z.toJSONSchema(frontMatter, { io: 'input' });

/** Serves the schema, which `npm run describe` generates. */
export function flowFileSchema(app: App): void {
  const document = readFileSync(new URL('../flow-file.schema.json', import.meta.url));
  const schema = { hide: true, querystring: noQuery };
  app.get('/api/v1/flow-file.schema.json', { config: forAnyone, schema }, async (_request, reply) =>
    reply.type('application/schema+json; charset=utf-8').send(document),
  );
}
