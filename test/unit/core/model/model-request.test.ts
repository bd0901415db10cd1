import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../core/json.ts';
import { readModelRequest } from '../../../../core/model/model-request.ts';
import { agentRequests } from '../../../support/agent-requests.ts';

const plain = { model: 'm', max_tokens: 1, messages: [] };
const read = (fields: JsonObject) => readModelRequest({ ...plain, ...fields }, 'limited');
const said = (...content: unknown[]): JsonObject => ({ messages: [{ role: 'user', content }] });
const url = { type: 'url', url: 'https://canary.example/?d=secret' };
const file = { type: 'file', file_id: 'file_1' };

/** The refused field of each, by what it would make the model API do. */
const forbidden: [what: string, field: string, body: JsonObject][] = [
  ['connects to an MCP server', 'mcp_servers', { mcp_servers: [{ type: 'url', url: url.url }] }],
  ['runs in a container', 'container', { container: 'container_1' }],
  ['answers by other models', 'fallbacks', { fallbacks: [{ model: 'another' }] }],
  ['does something unknown', 'unheard_of', { unheard_of: null }],
  [
    'searches the web',
    'tools.1.type',
    {
      tools: [
        { name: 'a', input_schema: {} },
        { type: 'web_search_20250305', name: 'web_search' },
      ],
    },
  ],
  ...['web_fetch_20250910', 'code_execution_20250825', 'mcp_toolset', 'tool_search_tool_bm25'].map(
    (type): [string, string, JsonObject] => [`runs ${type}`, 'tools.0.type', { tools: [{ type }] }],
  ),
  ['fetches a picture', 'messages.0.content.0.source.type', said({ type: 'image', source: url })],
  [
    'fetches a document',
    'messages.0.content.0.source.type',
    said({ type: 'document', source: url }),
  ],
  [
    'reads a stored file',
    'messages.0.content.0.source.type',
    said({ type: 'image', source: file }),
  ],
  [
    'fetches within a tool result',
    'messages.0.content.1.content.0.source.type',
    said(
      { type: 'text', text: 'a' },
      { type: 'tool_result', tool_use_id: 'x', content: [{ type: 'image', source: url }] },
    ),
  ],
  [
    'fetches within the content of a document',
    'messages.0.content.0.source.content.0.source.type',
    said({
      type: 'document',
      source: { type: 'content', content: [{ type: 'image', source: url }] },
    }),
  ],
  [
    'fetches for the system prompt',
    'system.0.source.type',
    { system: [{ type: 'image', source: url }] },
  ],
  [
    'reads a stored file by an inline source',
    'messages.0.content.0.source.file_id',
    said({ type: 'image', source: { type: 'base64', data: '', file_id: 'file_1' } }),
  ],
  [
    'puts a file into a container',
    'messages.0.content.0.type',
    said({ type: 'container_upload', file_id: 'file_1' }),
  ],
  [
    'continues a server’s tool call',
    'messages.0.content.0.type',
    said({ type: 'server_tool_use', id: 'a', name: 'web_search', input: {} }),
  ],
  [
    'reads a stored file beside the content',
    'messages.0.content.0.cache_control.files',
    said({ type: 'text', text: '', cache_control: { files: [{ file_id: 'file_1' }] } }),
  ],
  [
    'gets a server’s tool in the conversation',
    'messages.0.content.0.tool.definition.type',
    said({
      type: 'tool_addition',
      tool: { type: 'tool_definition', definition: { type: 'web_fetch_20250910' } },
    }),
  ],
  [
    'gets a server’s tools with a result',
    'messages.0.content.0.tools.0.type',
    said({ type: 'tool_result', tools: [{ type: 'web_fetch_20250910' }] }),
  ],
  ['gets tools with a message', 'messages.0.tools', { messages: [{ role: 'system', tools: [] }] }],
  ['gets a server’s tool as an object', 'tools', { tools: { type: 'web_search_20250305' } }],
  [
    'gets content as an object',
    'messages.0.content',
    { messages: [{ role: 'user', content: { type: 'image', source: url } }] },
  ],
  ['gets messages as an object', 'messages', { messages: { 0: { role: 'user', content: [] } } }],
];

