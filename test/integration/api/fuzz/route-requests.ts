// Hostile requests to a route of the route table, described or not.

import fc from 'fast-check';
import type { RouteEntry } from '../../../../api/http/route-table.ts';
import { type Body, header, impatiently, junkText, pathIn } from './requests.ts';
import { junk, type Values } from './schema-values.ts';

export interface RouteRequest {
  operation: { method: string };
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer> | undefined;
}

/** Existing values of path parameters. */
type Ids = (parameter: string, choice: number) => string;

/** `credentials` are the headers of each kind of caller. */
export function requestToRoute(route: RouteEntry, ids: Ids, credentials: Record<string, string>[]) {
  const request = {
    path: pathOf(route, ids),
    query: queryOf(route),
    credential: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...credentials) },
      { weight: 1, arbitrary: badCredentials },
    ),
    headers: fc.oneof(fc.constant({}), someHeaders),
    body: bodyOf(route),
  };
  return fc.record(request).map(({ path, query, credential, headers, body }): RouteRequest => {
    const all = { ...headers, ...body.headers, ...credential };
    const address = (query === '' ? path : `${path}?${query}`).slice(0, addressMaxChars);
    return { operation: route, path: address, headers: all, body: body.content };
  });
}

/** The service closes the connection after a longer head. Other tests check that answer. */
const addressMaxChars = 8_000;

function pathOf({ url }: RouteEntry, ids: Ids): fc.Arbitrary<string> {
  const names = [...url.matchAll(/:(\w+)|\*/g)].map(([, name = '*']) => name);
  const values = names.map((name) =>
    fc.oneof(
      { weight: 4, arbitrary: fc.nat().map((choice) => ids(name, choice)) },
      { weight: 1, arbitrary: junkText },
    ),
  );
  return fc.tuple(...values).map((chosen) => pathIn(url.replaceAll(/:\w+|\*/g, '{}'), chosen));
}

/** A longer wait would delay all later requests. */
function queryOf({ schema }: RouteEntry): fc.Arbitrary<string> {
  const pairs = fieldsOf(schema.querystring).map((name) =>
    fc.option(name === 'wait' ? fc.constant('0') : junkText).map((value) => ({ name, value })),
  );
  const junkQuery = fc.oneof(
    { weight: 9, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.constantFrom('%', '%zz=1', '&&&', '=', 'a[]=1', '__proto__=x') },
  );
  return fc.tuple(fc.tuple(...pairs), junkQuery).map(([chosen, more]) => {
    const query = new URLSearchParams();
    for (const { name, value } of chosen) if (value !== null) query.append(name, value);
    return [query.toString(), more].filter((part) => part !== '').join('&');
  });
}

interface BodyContent {
  content: RouteRequest['body'];
  headers: Body['headers'];
}

const withType = (type: string) => ({ 'content-type': type });
const json = withType('application/json');

function bodyOf({ method, schema }: RouteEntry): fc.Arbitrary<BodyContent> {
  const none = fc.constant<BodyContent>({ content: undefined, headers: {} });
  if (method === 'GET' || method === 'HEAD') return none;
  const names = fieldsOf(schema.body);
  const fields: Values =
    names.length === 0 ? junk : fc.dictionary(fc.constantFrom(...names), junk, { maxKeys: 3 });
  const ofFields = fields.map((value) => ({
    content: JSON.stringify(value, impatiently) ?? '',
    headers: json,
  }));
  const types = fc.constantFrom(
    ...['application/json', 'application/x-tar', 'application/gzip', 'text/plain', 'x', ''],
    ...['application/json; charset=utf-16', 'application/x-www-form-urlencoded'],
    ...['multipart/form-data; boundary=x', 'application/octet-stream'],
  );
  const bytes = fc.uint8Array({ maxLength: 600 }).map((some) => new Uint8Array(some));
  const ofBytes = fc
    .tuple(fc.oneof(bytes, junkText), types)
    .map(([content, type]) => ({ content, headers: withType(type) }));
  return fc.oneof(
    { weight: 5, arbitrary: ofFields },
    { weight: 3, arbitrary: ofBytes },
    { weight: 1, arbitrary: none },
    { weight: 2, arbitrary: toolCalls },
  );
}

const tools = ['list_flows', 'run_status', 'run_transcript', 'list_files', 'read_file', 'stop_run'];

/** Messages of the Model Context Protocol. */
const toolCalls = fc
  .record({
    jsonrpc: fc.constantFrom('2.0', '1.0'),
    id: fc.oneof(fc.nat(), junk),
    method: fc.constantFrom('tools/call', 'tools/list', 'initialize', 'ping', 'resources/read'),
    params: fc.oneof(
      junk,
      fc.record({
        name: fc.oneof(fc.constantFrom(...tools), junk),
        arguments: fc.oneof(junk, fc.record({ runId: junk, path: junk })),
      }),
    ),
  })
  .map((message) => ({ content: JSON.stringify(message), headers: json }));

const headerText = junkText.map(header);

const badCredentials = fc.oneof(
  headerText.map((value) => ({ authorization: value })),
  headerText.map((value) => ({ authorization: `Bearer ${value}` })),
  headerText.map((value) => ({ cookie: `flowrun_operator=${value}` })),
);

const names = ['if-match', 'if-none-match', 'range', 'last-event-id', 'idempotency-key', 'origin'];
const others = ['x-forwarded-for', 'content-encoding', 'accept', 'x-ctx-a', 'mcp-protocol-version'];
const someHeaders = fc.dictionary(fc.constantFrom(...names, ...others), headerText, { maxKeys: 3 });

/** The fields of a schema of zod. */
const fieldsOf = (schema: unknown): string[] =>
  Object.keys((schema as { shape?: object } | undefined)?.shape ?? {});
