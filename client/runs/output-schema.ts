/** A validator that also describes itself as JSON Schema, such as a schema of zod 4. */
export interface OutputSchema<T = unknown> {
  readonly '~standard': {
    validate(value: unknown): Validation<T> | Promise<Validation<T>>;
    readonly jsonSchema?: { input(options: { target: 'draft-2020-12' }): Record<string, unknown> };
    readonly types?: { readonly output: T } | undefined;
  };
}

type Validation<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

export function jsonSchemaOf(schema: OutputSchema): Record<string, unknown> {
  const { jsonSchema } = schema['~standard'];
  if (jsonSchema !== undefined) return jsonSchema.input({ target: 'draft-2020-12' });
  throw new TypeError('The validator has no JSON Schema. Pass one as outputSchema instead.');
}

export async function validateOutput<T>(schema: OutputSchema<T>, value: unknown): Promise<T> {
  const validation = await schema['~standard'].validate(value);
  if (validation.issues === undefined) return validation.value;
  const reasons = validation.issues.map(({ message }) => message);
  throw new TypeError(`The structured output is not valid: ${reasons.join('; ')}`);
}
