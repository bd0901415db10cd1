/** The slashes of a path stay slashes. Throws if the path would lead to another route. */
export function encodedPath(path: string): string {
  const segments = path.split('/');
  if (segments.some((segment) => segment === '.' || segment === '..'))
    throw new TypeError(`The path ${path} must not contain the segments "." and "..".`);
  return segments.map(encodeURIComponent).join('/');
}
