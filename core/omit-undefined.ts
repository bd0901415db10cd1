type OmitUndefined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** A copy without the members that are undefined. */
export function omitUndefined<T extends object>(fields: T): OmitUndefined<T> {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as OmitUndefined<T>; // fromEntries loses the key types
}
