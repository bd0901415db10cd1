// breaks: import(no-default-export)
export default 1;
