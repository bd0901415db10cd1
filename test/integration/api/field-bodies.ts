import { many, type Refused, type Taken } from './server-bodies.ts';

const kiB = 1024;
/** That many bytes of names and values. */
function envOf(bytes: number): Record<string, string> {
  const full = many(8, 'V', 'x'.repeat(31 * kiB)) as Record<string, string>;
  const used = 8 * (2 + 31 * kiB);
  return { ...full, L: 'x'.repeat(bytes - used - 1) };
}
const tools = (...disallowedTools: unknown[]) => ({ disallowedTools });
/** A schema of exactly that many bytes. */
function schemaOf(bytes: number): object {
  const bare = JSON.stringify({ type: 'object', description: '' }).length;
  return { type: 'object', description: 'x'.repeat(bytes - bare) };
}

const reserved = ['CLAUDE_X', 'ANTHROPIC_API_KEY', 'FLOW_CTX_A', 'LD_PRELOAD', 'DYLD_LIB'];
const reservedNames = ['PATH', 'HOME', 'NODE_OPTIONS', 'NODE_PATH', 'SIGNED_TOKEN'];

/** Rejected bodies with their errors. */
export const refusedFields: Refused[] = [
  ['another mode', { mcpMode: 'add' }, 'body.mcpMode'],
  ['100 001 characters of prompt', { appendSystemPrompt: '😀'.repeat(100_001) }, 'appendSystemPr'],
  ['NUL in what is appended', { appendSystemPrompt: 'a\0' }, 'body.appendSystemPrompt'],
  ['201 tools', tools(...Array(201).fill('Bash')), 'body.disallowedTools'],
  ['a tool of 257', tools(`T${'x'.repeat(256)}`), 'body.disallowedTools.0'],
  ['a tool that is no text', tools('Bash', 7), 'body.disallowedTools.1'],
  ['an empty tool', tools(''), 'body.disallowedTools.0'],
  ['a tool that reads like a flag', tools('--mcp-config'), 'body.disallowedTools.0'],
  ['two tools in one', tools('Bash,Read'), 'body.disallowedTools.0'],
  ['two tools with a space', tools('Bash Read'), 'body.disallowedTools.0'],
  ['a specifier that is not closed', tools('Bash(git:*'), 'body.disallowedTools.0'],
  ['a specifier that opens twice', tools('Bash(git(:*)'), 'body.disallowedTools.0'],
  ['a specifier that closes early', tools('Bash(a)b(c)'), 'body.disallowedTools.0'],
  ['an empty specifier', tools('Bash()'), 'body.disallowedTools.0'],
  ['a specifier that the agent cuts in two', tools('Read(a/(b)/c d/**)'), 'disallowedTools.0'],
  ['another one', tools('Bash(echo (x), y)'), 'body.disallowedTools.0'],
  ...[...reserved, ...reservedNames, 'SESSION_ID', 'MAIN_BACKEND_URL'].map(
    (name): Refused => [
      `the variable ${name}`,
      { env: { A: '', [name]: 'x' } },
      `body.env.${name}`,
    ],
  ),
  ['a variable that begins with a digit', { env: { '1A': 'x' } }, 'body.env.1A'],
  ['a variable with a dash', { env: { 'A-B': 'x' } }, 'body.env.A-B'],
  ['a variable without a name', { env: { '': 'x' } }, 'body.env.'],
  ['a variable that is no text', { env: { A: 1 } }, 'body.env.A'],
  ['NUL in a variable', { env: { A: 'a\0b' } }, 'body.env.A'],
  ['a variable of 257 characters', { env: { ['A'.repeat(257)]: '' } }, 'at most 256 characters'],
  ['101 variables', { env: many(101, 'V', '') }, 'at most 100 variables'],
  ['a value of 32 KiB and 1', { env: { A: 'é'.repeat(16 * kiB) + 'x' } }, 'body.env.A'],
  ['256 KiB and 1 of variables', { env: envOf(256 * kiB + 1) }, 'body.env: must be at most'],
  ['a time of 0', { timeoutSeconds: 0 }, 'body.timeoutSeconds'],
  ['a time of a day and a second', { timeoutSeconds: 86_401 }, 'body.timeoutSeconds'],
  ['half a second', { timeoutSeconds: 0.5 }, 'body.timeoutSeconds'],
  ['no turn', { maxTurns: 0 }, 'body.maxTurns'],
  ['1001 turns', { maxTurns: 1_001 }, 'body.maxTurns'],
  ['a budget below a cent', { maxBudgetUsd: 0.009 }, 'body.maxBudgetUsd'],
  ['a budget of more than 10 000', { maxBudgetUsd: 10_000.01 }, 'body.maxBudgetUsd'],
  ['a budget that is a text', { maxBudgetUsd: '1' }, 'body.maxBudgetUsd'],
  ['a model that reads like a flag', { model: '--settings' }, 'body.model'],
  ['an empty model', { model: '' }, 'body.model'],
  ['a model of 101', { model: 'm'.repeat(101) }, 'body.model'],
  ['a schema that is none', { outputSchema: { type: 'object', required: 'a' } }, 'outputSchema'],
  ['a schema of another type', { outputSchema: { type: 'array' } }, 'must be of type object'],
  ['a schema that is a text', { outputSchema: '{}' }, 'body.outputSchema'],
  [
    'a schema with an unresolvable reference',
    { outputSchema: { type: 'object', properties: { a: { $ref: '#/nope' } } } },
    'has an unresolvable $ref #/nope',
  ],
  [
    'a schema with an unknown keyword',
    { outputSchema: { type: 'object', properties: { a: { prefixItems: [] } } } },
    'additional properties (prefixItems)',
  ],
  [
    'a schema with an invalid pattern',
    { outputSchema: { type: 'object', properties: { a: { pattern: '(' } } } },
    '/properties/a/pattern must match format',
  ],
  ['a schema of 64 KiB and 1', { outputSchema: schemaOf(64 * kiB + 1) }, 'at most 65536 bytes'],
];

