import type { Flow } from '../../client/generated/types.ts';
import { parseObject } from '../../core/json.ts';
import type { FileProblem } from './front-matter.ts';
import type { FlowFile } from './parse-flow-file.ts';

/** The secrets of a flow whose values are known. */
export interface Secrets {
  env: Readonly<Record<string, string>>;
  mcpServers: Readonly<Record<string, unknown>>;
}

interface FoundSecrets {
  secrets: Secrets;
  /** Environment variables that are not set. The service has a value already, which stays. */
  kept: string[];
  problems: FileProblem[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the values from the environment. `stored` has the names that the service has. */
export function findSecrets(
  flow: FlowFile,
  stored: Pick<Flow, 'envNames' | 'mcpServerNames'> | null,
  environment: Environment,
): FoundSecrets {
  const env: Record<string, string> = {};
  const mcpServers: Record<string, unknown> = {};
  const kept: string[] = [];
  const problems: FileProblem[] = [];

  /** Undefined if the variable is not set. */
  function read(path: string[], variable: string, isStored: boolean): string | undefined {
    const value = environment[variable];
    if (value !== undefined && value !== '') return value;
    if (isStored) kept.push(variable);
    else report(path, `the environment variable ${variable} is not set`);
    return undefined;
  }

  function report(path: string[], message: string): void {
    problems.push({ file: flow.file, line: flow.lineOf(path), field: path.join('.'), message });
  }

  for (const [name, variable] of Object.entries(flow.env)) {
    const value = read(['env', name], variable, stored?.envNames.includes(name) === true);
    if (value !== undefined) env[name] = value;
  }
  for (const [name, server] of Object.entries(flow.mcpServers)) {
    if (typeof server !== 'string') {
      mcpServers[name] = server;
      continue;
    }
    const path = ['mcpServers', name];
    const text = read(path, server, stored?.mcpServerNames.includes(name) === true);
    if (text === undefined) continue;
    const definition = parseObject(text);
    if (definition === null)
      report(path, `the environment variable ${server} is not a JSON object`);
    else mcpServers[name] = definition;
  }
  return { secrets: { env, mcpServers }, kept, problems };
}
