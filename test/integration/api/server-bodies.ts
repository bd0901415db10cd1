export type Refused = [what: string, body: object, says: string];
export type Taken = [what: string, body: object];

export const server = { type: 'http', url: 'https://mcp.example/x' };
export const one = (given: object) => ({ mcpServers: { docs: { ...server, ...given } } });
const url = (address: string) => one({ url: address });
export const many = (count: number, prefix: string, value: unknown): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, value]));
const kiB = 1024;
/** That many bytes of JSON, in headers of permitted length. */
function serversOf(bytes: number) {
  const headers = many(7, 'h', 'x'.repeat(8 * kiB));
  const bare = JSON.stringify({ docs: { ...server, headers: { ...headers, last: '' } } }).length;
  return one({ headers: { ...headers, last: 'x'.repeat(bytes - bare) } });
}
/** Rejected bodies with their errors. */
export const refusedServers: Refused[] = [
  ['a stdio server', one({ type: 'stdio' }), 'body.mcpServers.docs.type: must be http or sse'],
  ['a server without a type', { mcpServers: { docs: { url: server.url } } }, 'docs.type'],
  ['a command', one({ command: 'sh' }), 'body.mcpServers.docs.command: unknown field'],
  ['arguments', one({ args: [] }), 'body.mcpServers.docs.args: unknown field'],
  ['another transport', one({ type: 'ws' }), 'docs.type'],
  ['a server that is no object', { mcpServers: { docs: 'x' } }, 'body.mcpServers.docs'],
  ['servers that are a list', { mcpServers: [server] }, 'body.mcpServers'],
  ['a server without an address', { mcpServers: { docs: { type: 'sse' } } }, 'docs.url'],
  ['plain http', url('http://mcp.example/'), 'docs.url: must be https'],
  ['plain http by a name like localhost', url('http://localhost.example/'), 'docs.url'],
  ['plain http to a private address', url('http://10.0.0.1/'), 'docs.url'],
  ['plain http to a mapped loopback', url('http://[::ffff:127.0.0.1]/'), 'docs.url'],
  ['the loopback of version 6', url('http://[::1]:9000/'), 'docs.url: is unreachable, because'],
  ['the same over https', url('https://[0:0::1]/'), 'docs.url: is unreachable'],
  ['plain http by a name like 127', url('http://127.0.0.1.example/'), 'docs.url: must be https'],
  ['another scheme', url('file:///etc/passwd'), 'docs.url'],
  ['no address', url('mcp.example'), 'docs.url'],
  ['credentials in the address', url('https://u:p@mcp.example/'), 'must not contain credentials'],
  ['a foreign name in the address', url('https://mcp.example/${HOME}'), '${HOME} is not in env'],
  ['a host by a foreign name', url('https://${H}/'), '${H} is not in'],
  ['a foreign name in a header', one({ headers: { a: 'Bearer ${T}' } }), 'docs.headers.a: ${T}'],
  [
    'a default for an unknown name',
    { ...one({ headers: { a: '${T:-x}' } }), env: { T: 'x' } },
    '${T:-x} is not in',
  ],
  ['a name that is not closed', { ...url('https://m.example/${A'), env: { B: '' } }, '${A} is not'],
  ['credentials by a variable', { ...url('https://${A}/'), env: { A: 'u@m.example' } }, 'credent'],
  ['plain http by a variable', { ...url('${A}'), env: { A: 'http://m.example' } }, 'must be https'],
  ['a header of two lines', one({ headers: { a: 'x\r\nb: c' } }), 'docs.headers.a'],
  ['a header that is none', one({ headers: { 'a b': 'x' } }), 'docs.headers.a b'],
  ['a header that is no text', one({ headers: { a: 1 } }), 'docs.headers.a'],
  ['a header beyond latin', one({ headers: { a: '世' } }), 'docs.headers.a'],
  ['33 headers', one({ headers: many(33, 'h', 'x') }), 'at most 32 headers'],
  ['a header of 8 KiB and 1', one({ headers: { a: 'x'.repeat(8 * kiB + 1) } }), 'docs.headers.a'],
  ['21 servers', { mcpServers: many(21, 's', server) }, 'at most 20 servers'],
  ['servers of 64 KiB and 1', serversOf(64 * kiB + 1), 'body.mcpServers: must be at most 65536'],
  ['two underscores in a name', { mcpServers: { a__b: server } }, 'body.mcpServers.a__b'],
  ['a server name of 65', { mcpServers: { ['s'.repeat(65)]: server } }, 'body.mcpServers.s'],
  ['a server without a name', { mcpServers: { '': server } }, 'body.mcpServers.'],
  ['a server name with a dot', { mcpServers: { 'a.b': server } }, 'body.mcpServers.a.b'],
];

/** Valid bodies at a limit or of an unusual form. */
export const takenServers: Taken[] = [
  ['a server over sse with headers', one({ type: 'sse', headers: { Authorization: 'Bearer x' } })],
  ['a server in the sandbox', url('http://127.0.0.1:9000/mcp')],
  ['one by a short address', url('http://127.1:9000/mcp')],
  ['one by name', url('http://LOCALHOST:9000/')],
  ['one by another of its addresses', url('http://127.255.255.254:9000/')],
  [
    'variables of the same request',
    {
      ...one({ url: 'https://${H}/${P}', headers: { a: '${T}' } }),
      env: { H: 'm.example', P: '', T: 't' },
    },
  ],
  [
    'a dollar sign without a name',
    one({ url: 'https://m.example/$HOME', headers: { a: '$5 {x}' } }),
  ],
  ['32 headers', one({ headers: many(32, 'h', 'x') })],
  ['a header of 8 KiB', one({ headers: { a: 'x'.repeat(8 * kiB) } })],
  ['20 servers', { mcpServers: many(20, 's', server) }],
  ['servers of 64 KiB', serversOf(64 * kiB)],
  ['a server name of 64', { mcpServers: { ['s'.repeat(64)]: server } }],
  ['a server that is named like a member of objects', { mcpServers: { constructor: server } }],
];