/** Valid bodies at a limit or of an unusual form. */
export const takenFields: Taken[] = [
  ['replace', { mcpMode: 'replace' }],
  ['100 000 characters to append', { appendSystemPrompt: '😀'.repeat(100_000) }],
  ['nothing to append', { appendSystemPrompt: '' }],
  ['200 tools', tools(...Array.from({ length: 200 }, (_, i) => `Tool${i}`))],
  ['a tool of 256', tools(`Bash(${'x'.repeat(250)})`)],
  [
    'tools of every form',
    tools('Bash', 'mcp__a__b', 'mcp__a__*', 'Bash(git:*)', 'Read(a b/(c, d)/**)'),
  ],
  ['100 variables', { env: many(100, 'V', '') }],
  ['a value of 32 KiB', { env: { A: 'é'.repeat(16 * kiB) } }],
  ['256 KiB of variables', { env: envOf(256 * kiB) }],
  ['a variable of 256 characters', { env: { ['A'.repeat(256)]: '' } }],
  [
    'variables with almost reserved names',
    { env: { CLAUDE: '', path: '', MY_FLOW_: '', HOMEPAGE: '' } },
  ],
  ['a second', { timeoutSeconds: 1 }],
  ['a day', { timeoutSeconds: 86_400 }],
  ['one turn', { maxTurns: 1 }],
  ['1000 turns', { maxTurns: 1_000 }],
  ['a cent', { maxBudgetUsd: 0.01 }],
  ['10 000 dollars', { maxBudgetUsd: 10_000 }],
  ['a model of 100', { model: 'm'.repeat(100) }],
  ['a model of a marketplace', { model: 'us.anthropic.claude-x-4:0[1m]' }],
  ['a schema of 64 KiB', { outputSchema: schemaOf(64 * kiB) }],
  [
    'a schema of many words',
    {
      outputSchema: {
        type: 'object',
        title: 'T',
        properties: {
          $ref: { type: ['string', 'null'], format: 'email', pattern: '^\\p{L}+$' },
          b: { $ref: '#/$defs/x~1y' },
          c: { type: 'array', items: { $ref: '#' }, examples: [[]] },
        },
        required: ['b'],
        additionalProperties: false,
        $defs: { 'x/y': { enum: [1, null, { a: 1 }], nullable: true, deprecated: true } },
      },
    },
  ],
  [
    'a schema of a later draft without its features',
    { outputSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' } },
  ],
];
