// Declares fields that several interfaces share only once.

interface Interface {
  name: string;
  /** The declaration of each field, with its comment. */
  fields: string[];
}

/** Fewer fields are repeated. */
const sharedMin = 5;

/** Names of further interfaces, each with those whose common fields it has. */
type Bases = Record<string, string[]>;

export const webhookBases: Bases = {
  WebhookOfRun: ['InteractionAsked', 'RunStarted', 'SessionIdle'],
};

/** An interface with the base that has its other fields. */
export interface Declared extends Interface {
  base: string | null;
}

/** Adds the bases, and sorts by name. Without further fields, it is an alias of its base. */
export function shareFields(interfaces: Interface[], bases: Bases): Declared[] {
  const all = [...interfaces, ...Object.entries(bases).map((entry) => baseOf(interfaces, entry))];
  return all
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map((each) => {
      const { name, fields } = each;
      const base = all.filter((other) => isBase(other, each)).reduce(largest, null);
      if (base === null) return { name, base, fields };
      const rest = fields.filter((field) => !base.fields.includes(field));
      return { name, base: base.name, fields: rest };
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
