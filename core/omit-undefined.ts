type OmitUndefined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The members that say something: undefined stands for one that is not there. */
export function omitUndefined<T extends object>(fields: T): OmitUndefined<T> {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as OmitUndefined<T>; // fromEntries forgets the names
}
