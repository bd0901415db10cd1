/** What a text has to be, for the command line and the API alike: a pattern, and its meaning. */
export interface TextRule {
  pattern: RegExp;
  expected: string;
}

/** Counted as people count: a character outside the basic plane is one. */
export function hasAtMost(max: number, text: string): boolean {
  return text.length <= max || Array.from(text).length <= max;
}

export const projectIdRule: TextRule = {
  pattern: /^[A-Za-z0-9_-]{1,64}$/,
  expected: '1 to 64 letters, digits, dashes and underscores',
};

/** A name that begins with a dash would be read as a flag by the agent. */
export const modelRule: TextRule = {
  pattern: /^[A-Za-z0-9][\w.:@/[\]-]{0,99}$/,
  expected: 'the name of a model',
};

export const allowedHostRule: TextRule = {
  pattern: /^(?:\*\.[a-z0-9.-]{1,251}|[a-z0-9.-]{1,253}(?::\d{1,5})?)$/i,
  expected: 'a host like example.org, example.org:8443 or *.example.org',
};

export const imageRule: TextRule = {
  pattern: /^[a-z0-9][\w./:@-]{0,254}$/i,
  expected: 'the name of an image',
};

/** Goes into an HTTP header as it is. */
export const modelKeyRule: TextRule = {
  pattern: /^[\x21-\x7e]{1,500}$/,
  expected: '1 to 500 visible ASCII characters',
};

/** Where calls to a model go; in the clear only where they never leave the machine. */
export const modelBaseUrlRule: TextRule = {
  pattern:
    /^(?:https:\/\/[a-z0-9.-]{1,253}|http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]))(?::\d{1,5})?(?:\/[\w.~%/-]{0,500})?$/i,
  expected: 'an https:// address without credentials, query or fragment (http:// on loopback)',
};
