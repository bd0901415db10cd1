export const handle = setImmediate(() => undefined);
