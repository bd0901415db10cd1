/** Something that happens once, and that any number may wait for. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  /** What it came with; undefined until then. */
  value(): T | undefined;
  /** The first call counts. */
  resolve(value: T): void;
}

export function createDeferred<T extends object | string | number | true>(): Deferred<T> {
  let value: T | undefined;
  let resolve: (value: T) => void = () => {};
  const happened = new Promise<T>((settle) => {
    resolve = settle;
  });
  return {
    promise: happened,
    value: () => value,
    resolve(given) {
      if (value !== undefined) return;
      value = given;
      resolve(given);
    },
  };
}
