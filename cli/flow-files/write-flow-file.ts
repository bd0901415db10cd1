import { Document, Scalar, visit } from 'yaml';
import type { Flow } from '../../client/generated/types.ts';
import { withoutDefaults } from './flow-fields.ts';
import { textOfBody } from './front-matter.ts';

/**
 * The file of a flow: the same flow has the same text. Secrets are names of environment variables,
 * because the service never returns their values.
 */
export function writeFlowFile(flow: Flow): string {
  const { instructions = null, ...fields } = withoutDefaults(flow) as Partial<Flow>;
  const isBody = instructions !== null && textOfBody(instructions) === instructions;
  const frontMatter = yamlOf({
    ...fields,
    ...(isBody || instructions === null ? {} : { instructions }),
    ...(flow.envNames.length === 0 ? {} : { env: flow.envNames }),
    ...(flow.mcpServerNames.length === 0 ? {} : { mcpServers: serverVariables(flow) }),
  });
  return `---\n${frontMatter}---\n${isBody ? `\n${instructions}\n` : ''}`;
}

function yamlOf(value: object): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string') node.type = styleOf(node.value);
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** Texts of several lines are legible as blocks, but blocks do not keep all white space. */
function styleOf(text: string): Scalar.Type {
  if (/[^\P{C}\n\t]|[\u2028\u2029]/u.test(text)) return Scalar.QUOTE_DOUBLE;
  if (!text.includes('\n')) return Scalar.PLAIN;
  const isBlock = /^\S/.test(text) && !/[ \t]\n|[ \t]$|\n\n$/.test(text);
  return isBlock ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE;
}

/** The environment variable that has the definition of each server as JSON. */
function serverVariables({ mcpServerNames }: Flow): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const name of mcpServerNames) {
    const variable = `MCP_${name.replaceAll(/[^A-Za-z0-9]/g, '_').toUpperCase()}`;
    variables[name] = uniqueIn(Object.values(variables), variable, '_');
  }
  return variables;
}

/** The folder with the files of a flow, beside its Markdown file. */
export const filesFolder = 'files';
const stemMaxChars = 60;

/** Adds a number if the name is taken. */
function uniqueIn(taken: readonly string[], name: string, separator: string): string {
  if (!taken.includes(name)) return name;
  for (let number = 2; ; number += 1) {
    const numbered = `${name}${separator}${number}`;
    if (!taken.includes(numbered)) return numbered;
  }
}

/** A name for the file of each flow, of letters, digits and dashes. The order matters. */
export function fileNames(flows: readonly Pick<Flow, 'name'>[]): string[] {
  const names: string[] = [];
  for (const { name } of flows) {
    const words =
      name
        .normalize('NFC')
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? [];
    const stem = Array.from(words.join('-')).slice(0, stemMaxChars).join('') || 'flow';
    names.push(uniqueIn([filesFolder, ...names], stem, '-'));
  }
  return names;
}
