/** The slashes of a path stay slashes. */
export const encodedPath = (path: string): string =>
  path.split('/').map(encodeURIComponent).join('/');
