/** The paths of the web page. The API serves the page at each, and the page shows its screen. */
export const pagePaths = {
  start: '/',
  signIn: '/sign-in',
  home: '/p/:projectId',
  runs: '/p/:projectId/runs',
  run: '/p/:projectId/runs/:runId',
  chats: '/p/:projectId/chat',
  chat: '/p/:projectId/chat/:runId',
} as const;

export type PageName = keyof typeof pagePaths;

/** The screen at a path, and the decoded parameters in the path; null if no screen is there. */
export function findPage(path: string): { name: PageName; params: Record<string, string> } | null {
  for (const [name, pattern] of Object.entries(pagePaths)) {
    const params = matchPath(pattern, path);
    if (params !== null) return { name: name as PageName, params }; // a key of the table
  }
  return null;
}

function matchPath(pattern: string, path: string): Record<string, string> | null {
  const expected = pattern.split('/');
  const given = path.split('/');
  if (expected.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [at, part] of expected.entries()) {
    const text = given[at] ?? '';
    if (!part.startsWith(':')) {
      if (part !== text) return null;
      continue;
    }
    const value = decoded(text);
    const name = part.slice(1);
    if (value === null || value === '' || (name === 'runId' && !isRunId(value))) return null;
    params[name] = value;
  }
  return params;
}

/** The page adds it to the paths of requests, where another text could lead to other routes. */
const isRunId = (text: string): boolean => /^[0-9a-f-]{36}$/i.test(text);

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The path of a page with these parameters. */
export function pagePath(name: PageName, params: Record<string, string> = {}): string {
  return pagePaths[name].replaceAll(/:(\w+)/g, (_, key: string) =>
    encodeURIComponent(params[key] ?? ''),
  );
}
