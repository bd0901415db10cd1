// Declares fields that several interfaces share only once.

interface Interface {
  name: string;
  /** The declaration of each field, with its comment. */
  fields: string[];
}

/** Fewer fields are repeated. */
const sharedMin = 5;

/** Interfaces of the fields that all of these have, besides those that the document names. */
const bases: Record<string, string[]> = {
  RunConfigFields: ['OpenSessionBody', 'RetryRunBody', 'TriggerRunBody'],
  WebhookOfRun: ['InteractionAsked', 'RunStarted', 'SessionIdle'],
};

export function declare(interfaces: Interface[]): string[] {
  const all = [...interfaces, ...Object.entries(bases).map((entry) => baseOf(interfaces, entry))];
  return all
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map((each) => {
      const { name, fields } = each;
      const base = all.filter((other) => isBase(other, each)).reduce(largest, null);
      if (base === null) return declaration(name, fields);
      const rest = fields.filter((field) => !base.fields.includes(field));
      if (rest.length === 0) return `export type ${name} = ${base.name};\n`;
      return declaration(`${name} extends ${base.name}`, rest);
    });
}

function baseOf(interfaces: Interface[], [name, users]: [string, string[]]): Interface {
  const [first, ...others] = interfaces.filter((each) => users.includes(each.name));
  const fields = (first?.fields ?? []).filter((field) =>
    others.every((other) => other.fields.includes(field)),
  );
  if (fields.length < sharedMin) throw new Error(`${users.join(', ')} share too few fields.`);
  return { name, fields };
}

/** Of two equal interfaces, the first one by name is an alias of the second. */
function isBase(base: Interface, { name, fields }: Interface): boolean {
  if (base.fields.length < sharedMin || base.fields.length > fields.length) return false;
  if (base.fields.length === fields.length && base.name <= name) return false;
  return base.fields.every((field) => fields.includes(field));
}

const largest = (one: Interface | null, other: Interface): Interface =>
  one === null || other.fields.length > one.fields.length ? other : one;

const declaration = (head: string, fields: string[]): string =>
  `export interface ${head} {\n${fields.join('')}}\n`;
