// breaks: typescript(no-explicit-any)
export type Anything = any;
