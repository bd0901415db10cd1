import { isObject, type JsonObject } from '../../core/json.ts';
import { fieldNames } from './flow-fields.ts';
import {
  type FileProblem,
  type FrontMatter,
  parseFrontMatter,
  textOfBody,
} from './front-matter.ts';

/** A flow as its file has it. The service validates the fields. */
export interface FlowFile {
  /** Where the file is, for messages. */
  file: string;
  name: string;
  /** The fields that the file sets, with the instructions from its body. */
  fields: JsonObject;
  /** The environment variable that has the value of each variable of the flow. */
  env: Readonly<Record<string, string>>;
  /** The definition of each server, or the environment variable that has it as JSON. */
  mcpServers: Readonly<Record<string, string | JsonObject>>;
  lineOf: FrontMatter['lineOf'];
}

type ParsedFlowFile = { flow: FlowFile } | { problems: FileProblem[] };

interface Source {
  file: string;
  text: string;
  /** The name of a flow whose file has none. */
  defaultName: string;
}

/** Null if the text has no front matter, like a README. */
export function parseFlowFile({ file, text, defaultName }: Source): ParsedFlowFile | null {
  const parsed = parseFrontMatter(text);
  if (parsed === null) return null;
  if ('problem' in parsed) return { problems: [{ file, ...parsed.problem }] };
  const { fields: all, body, lineOf } = parsed.value;
  const { env = {}, mcpServers = {}, ...fields } = all;
  const instructions = textOfBody(body);
  const faults: Fault[] = [
    ...unknownFields(fields),
    ...nonFiniteNumbers(all, []),
    ...(instructions !== null && fields['instructions'] !== undefined ? [twoInstructions] : []),
    ...envFaults(env),
    ...serverFaults(mcpServers),
  ];
  const problems = faults.map(({ path, message }) => {
    return { file, line: lineOf(path), field: path.join('.'), message };
  });
  if (problems.length > 0) return { problems };
  const { name = defaultName } = fields;
  return {
    flow: {
      file,
      name: typeof name === 'string' ? name : defaultName,
      fields: { name, ...fields, ...(instructions === null ? {} : { instructions }) },
      env: variablesOf(env),
      mcpServers: mcpServers as FlowFile['mcpServers'], // serverFaults has found nothing
      lineOf,
    },
  };
}

interface Fault {
  path: string[];
  message: string;
}

const twoInstructions: Fault = {
  path: ['instructions'],
  message: 'the file has instructions in its body too',
};

function unknownFields(fields: JsonObject): Fault[] {
  const known: ReadonlySet<string> = new Set(fieldNames);
  const unknown = Object.keys(fields).filter((name) => !known.has(name));
  return unknown.map((name) => ({ path: [name], message: 'unknown field' }));
}

/** JSON turns NaN and infinity into null, which is valid in many fields. */
function nonFiniteNumbers(value: unknown, path: string[]): Fault[] {
  if (typeof value === 'number' && !Number.isFinite(value))
    return [{ path, message: 'must be a finite number' }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    nonFiniteNumbers(member, [...path, name]),
  );
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const isVariableName = (value: unknown): boolean =>
  typeof value === 'string' && variableName.test(value);

const notAName = 'must be the name of an environment variable; values are never in the file';

/** Either names, or the names for the flow with those in the environment. */
function envFaults(env: unknown): Fault[] {
  if (!Array.isArray(env) && !isObject(env))
    return [{ path: ['env'], message: 'must be a list of names, or names with variables' }];
  const faulty = Object.entries(env).filter(([, variable]) => !isVariableName(variable));
  return faulty.map(([name]) => ({ path: ['env', name], message: notAName }));
}

function variablesOf(env: unknown): Record<string, string> {
  if (!Array.isArray(env)) return env as Record<string, string>; // envFaults has found nothing
  const names = env as string[]; // likewise
  return Object.fromEntries(names.map((name) => [name, name]));
}

function serverFaults(servers: unknown): Fault[] {
  const path = ['mcpServers'];
  if (!isObject(servers)) return [{ path, message: 'must be names with definitions' }];
  const faulty = Object.entries(servers).filter(
    ([, server]) => !isObject(server) && !isVariableName(server),
  );
  const message = 'must be a definition, or the environment variable that has it as JSON';
  return faulty.map(([name]) => ({ path: [...path, name], message }));
}
