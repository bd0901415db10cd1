// Requests to an operation: most of them are almost valid, so that they pass the first checks.

import fc from 'fast-check';
import type { Operation, Parameter } from './operations.ts';
import { junk, type schemaValues, type Values } from './schema-values.ts';

export interface FuzzRequest {
  operation: Operation;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** Existing ids by path parameter; chosen again for each request. */
type Ids = (parameter: string, choice: number) => string;

type Schemas = ReturnType<typeof schemaValues>;

export function requestTo(operation: Operation, schemas: Schemas, ids: Ids) {
  return fc
    .record({
      path: pathOf(operation, schemas, ids),
      query: queryOf(operation, schemas),
      headers: headersOf(operation, schemas),
      body: bodyOf(operation, schemas),
    })
    .map(({ path, query, headers, body }): FuzzRequest => {
      const address = query === '' ? path : `${path}?${query}`;
      return {
        operation,
        path: address,
        headers: { ...headers, ...body.headers },
        body: body.text,
      };
    });
}

const often = (arbitrary: Values, rare: Values): Values =>
  fc.oneof({ weight: 6, arbitrary }, { weight: 1, arbitrary: rare });

export const junkText = junk.map((value) =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
);

function pathOf({ path, parameters }: Operation, schemas: Schemas, ids: Ids): fc.Arbitrary<string> {
  const inPath = parameters.filter((each) => each.in === 'path');
  const segments = inPath.map(({ name, schema }) =>
    often(
      name === 'filePath' ? filePaths : fc.nat().map((choice) => ids(name, choice)),
      fc.oneof(junkText, schemas.fitting(schema)),
    ),
  );
  const template = inPath.reduce((whole, { name }) => whole.replace(`{${name}}`, '{}'), path);
  return fc.tuple(...segments).map((values) => pathIn(template, values));
}

/** Puts values in the places of a path that are marked by `{}`. */
export const pathIn = (template: string, values: unknown[]): string =>
  values.reduce<string>(
    (whole, value) => whole.replace('{}', () => segment(String(value))),
    template,
  );

/** The first one exists, so that some downloads succeed. */
const filePaths = fc.oneof(
  fc.constant('a.txt'),
  fc.constantFrom('a.txt', 'src/b c.txt', 'ä/ö', '.git/config', 'a//b', '..', 'x'.repeat(513)),
  fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 4 }).map((steps) => steps.join('/')),
);

/** Does not encode slashes, so that a path keeps its segments. */
function segment(value: string): string {
  const whole = value.slice(0, 4_000).replaceAll(/\p{Surrogate}/gu, '?');
  return encodeURIComponent(whole === '' ? ' ' : whole).replaceAll('%2F', '/');
}

function queryOf({ parameters }: Operation, schemas: Schemas): fc.Arbitrary<string> {
  const inQuery = parameters.filter((each) => each.in === 'query');
  const pairs = inQuery.map((each) =>
    fc
      .option(often(queryValue(each, schemas), junkText), { nil: undefined, freq: 2 })
      .map((value) => {
        if (value === undefined) return [];
        const values: unknown[] = Array.isArray(value) ? value : [value];
        return values.map((one): [string, string] => [each.name, String(one)]);
      }),
  );
  const unknown = fc.oneof(
    { weight: 15, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.webQueryParameters() },
  );
  return fc.tuple(fc.tuple(...pairs), unknown).map(([known, rest]) => {
    const query = new URLSearchParams(known.flat()).toString();
    return [query, rest].filter((part) => part !== '').join('&');
  });
}

/** A longer wait would delay all later requests. */
function queryValue({ name, schema }: Parameter, schemas: Schemas): Values {
  return name === 'wait' ? fc.constantFrom('0', '61', '-1', '1e1') : schemas.fitting(schema);
}

function headersOf(
  { parameters }: Operation,
  schemas: Schemas,
): fc.Arbitrary<Record<string, string>> {
  const inHeader = parameters.filter((each) => each.in === 'header');
  const own = Object.fromEntries(
    inHeader.map(({ name, schema }) => [
      name,
      often(schemas.fitting(schema), junkText).map(header),
    ]),
  );
  const others = {
    'last-event-id': fc.oneof(fc.nat().map(String), junkText.map(header)),
    range: fc.constantFrom(
      'bytes=0-0',
      'bytes=-5',
      'bytes=5-1',
      'bytes=9999-',
      'bytes=0-1,2-3',
      'x',
    ),
    'if-none-match': fc.constantFrom('*', '"x"', 'W/"x"'),
    'if-range': fc.constantFrom('"x"', 'Wed, 21 Oct 2015 07:28:00 GMT'),
    'idempotency-key': junkText.map(header),
    'x-ctx-place': junkText.map(header),
    origin: fc.constantFrom('https://app.example', 'null', 'x'),
    accept: fc.constantFrom('text/html', '*/*', 'application/json', 'x'),
    'accept-encoding': fc.constantFrom('gzip', 'identity', 'x'),
  };
  const all = Object.entries<fc.Arbitrary<string>>({ ...others, ...own });
  const some = fc.oneof(fc.constant([]), fc.subarray(all, { maxLength: 3 }));
  return some.chain((chosen) => fc.record(Object.fromEntries(chosen)));
}

/** Values that a header can contain. The client refuses to send others. */
export const header = (value: unknown): string =>
  String(value)
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')
    .slice(0, 2_000);

export interface Body {
  text: string | undefined;
  headers: Record<string, string>;
}

const json = { 'content-type': 'application/json' };

/** Without an agent, no turn that a request waits for would end. */
export const impatiently = (name: string, value: unknown): unknown =>
  name === 'stream' && value === false ? true : value;

function bodyOf({ method, body }: Operation, schemas: Schemas): fc.Arbitrary<Body> {
  if (method === 'GET' || method === 'HEAD') return fc.constant({ text: undefined, headers: {} });
  const schema = body ?? {};
  const sent = (values: Values) =>
    values.map((value) => ({ text: JSON.stringify(value, impatiently) ?? '', headers: json }));
  const broken: fc.Arbitrary<Body> = fc.oneof(
    junkText.map((query) => ({ text: query, headers: json })),
    junkText.map((query) => ({ text: query, headers: { 'content-type': 'text/plain' } })),
    fc.constant({ text: undefined, headers: json }),
    fc.constant({ text: '{"a":', headers: json }),
    fc.constant({ text: '{}', headers: { 'content-type': 'application/json; charset=latin1' } }),
  );
  return fc.oneof(
    { weight: 6, arbitrary: sent(schemas.fitting(schema)) },
    { weight: 6, arbitrary: sent(schemas.hostile(schema)) },
    { weight: 1, arbitrary: broken },
  );
}
