// breaks: eslint(no-restricted-imports)
export { connect } from '../redis/connect.ts';