describe('a request', () => {
  test.each(forbidden)('that %s is refused at %s', (_what, field, body) => {
    const answer = read(body);
    expect(answer).toMatchObject({ outcome: 'refused', refusal: { field } });
    if (answer.outcome === 'refused') expect(answer.refusal.message).toContain(`${field}: `);
  });

  test.each(forbidden)('that %s is read with the policy open', (_what, _field, body) => {
    expect(readModelRequest({ ...plain, ...body }, 'open')).toMatchObject({ outcome: 'read' });
  });

  test('of the agent is read, except its web search', () => {
    expect(agentRequests.length).toBeGreaterThan(30);
    const refused = agentRequests.filter(
      ({ body }) => readModelRequest(body, 'none').outcome === 'refused',
    );
    expect(refused.map(({ scenario }) => scenario)).toEqual(['websearch']);
  });

  test('may contain anything in the input of a tool call, and in the schema of a tool', () => {
    const anything = { ...{ mcp_servers: [], file_id: 'x', source: url }, type: 'file' };
    const schema = { type: 'object', properties: { container: { type: 'string' } } };
    const body = {
      ...said({ type: 'tool_use', id: 'a', name: 'b', input: anything }),
      tools: [{ name: 'b', input_schema: schema, input_examples: [anything] }],
    };
    expect(read(body)).toMatchObject({ outcome: 'read' });
  });

  test('is refused if the `input` of another block contains a forbidden field', () => {
    const body = said({ type: 'text', text: '', input: { file_id: 'x' } });
    expect(read(body)).toMatchObject({ refusal: { field: 'messages.0.content.0.input.file_id' } });
  });

  test('may use the tools that the agent runs itself', () => {
    const types = ['custom', null, 'bash_20250124', 'text_editor_20250728', 'memory_20250818'];
    expect(read({ tools: types.map((type) => ({ type, name: 'a' })) }).outcome).toBe('read');
  });

  test('may have content in each inline form', () => {
    const body = {
      ...said(
        { type: 'text', text: 'a', citations: [{ type: 'char_location', file_id: null }] },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: '' } },
        { type: 'search_result', source: 'https://a.example', title: 'a', content: [] },
        { type: 'tool_addition', tool: { type: 'tool_reference', name: 'a' } },
      ),
      system: 'plain',
    };
    expect(read(body)).toMatchObject({ outcome: 'read' });
  });
});

describe('the fields that determine the cost', () => {
  test('are read', () => {
    expect(read({ max_tokens: 7, stream: true })).toMatchObject({
      outcome: 'read',
      request: { model: 'm', maxTokens: 7, stream: true, fields: { ...plain, max_tokens: 7 } },
    });
    expect(readModelRequest({ model: 'm' }, 'none')).toMatchObject({
      request: { maxTokens: null, stream: false },
    });
  });

  test.each([
    ['model', ['', 7, null, 'x'.repeat(257)]],
    ['max_tokens', [0, -1, 1.5, '1', 2 ** 53]],
    ['stream', ['true', 1]],
  ])('%s is refused if it is something else', (field, values) => {
    for (const value of values) {
      const answer = readModelRequest({ ...plain, [field]: value }, 'open');
      expect(answer).toMatchObject({ outcome: 'refused', refusal: { field } });
    }
  });

  test('may be as long and as large as allowed', () => {
    const fields = { model: 'x'.repeat(256), max_tokens: Number.MAX_SAFE_INTEGER };
    expect(read(fields)).toMatchObject({ outcome: 'read' });
  });
});

test('a refusal shortens what it repeats', () => {
  const answer = read({ ['x'.repeat(5_000)]: 1, tools: [] });
  expect(JSON.stringify(answer).length).toBeLessThan(500);
  const type = 'y'.repeat(5_000);
  expect(JSON.stringify(read({ tools: [{ type }] })).length).toBeLessThan(500);
});
